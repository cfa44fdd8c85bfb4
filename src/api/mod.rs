//! HTTP: every route in one list, in the specification's order.

mod access;
mod audit;
mod authenticate;
mod authorise;
mod config;
mod credentials;
mod deletes;
mod dropped;
pub mod error;
mod extract;
mod functions;
mod grants;
mod health;
mod idempotency;
mod leftover;
mod limits;
mod load_result;
mod management;
mod model;
mod namespaces;
mod oauth;
mod path;
mod plans;
mod reports;
mod shapes;
mod sign;
mod tables;
mod tasks;
mod transactions;
mod upgrade;
mod views;
mod visible;
mod warnings;

use crate::app::App;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, StatusCode};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use error::Error;
use extract::client_path;
use path::ClientPath;
use std::any::Any;
use std::time::Duration;
use tower::ServiceBuilder;
use tower::util::{MapRequest, MapRequestLayer};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::trace::TraceLayer;
use tracing::{Span, field};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Our own OpenAPI document begins here; the routes add themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Guillemot",
        description = "Iceberg REST catalog and its management. Paths of the catalog stand under `/iceberg` and under `/iceberg/v1/restcatalog`, with the prefix that `/v1/config` answers or without one.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    tags(
        (name = "catalog", description = "The Iceberg REST specification"),
        (name = "management", description = "Warehouses, and what is known of their tables"),
        (name = "operation", description = "Health and metrics")
    )
)]
struct Document;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(config::get_config))
        .routes(routes!(oauth::get_token))
        .routes(routes!(oauth::public_keys))
        .routes(routes!(namespaces::list_namespaces, namespaces::create_namespace))
        .routes(routes!(namespaces::load_namespace_metadata, namespaces::namespace_exists, namespaces::drop_namespace))
        .routes(routes!(namespaces::update_properties))
        .routes(routes!(tables::list_tables, tables::create_table))
        .routes(routes!(tables::register_table))
        .routes(routes!(tables::load_table, tables::table_exists, tables::update_table, tables::drop_table))
        .routes(routes!(tables::unregister_table))
        .routes(routes!(tables::rename_table))
        .routes(routes!(credentials::load_credentials))
        .routes(routes!(sign::sign_request))
        .routes(routes!(plans::plan_table_scan))
        .routes(routes!(plans::fetch_planning_result, plans::cancel_planning))
        .routes(routes!(plans::fetch_scan_tasks))
        .routes(routes!(reports::report_metrics))
        .routes(routes!(transactions::commit_transaction))
        .routes(routes!(functions::list_functions))
        .routes(routes!(functions::load_function))
        .routes(routes!(views::list_views, views::create_view))
        .routes(routes!(views::load_view, views::view_exists, views::replace_view, views::drop_view))
        .routes(routes!(views::rename_view))
        .routes(routes!(views::register_view))
        .routes(routes!(management::list_warehouses, management::create_warehouse))
        .routes(routes!(management::load_warehouse, management::update_warehouse, management::delete_warehouse))
        .routes(routes!(dropped::list_dropped_tables))
        .routes(routes!(dropped::end_dropped_table))
        .routes(routes!(dropped::undrop_table))
        .routes(routes!(tasks::list_tasks))
        .routes(routes!(tasks::load_task))
        .routes(routes!(tasks::retry_task))
        .routes(routes!(reports::list_reports))
        .routes(routes!(warnings::list_warnings))
        .routes(routes!(upgrade::check_upgrade))
        .routes(routes!(grants::list_grants, grants::create_grant))
        .routes(routes!(grants::delete_grant))
        .routes(routes!(grants::check_access))
        .routes(routes!(audit::list_audit))
        .routes(routes!(deletes::describe_deletes))
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(health::openapi))
}

/// Our OpenAPI document as pretty JSON, ending in a line feed.
pub fn openapi_json() -> String {
    let mut document = routes().into_openapi();
    idempotency::describe(&mut document);
    let mut json = document.to_pretty_json().unwrap_or_default();
    json.push('\n');
    json
}

/// The service that answers every request.
pub type Service = MapRequest<Router, fn(Request) -> Request>;

/// Routes and what stands around them.
pub fn service(app: App) -> Service {
    let (router, _) = routes().split_for_parts();
    let request_id = HeaderName::from_static("x-request-id");
    let around = ServiceBuilder::new()
        .layer(MapRequestLayer::new(limits::bound_request_id))
        .layer(SetRequestIdLayer::new(request_id.clone(), MakeRequestUuid))
        .layer(TraceLayer::new_for_http().make_span_with(span).on_request(()).on_response(answered))
        .layer(PropagateRequestIdLayer::new(request_id))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(CompressionLayer::new().gzip(true))
        .layer(middleware::from_fn_with_state(app.clone(), limits::bound))
        .layer(middleware::from_fn_with_state(app.clone(), leftover::drain))
        .layer(middleware::from_fn_with_state(app.clone(), limits::admit));
    let once = middleware::from_fn_with_state(app.clone(), idempotency::guard);
    let authorise = middleware::from_fn_with_state(app.clone(), authorise::guard);
    let who = middleware::from_fn_with_state(app.clone(), authenticate::guard);
    // The last layer is the first to see a request: who is calling is known first. Then comes what the same caller was
    // answered to the same request before: the change itself may have taken away what it needed, such as a table's grants.
    let router = router.route_layer(authorise).route_layer(once).route_layer(who);
    let router =
        router.fallback(no_route).method_not_allowed_fallback(method_not_allowed).layer(around).with_state(app);
    MapRequest::new(router, path::rewrite)
}

async fn no_route(request: Request) -> Error {
    let path = client_path(request.extensions(), request.uri().path()).to_string();
    Error::NoRoute { method: request.method().to_string(), path }
}

async fn method_not_allowed(request: Request) -> Error {
    let path = client_path(request.extensions(), request.uri().path()).to_string();
    Error::MethodNotAllowed { method: request.method().to_string(), path }
}

/// One span a request. Queries stay out of it: they may carry what is nobody's business.
fn span(request: &Request) -> Span {
    let path = request.extensions().get::<ClientPath>().map_or("", |path| &*path.0);
    let id = request.extensions().get::<RequestId>().and_then(|id| id.header_value().to_str().ok()).unwrap_or("");
    let (principal, project) = (field::Empty, field::Empty);
    tracing::info_span!("request", method = %request.method(), path, id, principal, project)
}

fn answered<B>(response: &axum::http::Response<B>, took: Duration, _: &Span) {
    let status = response.status();
    metrics::histogram!("guillemot_http_request_duration_seconds", "status" => status.as_u16().to_string())
        .record(took.as_secs_f64());
    if status == StatusCode::NOT_FOUND || status.is_success() {
        tracing::debug!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1000.0, "answered");
    } else {
        tracing::info!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1000.0, "answered");
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands the cause over")]
fn panicked(cause: Box<dyn Any + Send>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
    tracing::error!(cause = text.unwrap_or("unknown"), "a handler panicked");
    Error::Internal.into_response()
}
