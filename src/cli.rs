//! The subcommands.

mod grant;
mod identity;
mod import;
mod tools;
mod warehouse;

use crate::app::{App, WarehouseSettings};
use crate::commit::{self, NewWarehouse, WarehouseChange};
use crate::config::auth::{AuthConfig, Method};
use crate::config::{Config, Settings};
use crate::store::{Page, warehouses};
use crate::telemetry::chain;
use crate::{api, server, telemetry, validate};
use clap::{Parser, Subcommand};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// An Iceberg REST catalog that opens what a commit adds and refuses what would corrupt a table.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct Cli {
    /// TOML file of settings; its keys are the flags' names
    #[arg(long, env = "GUILLEMOT_CONFIG", global = true)]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server (what happens without a command)
    Serve,
    /// Bring the database's schema up to date, and stop
    Migrate,
    /// Exit with 0 when a server answers at the listen address
    Health,
    /// Print the settings in force, secrets hidden
    Config,
    /// Print the OpenAPI document
    Openapi,
    /// Print the rules of validation as a page
    Rules,
    #[command(flatten)]
    Tool(tools::Tool),
    /// Manage the server's own identities in the database
    Identity {
        #[command(subcommand)]
        command: identity::IdentityCommand,
    },
    /// Make known here what other catalogs hold; no file is moved, changed or deleted
    Import {
        #[command(subcommand)]
        command: import::ImportCommand,
    },
    #[command(flatten)]
    Grant(grant::GrantCommand),
    /// Manage warehouses in the database
    Warehouse {
        #[command(subcommand)]
        command: WarehouseCommand,
    },
}

#[derive(Debug, Subcommand)]
enum WarehouseCommand {
    /// Print all warehouses: name, location, status
    List,
    /// Add a warehouse
    Create {
        /// Its name
        name: String,
        /// Its location as a URI
        location: String,
    },
    /// Let a warehouse serve requests again
    Activate {
        /// Its name
        name: String,
    },
    /// Stop a warehouse from serving requests
    Deactivate {
        /// Its name
        name: String,
    },
    /// Change how clients get at the files of a warehouse's tables, and what its own store is reached with
    Set {
        /// Its name
        name: String,
        #[command(flatten)]
        change: warehouse::Change,
    },
    /// Remove a warehouse that holds no namespace; files stay
    Delete {
        /// Its name
        name: String,
    },
}

/// Runs the command that the arguments name. Errors go to standard error, with their causes.
pub async fn run(cli: Cli) -> ExitCode {
    match try_run(cli).await {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "guillemot: {}", chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

type AnyError = Box<dyn std::error::Error>;

async fn try_run(cli: Cli) -> Result<ExitCode, AnyError> {
    let file = cli.config.as_deref().map(Settings::from_file).transpose()?;
    let config = cli.settings.or(file.unwrap_or_default()).resolve()?;
    match cli.command.unwrap_or(Command::Serve) {
        Command::Tool(tool) => Ok(Box::pin(tools::run(tool, config)).await),
        Command::Import { command } => Box::pin(import::run(config, command)).await,
        command => run_command(command, config).await.map(|()| ExitCode::SUCCESS),
    }
}

async fn run_command(command: Command, config: Config) -> Result<(), AnyError> {
    match command {
        Command::Serve => serve(config).await,
        Command::Migrate => {
            server::open_database(&config).await?.close().await;
            print(&format!("{} is up to date\n", crate::config::hide_password(&config.database_url)))
        }
        Command::Health => health(&config).await,
        Command::Config => print(&config.shown()),
        Command::Openapi => print(&api::openapi_json()),
        Command::Rules => print(&validate::rules_page()),
        Command::Identity { command } => identity::run(&config, command).await,
        Command::Warehouse { command } => warehouse(config, command).await,
        Command::Grant(command) => {
            let app = server::build(Config { warehouses: Vec::new(), ..config }).await?;
            let done = grant::run(&app, command).await;
            app.db.close().await;
            done
        }
        Command::Tool(_) | Command::Import { .. } => Ok(()),
    }
}

fn print(text: &str) -> Result<(), AnyError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

async fn serve(config: Config) -> Result<(), AnyError> {
    telemetry::start_logs(&config);
    server::check_tls(&config)?;
    let listener = server::bind(&config).await?;
    let address = listener.local_addr()?;
    let app = server::build(config).await?;
    server::check_exposure(&listener, &app)?;
    print(&welcome(address, &app))?;
    server::serve(listener, app, stop_signal()).await?;
    Ok(())
}

/// The first line is for programs, the rest says what to try next.
fn welcome(address: SocketAddr, app: &App) -> String {
    let base = format!("{}://{address}/iceberg", app.config.scheme());
    let names: Vec<&str> = app.config.warehouses.iter().map(|w| w.name.as_str()).collect();
    let warehouse = names.first().copied().unwrap_or("default");
    let (asks, header, engine) = if app.auth.is_open() {
        ("nobody: everything is allowed to everyone", "", "")
    } else {
        ("everybody for a token", " -H \"Authorization: Bearer $TOKEN\"", " credential=ID:SECRET")
    };
    format!(
        "listening on {base}\n\
         \n\
         database   {database}\n\
         warehouses {warehouses}\n\
         asks       {asks}\n\
         \n\
         try:\n\
         \x20 curl{header} {base}/v1/config\n\
         \x20 curl{header} -X POST {base}/v1/namespaces -H 'Content-Type: application/json' -d '{{\"namespace\": [\"demo\"]}}'\n\
         \x20 curl{header} {base}/v1/namespaces\n\
         or point an engine at uri={base} warehouse={warehouse}{engine}\n",
        database = crate::config::hide_password(&app.config.database_url),
        warehouses =
            app.config.warehouses.iter().map(|w| format!("{} = {}", w.name, w.location)).collect::<Vec<_>>().join(", "),
    )
}

/// Resolves on SIGTERM or Ctrl-C.
async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}

async fn health(config: &Config) -> Result<(), AnyError> {
    server::ask_health(config).await?;
    print("alive\n")
}

async fn warehouse(config: Config, command: WarehouseCommand) -> Result<(), AnyError> {
    // Only what the command names is to change, and nobody calls.
    let auth = AuthConfig { methods: vec![Method::None], ..config.auth };
    let app = server::build(Config { warehouses: Vec::new(), auth, ..config }).await?;
    match command {
        WarehouseCommand::List => {
            for row in warehouses::list(&app.db, &Page::default()).await?.items {
                print(&format!("{}\t{}\t{}\n", row.name, row.location, row.status.as_str()))?;
            }
        }
        WarehouseCommand::Create { name, location } => {
            let added = commit::add_warehouse(
                &app,
                &NewWarehouse { name, location, settings: WarehouseSettings::default(), secret: None },
            )
            .await?;
            print(&format!("{} is at {}\n", added.name, added.location))?;
        }
        WarehouseCommand::Activate { name } => switch(&app, &name, true).await?,
        WarehouseCommand::Deactivate { name } => switch(&app, &name, false).await?,
        WarehouseCommand::Set { name, change } => print(&warehouse::set(&app, &name, change).await?)?,
        WarehouseCommand::Delete { name } => {
            commit::remove_warehouse(&app, &name).await?;
            print(&format!("{name} is removed; its files stay\n"))?;
        }
    }
    app.db.close().await;
    Ok(())
}

async fn switch(app: &App, name: &str, active: bool) -> Result<(), AnyError> {
    let change = WarehouseChange { active: Some(active), ..WarehouseChange::default() };
    let row = commit::change_warehouse(app, name, &change).await?;
    print(&format!("{} is {}\n", row.name, row.status.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// The arguments of a command that have the id of a setting, and of those below it.
    fn taken(command: &clap::Command, settings: &BTreeSet<&str>) -> Vec<String> {
        let own = command.get_arguments().map(|argument| argument.get_id().as_str());
        let own = own.filter(|id| settings.contains(id)).map(|id| format!("{} {id}", command.get_name()));
        own.chain(command.get_subcommands().flat_map(|below| taken(below, settings))).collect()
    }

    #[test]
    fn no_argument_of_a_command_is_taken_for_a_setting() {
        let root = Cli::command();
        let settings = root.get_arguments().filter(|argument| argument.is_global_set());
        let settings: BTreeSet<&str> = settings.map(|argument| argument.get_id().as_str()).collect();
        assert!(settings.contains("warehouse"));
        let taken: Vec<String> = root.get_subcommands().flat_map(|command| taken(command, &settings)).collect();
        assert!(taken.is_empty(), "{taken:?}");
        let parsed = Cli::try_parse_from(["guillemot", "upgrade-check", "--in", "lake", "ns.t"]).unwrap();
        assert!(parsed.settings.warehouse.is_empty());
    }
}
