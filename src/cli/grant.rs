//! Grants, straight in the database: how the first admin comes about.

use super::{AnyError, print};
use crate::app::App;
use crate::auth::{Action, Decision, Grantee, Object, Principal, Privilege};
use crate::commit::{self, Target};
use crate::spec::Namespace;
use crate::store::Page;
use crate::store::grants::{self, GrantRow, On};
use clap::{Args, Subcommand};
use std::sync::Arc;

/// Who is noted as the maker of a grant that is made here.
const MAKER: &str = "command line";

#[derive(Debug, Subcommand)]
pub(super) enum GrantCommand {
    /// Let a user or a role do something, on the server or on a part of it
    Grant {
        /// `viewer`, `editor`, `admin`, `commit-to-ref:NAME`, `upgrade-format-version`, `drop`, `purge` or `manage-grants`
        privilege: String,
        #[command(flatten)]
        who: Who,
        #[command(flatten)]
        what: What,
    },
    /// Take a grant back
    Revoke {
        /// Its id, as `grants` prints it
        grant: String,
    },
    /// Print all grants: id, grantee, privilege, object
    Grants,
    /// Say whether a user may do something, and which grant decides
    Check {
        /// `see`, `read`, `create`, `write`, `commit-to-ref:NAME`, `upgrade-format-version`, `drop`, `purge`,
        /// `manage-grants` or `administer`
        action: String,
        /// The user's name
        #[arg(long)]
        user: String,
        /// A role that the user has (repeatable)
        #[arg(long)]
        role: Vec<String>,
        #[command(flatten)]
        what: What,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Who {
    /// The user's name: `identity:NAME`, `ISSUER#SUBJECT` or `google:EMAIL`
    #[arg(long)]
    user: Option<String>,
    /// The role's name
    #[arg(long)]
    role: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct What {
    /// The warehouse's name [default: the whole server]
    #[arg(long)]
    in_warehouse: Option<String>,
    /// The namespace, its levels joined by dots
    #[arg(long, requires = "in_warehouse", value_delimiter = '.')]
    namespace: Vec<String>,
    /// The table or view
    #[arg(long, requires = "namespace")]
    table: Option<String>,
}

impl What {
    async fn find(&self, app: &App) -> Result<Target, AnyError> {
        let namespace = match self.namespace.as_slice() {
            [] => None,
            levels => Some(Namespace::new(levels.to_vec())?),
        };
        let (namespace, table) = (app.names(namespace), app.names(self.table.clone()));
        Ok(commit::find_target(app, self.in_warehouse.as_deref(), namespace.as_ref(), table.as_deref()).await?)
    }
}

pub(super) async fn run(app: &App, command: GrantCommand) -> Result<(), AnyError> {
    match command {
        GrantCommand::Grant { privilege, who, what } => grant(app, &privilege, who, &what).await,
        GrantCommand::Revoke { grant } => {
            commit::take_back(app, &grant).await?;
            print(&format!("{grant} is taken back\n"))
        }
        GrantCommand::Grants => {
            for row in grants::list(&app.db, &Page::default()).await?.items {
                print(&line(&row))?;
            }
            Ok(())
        }
        GrantCommand::Check { action, user, role, what } => check(app, &action, user, role, &what).await,
    }
}

async fn grant(app: &App, privilege: &str, who: Who, what: &What) -> Result<(), AnyError> {
    let wrong = || format!("{privilege} is none of {}", Privilege::NAMES.join(", "));
    let privilege = Privilege::parse(privilege).ok_or_else(wrong)?;
    let grantee = match (who.user, who.role) {
        (Some(user), _) => Grantee::User(user),
        (None, role) => Grantee::Role(role.unwrap_or_default()),
    };
    let target = what.find(app).await?;
    let privilege = (privilege.as_str(), privilege.ref_name());
    let (row, _) = commit::make_grant(app, &grantee, privilege, &target.on, MAKER).await?;
    print(&line(&row))
}

async fn check(app: &App, action: &str, user: String, roles: Vec<String>, what: &What) -> Result<(), AnyError> {
    let wrong = || format!("{action} is none of {}", Action::PLAIN.each_ref().map(Action::as_str).join(", "));
    let action = Action::parse(action).ok_or_else(wrong)?;
    let object = match what.find(app).await? {
        Target { on: On::Table(id, _), table: Some(row), .. } => Object::Table(id, row.ident),
        Target { on: On::Namespace(id, namespace), .. } => Object::Namespace(id, namespace),
        Target { on: On::Warehouse(id) | On::Table(id, _), .. } => Object::Warehouse(id),
        Target { on: On::Server, .. } => Object::Server,
    };
    let access = app.access(Arc::new(Principal { name: user, roles, unrestricted: false })).await?;
    match access.decide(&action, &object) {
        Decision::Allowed(by) => {
            let row = grants::load(&app.db, &by.id).await?;
            print(&format!("yes, by\n{}", row.as_ref().map(line).unwrap_or_default()))
        }
        Decision::Unrestricted => print("yes\n"),
        Decision::Denied { visible: true } => print("no: it is seen, but no grant allows that\n"),
        Decision::Denied { visible: false } => print("no: it is not seen\n"),
    }
}

fn line(row: &GrantRow) -> String {
    let warehouse = row.warehouse.as_deref().unwrap_or_default();
    let object = match (&row.on, &row.table) {
        (On::Server, _) => "server".to_owned(),
        (On::Warehouse(_), _) => format!("warehouse {warehouse}"),
        (On::Namespace(_, namespace), _) => format!("namespace {namespace} in {warehouse}"),
        (On::Table(..), Some(table)) => format!("table {} in {warehouse}", table.ident),
        (On::Table(_, id), None) => format!("dropped table {id} in {warehouse}"),
    };
    let separator = if row.ref_name.is_empty() { "" } else { ":" };
    let (kind, name) = (row.grantee.kind(), row.grantee.name());
    format!("{}\t{kind} {name}\t{}{separator}{}\t{object}\n", row.id, row.privilege, row.ref_name)
}
