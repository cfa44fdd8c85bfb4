//! `guillemot import`: what other catalogs hold becomes known here too. It ends with 0 when everything in the source is
//! here, with 1 when something is not.

mod catalog;
mod secret;

use super::{AnyError, print};
use crate::app::App;
use crate::client::Secrets;
use crate::config::auth::{AuthConfig, Method};
use crate::config::{Config, RegisterCheck};
use crate::import::{Importer, Line, Options, hadoop, jdbc};
use crate::inspect::printable;
use crate::server;
use crate::spec::TableIdent;
use crate::store::jdbc::Source;
use crate::telemetry::chain;
use crate::verify::{self, Target};
use catalog::CatalogArgs;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Most characters of a line: a source may give a thing a name without end.
const LONGEST_LINE: usize = 10_000;

/// Where what is to be imported is.
#[derive(Debug, Subcommand)]
pub(super) enum ImportCommand {
    /// The tables of a Hadoop catalog: folders with version-hint.text and vN.metadata.json
    Hadoop(HadoopArgs),
    /// Namespaces, tables and views of any Iceberg REST catalog
    Catalog(Box<CatalogArgs>),
    /// Namespaces, tables and views in the database of a JDBC catalog (Iceberg's Java library) or SQL catalog (PyIceberg)
    Jdbc(JdbcArgs),
}

#[derive(Debug, Args)]
pub(super) struct HadoopArgs {
    /// The catalog's warehouse, a part of it, or one table: a URI or a path
    place: String,
    /// The name of a table that is imported alone, as NAMESPACE.TABLE [default: the names of its last two folders]
    #[arg(long = "as", value_name = "NAME")]
    named: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
pub(super) struct JdbcArgs {
    /// `sqlite:///PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`; better in the variable than on the command line
    #[arg(long, env = "GUILLEMOT_IMPORT_DATABASE", hide_env_values = true)]
    database: String,
    /// The catalog's name in the database [default: the only one]
    #[arg(long)]
    catalog_name: Option<String>,
    #[command(flatten)]
    how: How,
}

/// What all imports have in common.
#[derive(Debug, Args)]
pub(super) struct How {
    /// The warehouse to import into [default: the only one, else `default`]
    #[arg(id = "in", long = "in", value_name = "NAME")]
    warehouse: Option<String>,
    /// Change nothing, and say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Move tables that were imported before on to what the source has by now, if nothing was committed to them here
    #[arg(long)]
    update: bool,
    /// What is done with what is found in a table, where that is stricter than the settings
    #[arg(long, default_value = "warn")]
    check: RegisterCheck,
}

/// Runs an import.
pub(super) async fn run(config: Config, command: ImportCommand) -> Result<ExitCode, AnyError> {
    // Only what the command names is to change, and nobody calls.
    let auth = AuthConfig { methods: vec![Method::None], ..config.auth };
    let app = server::build(Config { warehouses: Vec::new(), auth, ..config }).await?;
    let done = Box::pin(import(&app, command)).await;
    app.write_journal().await;
    app.db.close().await;
    done
}

async fn import(app: &App, command: ImportCommand) -> Result<ExitCode, AnyError> {
    let how = match &command {
        ImportCommand::Hadoop(args) => &args.how,
        ImportCommand::Catalog(args) => &args.how,
        ImportCommand::Jdbc(args) => &args.how,
    };
    let options = Options { dry_run: how.dry_run, update: how.update, check: how.check };
    let warehouse = app.warehouse(how.warehouse.as_deref()).await;
    let warehouse = warehouse.map_err(|error| {
        format!(
            "{}: an import goes into a warehouse that is there: guillemot warehouse create NAME PLACE",
            chain(&error)
        )
    })?;
    // A source may write what it was sent into any name and place.
    let secrets = Secrets::default();
    let mut importer = Importer::new(app, &warehouse, options, |line| tell(line, options.dry_run, &secrets));
    let ended: Result<(), AnyError> = match command {
        ImportCommand::Hadoop(args) => {
            let named = args.named.as_deref().map(ident).transpose()?;
            hadoop::import(&mut importer, &verify::place(&args.place)?, named).await.map_err(Into::into)
        }
        ImportCommand::Catalog(args) => args.import(&mut importer, secrets.clone()).await,
        ImportCommand::Jdbc(args) => args.import(&mut importer).await,
    };
    if let Err(error) = ended {
        importer.stopped(chain(error.as_ref()));
    }
    let tally = importer.tally();
    print(&format!("{}\n", tally.sum(options.dry_run)))?;
    Ok(if tally.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl JdbcArgs {
    async fn import(&self, importer: &mut Importer<'_>) -> Result<(), AnyError> {
        let source = Source::open(&self.database).await?;
        let done = self.import_from(&source, importer).await;
        source.close().await;
        done
    }

    async fn import_from(&self, source: &Source, importer: &mut Importer<'_>) -> Result<(), AnyError> {
        let catalogs = source.catalogs().await?;
        let found = || if catalogs.is_empty() { "none".to_owned() } else { catalogs.join(", ") };
        let name = match (&self.catalog_name, catalogs.as_slice()) {
            (Some(name), _) if catalogs.contains(name) || catalogs.len() >= 100 => name,
            (Some(name), _) => return Err(format!("--catalog-name: expected {name}, found {}", found()).into()),
            (None, [only]) => only,
            (None, _) => {
                return Err(
                    format!("expected one catalog in the database, found {}: say --catalog-name", found()).into()
                );
            }
        };
        Ok(jdbc::import(importer, source, name).await?)
    }
}

/// A name of a table on the command line.
fn ident(text: &str) -> Result<TableIdent, AnyError> {
    match Target::name(text)? {
        Target::Name(ident) => Ok(ident),
        Target::File(_) => Err(format!("`{text}` is no name of a table: NAMESPACE.TABLE").into()),
    }
}

fn tell(line: &Line, dry_run: bool, secrets: &Secrets) {
    let mut text = String::new();
    for line in line.lines(dry_run) {
        text.extend(printable(&secrets.hide(&line)).chars().take(LONGEST_LINE));
        text.push('\n');
    }
    // Standard output may be closed; what is begun goes on to its end.
    let _ = print(&text);
}
