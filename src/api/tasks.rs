//! Background work, under `/management/v1`.

use super::authorise::{Named, Need, require};
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Query, TaskPath};
use super::visible::filled;
use crate::app::App;
use crate::auth::{Action, Caller, Object};
use crate::commit;
use crate::store::tasks::{self, Entry, State, Task};
use crate::store::{self, Entity};
use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A piece of background work.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct TaskModel {
    /// Given by the server.
    id: String,
    /// What kind of work it is.
    kind: String,
    /// What it is about: a table, by the name that it had.
    subject: String,
    /// The id of the warehouse that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    warehouse_id: Option<String>,
    /// `queued`, `running`, `done`, `failed` or `cancelled`.
    state: &'static str,
    /// When it may be taken, epoch milliseconds; of a running one, when its lease runs out.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_ms: Option<i64>,
    /// How often it was taken.
    attempts: i64,
    /// Why the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How far it is.
    #[schema(value_type = Object)]
    progress: Box<RawValue>,
    /// When it was queued, epoch milliseconds.
    created_ms: i64,
    /// When anything was last written about it, epoch milliseconds.
    updated_ms: i64,
}

impl From<Task> for TaskModel {
    fn from(task: Task) -> Self {
        Self {
            id: task.id,
            kind: task.kind,
            subject: task.subject,
            warehouse_id: task.warehouse_id,
            state: task.state.as_str(),
            due_ms: task.due_ms,
            attempts: task.attempts,
            error: task.error,
            progress: RawValue::from_string(task.progress).unwrap_or_default(),
            created_ms: task.created_ms,
            updated_ms: task.updated_ms,
        }
    }
}

/// A list of tasks, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListTasksResponse {
    tasks: Vec<TaskModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// A task with its log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LoadTaskResponse {
    #[serde(flatten)]
    task: TaskModel,
    /// What happened to it, the oldest entry first.
    log: Vec<LogEntry>,
}

/// An entry of a task's log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LogEntry {
    /// When, epoch milliseconds.
    at_ms: i64,
    /// What happened.
    message: String,
}

impl From<Entry> for LogEntry {
    fn from(entry: Entry) -> Self {
        Self { at_ms: entry.at_ms, message: entry.message }
    }
}

/// Background work that the caller may see: all of it, or what is in one state.
#[utoipa::path(
    get, path = "/management/v1/tasks", operation_id = "listTasks", tag = "management",
    params(
        ("state" = Option<String>, Query, description = "`queued`, `running`, `done`, `failed` or `cancelled`"),
        ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses((status = 200, body = ListTasksResponse), (status = 400, body = IcebergErrorResponse))
)]
pub(super) async fn list_tasks(
    extract::State(app): extract::State<App>,
    access: Caller,
    query: Query,
) -> Result<Json<ListTasksResponse>, Error> {
    let state = match query.filled("state") {
        None => None,
        Some(text) => Some(State::parse(text).ok_or_else(|| wrong_state(text))?),
    };
    let read = |db, page| async move { tasks::list(&db, state, &page).await };
    let shown = |task: &Task| is_shown(&access, task);
    let listing = filled(&app.db, &query.bounded_page()?, read, |task| task.id.clone(), shown).await?;
    Ok(Json(ListTasksResponse {
        next_page_token: query.next_page_token(&listing),
        tasks: listing.items.into_iter().map(TaskModel::from).collect(),
    }))
}

/// One task, with its log.
#[utoipa::path(
    get, path = "/management/v1/tasks/{task}", operation_id = "loadTask", tag = "management",
    params(("task" = String, Path)),
    responses(
        (status = 200, body = LoadTaskResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn load_task(
    extract::State(app): extract::State<App>,
    TaskPath(id): TaskPath,
    access: Caller,
) -> Result<Json<LoadTaskResponse>, Error> {
    let task = tasks::load(&app.db, &id).await?.filter(|task| is_shown(&access, task));
    let task = task.ok_or(store::Error::NotFound(Entity::Task(id.clone())))?;
    let log = tasks::entries(&app.db, &id).await?.into_iter().map(LogEntry::from).collect();
    Ok(Json(LoadTaskResponse { task: task.into(), log }))
}

/// Has a task that failed tried again at once, as if it were new.
#[utoipa::path(
    post, path = "/management/v1/tasks/{task}/retry", operation_id = "retryTask", tag = "management",
    params(("task" = String, Path)),
    responses(
        (status = 204),
        (status = 400, description = "it did not fail", body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn retry_task(
    extract::State(app): extract::State<App>,
    TaskPath(id): TaskPath,
    access: Caller,
) -> Result<StatusCode, Error> {
    let task = tasks::load(&app.db, &id).await?.filter(|task| is_shown(&access, task));
    let task = task.ok_or(store::Error::NotFound(Entity::Task(id.clone())))?;
    may_retry(&access, &task)?;
    let at = app.clone();
    app.finish(async move {
        commit::retry_task(&at, &id).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// A task is shown to those who may read all that it may be about: its warehouse, or the server.
fn is_shown(access: &Caller, task: &Task) -> bool {
    let about = task.warehouse_id.clone().map_or(Object::Server, Object::Warehouse);
    access.may(&Action::Read, &about)
}

/// Work is tried again by those who administer what it is about.
fn may_retry(access: &Caller, task: &Task) -> Result<(), Error> {
    let about = task.warehouse_id.clone().map_or(Object::Server, Object::Warehouse);
    let named = Named::Entity(Entity::Task(task.id.clone()));
    require(access, &Need { action: Action::Administer, object: about, named })
}

fn wrong_state(found: &str) -> Error {
    let known = State::ALL.map(State::as_str).join(", ");
    Error::BadRequest(format!("Invalid state: expected one of {known}, found {found}"))
}
