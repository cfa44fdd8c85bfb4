//! Errors meet HTTP: one exhaustive match from what happened to status and type (`spec.md` 1.1, 6.1, 6.2).

use super::authenticate::challenge;
use crate::app::WarehouseError;
use crate::auth;
use crate::commit;
use crate::plan;
use crate::spec;
use crate::store::{Entity, Error as StoreError};
use crate::telemetry::chain;
use crate::validate::{ReadError, Violation};
use crate::vending;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// What a request may end with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A use-case failed.
    #[error("{}", use_case_text(.0))]
    UseCase(#[from] commit::Error),
    /// The request is malformed.
    #[error("{0}")]
    BadRequest(String),
    /// The request contradicts itself.
    #[error("{0}")]
    Unprocessable(String),
    /// The body is larger than the server takes.
    #[error("request body is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The body did not come in time.
    #[error("the request's body did not come in time; nothing was done")]
    BodyTooSlow,
    /// Path and query are longer than the server takes.
    #[error("path and query are longer than {limit_kib} KiB")]
    UriTooLong {
        /// The limit.
        limit_kib: usize,
    },
    /// The headers are larger than the server takes.
    #[error("headers are larger than {limit_kib} KiB")]
    HeadersTooLarge {
        /// The limit.
        limit_kib: usize,
    },
    /// The server does as much as it can already. Nothing was done for this request.
    #[error("Too much at once: the server works on as many {of} as it may; nothing was done, try again")]
    Full {
        /// Of what there is too much.
        of: &'static str,
    },
    /// The answer took too long, and nothing had begun to change.
    #[error("the request was not answered within {seconds} seconds; nothing was changed")]
    TookTooLong {
        /// How long it had.
        seconds: u64,
    },
    /// The answer took too long, and what it was to tell may still come about.
    #[error("the request was not done within {seconds} seconds and goes on: it may or may not be applied")]
    NotYetDone {
        /// How long it had.
        seconds: u64,
    },
    /// It is not known who is calling.
    #[error("Not authenticated: this server demands to know who is calling")]
    NotAuthenticated,
    /// Who is calling may not do that.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such function.
    #[error("Function does not exist: {0}")]
    NoSuchFunction(String),
    /// Nothing is served at this path.
    #[error("no route for {method} {path}")]
    NoRoute {
        /// The method asked for.
        method: String,
        /// The path as the client wrote it.
        path: String,
    },
    /// The path is served, but not with this method.
    #[error("method {method} is not allowed on {path}")]
    MethodNotAllowed {
        /// The method asked for.
        method: String,
        /// The path as the client wrote it.
        path: String,
    },
    /// The caller is not known.
    #[error(transparent)]
    Caller(#[from] auth::Error),
    /// A fault of the server.
    #[error("internal error")]
    Internal,
}

impl From<spec::Error> for Error {
    fn from(error: spec::Error) -> Self {
        Self::UseCase(error.into())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::UseCase(error.into())
    }
}

impl From<WarehouseError> for Error {
    fn from(error: WarehouseError) -> Self {
        Self::UseCase(error.into())
    }
}

/// The texts that clients know, where they differ from our own.
fn use_case_text(error: &commit::Error) -> String {
    match error {
        commit::Error::Store(store) | commit::Error::Warehouse(WarehouseError::Store(store)) => store_text(store),
        other => other.to_string(),
    }
}

fn store_text(error: &StoreError) -> String {
    match error {
        StoreError::NotFound(Entity::Warehouse(name)) => format!("Warehouse does not exist: {name}"),
        StoreError::NotFound(Entity::Namespace(name)) => format!("Namespace does not exist: {name}"),
        StoreError::NotFound(Entity::Table(name)) => format!("Table does not exist: {name}"),
        StoreError::NotFound(Entity::View(name)) => format!("View does not exist: {name}"),
        StoreError::NotFound(Entity::Task(id)) => format!("Task does not exist: {id}"),
        StoreError::NotFound(Entity::Grant(id)) => format!("Grant does not exist: {id}"),
        StoreError::AlreadyExists(Entity::Warehouse(name)) => format!("Warehouse already exists: {name}"),
        StoreError::AlreadyExists(Entity::Namespace(name)) => format!("Namespace already exists: {name}"),
        StoreError::AlreadyExists(Entity::Table(name)) => format!("Table already exists: {name}"),
        StoreError::AlreadyExists(Entity::View(name)) => format!("View already exists: {name}"),
        // Whose it is may be nobody's business.
        StoreError::LocationTaken { wanted, .. } => {
            format!("Invalid location: {wanted} overlaps the location of another table")
        }
        StoreError::NotEmpty(Entity::Namespace(name)) => format!("Namespace {name} is not empty"),
        other => other.to_string(),
    }
}

/// How much of a refusal's text goes into the log, in characters.
const MAX_LOGGED: usize = 2000;

/// Status and Iceberg's error type.
type Wire = (StatusCode, &'static str);

const BAD_REQUEST: Wire = (StatusCode::BAD_REQUEST, "BadRequestException");
const COMMIT_FAILED: Wire = (StatusCode::CONFLICT, "CommitFailedException");
const ALREADY_EXISTS: Wire = (StatusCode::CONFLICT, "AlreadyExistsException");
const NO_SUCH_TABLE: Wire = (StatusCode::NOT_FOUND, "NoSuchTableException");
const NO_SUCH_WAREHOUSE: Wire = (StatusCode::NOT_FOUND, "NoSuchWarehouseException");
const INTERNAL: Wire = (StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError");
/// Perhaps it was applied: clients keep their files, and do not send the request again.
const STATE_UNKNOWN: Wire = (StatusCode::INTERNAL_SERVER_ERROR, "CommitStateUnknownException");
/// Nothing was applied: with `Retry-After`, clients send the same request again.
const COME_BACK: Wire = (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableException");

impl Error {
    fn wire(&self) -> Wire {
        match self {
            Self::UseCase(error) => use_case(error),
            Self::BadRequest(_) => BAD_REQUEST,
            Self::Unprocessable(_) => (StatusCode::UNPROCESSABLE_ENTITY, "UnprocessableEntityException"),
            Self::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "BadRequestException"),
            Self::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "RequestTimeoutException"),
            Self::UriTooLong { .. } => (StatusCode::URI_TOO_LONG, "BadRequestException"),
            Self::HeadersTooLarge { .. } => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "BadRequestException"),
            Self::Full { .. } | Self::TookTooLong { .. } => COME_BACK,
            Self::NotYetDone { .. } => STATE_UNKNOWN,
            Self::NotAuthenticated => (StatusCode::UNAUTHORIZED, "NotAuthorizedException"),
            Self::Forbidden(_) => (StatusCode::FORBIDDEN, "ForbiddenException"),
            Self::NoSuchFunction(_) => (StatusCode::NOT_FOUND, "NoSuchFunctionException"),
            Self::NoRoute { .. } => (StatusCode::NOT_FOUND, "NotFoundException"),
            Self::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowedException"),
            Self::Caller(error) => caller(error),
            Self::Internal => INTERNAL,
        }
    }

    fn violations(&self) -> &[Violation] {
        match self {
            Self::UseCase(commit::Error::Refused(report)) => &report.refused,
            _ => &[],
        }
    }
}

/// An expired token is a 401 too: Iceberg's specification prefers it to 419, Java knows no other, PyIceberg takes both.
fn caller(error: &auth::Error) -> Wire {
    use auth::Error as E;
    match error {
        E::NoToken | E::Refused(_) | E::Expired => (StatusCode::UNAUTHORIZED, "NotAuthorizedException"),
        E::Unavailable { .. } => COME_BACK,
        E::Store(error) => store(error),
        E::Keys(_) => INTERNAL,
    }
}

fn use_case(error: &commit::Error) -> Wire {
    use commit::Error as E;
    match error {
        E::Refused(report) if report.stale => COMMIT_FAILED,
        E::Spec(spec::Error::Invalid(_)) | E::Invalid(_) | E::Refused(_) => BAD_REQUEST,
        E::Spec(spec::Error::IllegalArgument(_)) => (StatusCode::BAD_REQUEST, "IllegalArgumentException"),
        E::Spec(spec::Error::Conflict(_)) | E::Contention { .. } => COMMIT_FAILED,
        E::NoSuchFile(_) => (StatusCode::NOT_FOUND, "NotFoundException"),
        E::StorageUnavailable { .. } => COME_BACK,
        E::Forbidden(_) => (StatusCode::FORBIDDEN, "ForbiddenException"),
        E::Vending(error) => vending(error),
        E::RenameTaken { .. } | E::NameTaken { .. } => ALREADY_EXISTS,
        E::Plan(error) => plan(error),
        E::Store(error) => store(error),
        E::Warehouse(error) => warehouse(error),
    }
}

fn plan(error: &plan::Error) -> Wire {
    use plan::Error as E;
    match error {
        E::Invalid(_)
        | E::Corrupt(_)
        | E::Unreadable { .. }
        | E::Read(ReadError::Outside { .. } | ReadError::TooLarge { .. }) => BAD_REQUEST,
        E::Unsupported(_) => (StatusCode::NOT_ACCEPTABLE, "UnsupportedOperationException"),
        E::NoSuchPlan(_) => (StatusCode::NOT_FOUND, "NoSuchPlanIdException"),
        E::NoSuchTask(_) => (StatusCode::NOT_FOUND, "NoSuchPlanTaskException"),
        E::Read(ReadError::NotFound { .. }) => (StatusCode::NOT_FOUND, "NotFoundException"),
        E::Read(ReadError::Unavailable { .. }) => COME_BACK,
    }
}

fn vending(error: &vending::Error) -> Wire {
    use vending::Error as E;
    match error {
        E::Unavailable { .. } => COME_BACK,
        E::TooLong { .. } => BAD_REQUEST,
        E::Refused { .. } | E::NotSetUp { .. } => INTERNAL,
    }
}

fn store(error: &StoreError) -> Wire {
    match error {
        StoreError::NotFound(Entity::Warehouse(_)) => NO_SUCH_WAREHOUSE,
        StoreError::NotFound(Entity::Namespace(_)) => (StatusCode::NOT_FOUND, "NoSuchNamespaceException"),
        StoreError::NotFound(Entity::Table(_)) => NO_SUCH_TABLE,
        StoreError::NotFound(Entity::View(_)) => (StatusCode::NOT_FOUND, "NoSuchViewException"),
        StoreError::NotFound(Entity::Task(_) | Entity::Identity(_) | Entity::Grant(_)) => {
            (StatusCode::NOT_FOUND, "NotFoundException")
        }
        StoreError::AlreadyExists(_) => ALREADY_EXISTS,
        StoreError::NotEmpty(Entity::Namespace(_)) => (StatusCode::CONFLICT, "NamespaceNotEmptyException"),
        StoreError::NotEmpty(_) => (StatusCode::CONFLICT, "NotEmptyException"),
        StoreError::Conflict => COMMIT_FAILED,
        StoreError::LocationTaken { .. } | StoreError::Unstorable { .. } => BAD_REQUEST,
        StoreError::OutcomeUnknown(_) => STATE_UNKNOWN,
        StoreError::Busy(_) | StoreError::Sql(_) | StoreError::Setup(_) | StoreError::AlreadyAnswered => COME_BACK,
        StoreError::Corrupt { .. } => INTERNAL,
    }
}

fn warehouse(error: &WarehouseError) -> Wire {
    match error {
        WarehouseError::NotFound(_) | WarehouseError::Inactive(_) => NO_SUCH_WAREHOUSE,
        WarehouseError::NotNamed | WarehouseError::Settings { .. } => BAD_REQUEST,
        WarehouseError::Store(error) => store(error),
    }
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
pub struct IcebergErrorResponse<'a> {
    /// What went wrong.
    pub error: ErrorModel<'a>,
}

/// What went wrong, as Iceberg's clients read it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorModel<'a> {
    /// For people.
    pub message: String,
    /// Iceberg's name of the kind of error.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The HTTP status again; the Java client looks here.
    pub code: u16,
    /// The rules that a refused commit breaks.
    #[serde(skip_serializing_if = "<[Violation]>::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub violations: &'a [Violation],
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, kind) = self.wire();
        if matches!(self, Self::Full { .. }) {
            // There may be thousands a second, and the metrics count them.
            tracing::debug!("{self}");
        } else if status.is_server_error() {
            tracing::error!(status = status.as_u16(), kind, "{}", chain(&self));
        }
        let message = self.to_string();
        if status.is_client_error() && status != StatusCode::NOT_FOUND {
            // Not every client shows it to its user. As a debug text, for what clients write must not look like a line.
            let reason = message.chars().take(MAX_LOGGED).collect::<String>();
            tracing::info!(kind, ?reason, "refused");
        }
        let error = ErrorModel { message, kind, code: status.as_u16(), violations: self.violations() };
        let mut response = (status, Json(IcebergErrorResponse { error })).into_response();
        if let Self::Caller(error) = &self
            && let Some(challenge) = challenge(error)
        {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
