//! Tools that look at files and tables and change nothing: `inspect` and `verify`. They end with 0 when what they
//! looked at is in order, with 1 when it is broken, with 2 when they could not look.

mod upgrade;

use super::{AnyError, print};
use crate::client::{Catalog, Connection, Login, Secrets};
use crate::config::Config;
use crate::inspect::{inspect, printable};
use crate::server;
use crate::storage::{Mapped, Storage};
use crate::telemetry::chain;
use crate::validate::Levels;
use crate::validate::at_rest::{Progress, Scope, Snapshots, Verdict};
use crate::verify::{self, Outcome, Target, describe};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a tool found: in order, broken, or nothing for sure.
const IN_ORDER: u8 = 0;
const BROKEN: u8 = 1;
const COULD_NOT_LOOK: u8 = 2;

/// How often a terminal is told how far a check is.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// The tools.
#[derive(Debug, Subcommand)]
pub(super) enum Tool {
    /// Print a Puffin file, a manifest, a manifest list or a metadata file for people
    Inspect(InspectArgs),
    /// Check a table that already exists, in this catalog or in any other
    Verify(VerifyArgs),
    /// Tell whether a table is ready for a newer format version
    UpgradeCheck(UpgradeCheckArgs),
}

#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// The file: a path, or a URI that storage can read
    file: String,
    /// How many items of a list are shown (blobs, containers, manifests, entries, snapshots)
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Metadata files of tables: paths, or URIs that storage can read
    #[arg(required_unless_present = "uri")]
    targets: Vec<String>,
    #[command(flatten)]
    table: TableArgs,
    /// Check every snapshot that the metadata keeps, not only the current one
    #[arg(long)]
    all_snapshots: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Of how many live files of a snapshot something is kept in memory, at most
    #[arg(long, default_value_t = 20_000_000)]
    most_files: usize,
}

#[derive(Debug, Args)]
pub(super) struct UpgradeCheckArgs {
    /// A table of this server's database as NAMESPACE.TABLE, or metadata files: paths, or URIs that storage can read
    #[arg(required_unless_present = "uri")]
    targets: Vec<String>,
    /// The warehouse of tables that are named without --uri [default: the only one, else `default`]
    #[arg(id = "in", long = "in", value_name = "NAME")]
    warehouse: Option<String>,
    #[command(flatten)]
    table: TableArgs,
    /// The format version
    #[arg(long, default_value_t = 3)]
    to: u8,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// How tables are found.
#[derive(Debug, Args)]
pub(super) struct TableArgs {
    /// Address of an Iceberg REST catalog, the part before `/v1`
    #[arg(long, requires = "name")]
    uri: Option<String>,
    /// Names of tables in that catalog, as NAMESPACE.TABLE (repeatable)
    #[arg(long, requires = "uri")]
    name: Vec<String>,
    /// The warehouse, as that catalog names it
    #[arg(long, requires = "uri")]
    catalog_warehouse: Option<String>,
    /// Bearer token for that catalog
    #[arg(long, env = "GUILLEMOT_CATALOG_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// A header for that catalog as NAME=VALUE (repeatable)
    #[arg(long = "header")]
    headers: Vec<String>,
    /// Look for the files of one place in another, as FROM=TO (repeatable): `gs://warehouse=./copy`
    #[arg(long = "map")]
    maps: Vec<String>,
}

/// Runs a tool. Errors go to standard error, with their causes.
pub(super) async fn run(tool: Tool, config: Config) -> ExitCode {
    let done = match tool {
        Tool::Inspect(args) => run_inspect(&args, &config).await,
        Tool::Verify(args) => run_verify(&args, &config).await,
        Tool::UpgradeCheck(args) => upgrade::run(&args, config).await,
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Standard error may be closed; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "guillemot: {}", printable(&chain(error.as_ref())));
            ExitCode::from(COULD_NOT_LOOK)
        }
    }
}

async fn run_inspect(args: &InspectArgs, config: &Config) -> Result<u8, AnyError> {
    let reader = reader(config, &[])?;
    let found = inspect(&reader, &verify::place(&args.file)?, args.limit).await?;
    print(&found.text)?;
    Ok(if found.faults.is_empty() { IN_ORDER } else { BROKEN })
}

async fn run_verify(args: &VerifyArgs, config: &Config) -> Result<u8, AnyError> {
    let levels = levels(config)?;
    let reader = reader(config, &args.table.maps)?;
    let (targets, catalog) = args.table.targets(&args.targets).await?;
    let snapshots = if args.all_snapshots { Snapshots::All } else { Snapshots::Current };
    let scope = Scope { snapshots, most_files: args.most_files };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for target in targets {
        let told = Told::default();
        let outcome = match target.find(&reader, catalog.as_ref()).await {
            Ok(found) => verify::check(&target, &found, &reader, &levels, scope, &|at| told.at(&target, at)).await,
            Err(error) => Outcome::not_loaded(&target, &error),
        };
        Told::clear();
        if !args.json {
            print(&describe(&outcome))?;
        }
        outcomes.push(outcome);
    }
    let verdicts: Vec<Verdict> = outcomes.iter().map(|outcome| outcome.verdict).collect();
    if args.json {
        print(&format!("{:#}\n", json!({ "tables": outcomes })))?;
    }
    Ok(if verdicts.contains(&Verdict::Broken) {
        BROKEN
    } else if verdicts.contains(&Verdict::NotChecked) {
        COULD_NOT_LOOK
    } else {
        IN_ORDER
    })
}

fn levels(config: &Config) -> Result<Levels, AnyError> {
    let mut levels = Levels::default();
    for (rule, level) in &config.rules {
        levels.set(rule, level)?;
    }
    Ok(levels)
}

fn reader(config: &Config, maps: &[String]) -> Result<Mapped, AnyError> {
    let maps = maps.iter().map(|map| verify::map(map)).collect::<Result<_, _>>()?;
    Ok(Mapped::new(Storage::new(server::storage_config(config))?, maps))
}

impl TableArgs {
    /// What is to be looked at, and the catalog to ask for what is named.
    async fn targets(&self, files: &[String]) -> Result<(Vec<Target>, Option<Catalog>), AnyError> {
        let mut targets = Vec::new();
        for file in files {
            targets.push(Target::file(file)?);
        }
        for name in &self.name {
            targets.push(Target::name(name)?);
        }
        let Some(uri) = &self.uri else { return Ok((targets, None)) };
        let connection = Connection {
            uri: uri.clone(),
            warehouse: self.catalog_warehouse.clone(),
            prefix: None,
            login: self.token.clone().map_or(Login::None, Login::Token),
            headers: self.headers.iter().map(|text| header(text)).collect::<Result<_, _>>()?,
            secrets: Secrets::default(),
        };
        Ok((targets, Some(Catalog::connect(connection).await?)))
    }
}

/// Reads a header as `NAME=VALUE`. The value may be a secret and is not quoted.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| "a header without a value: expected NAME=VALUE".to_owned())
}

/// Tells a terminal how far a check is.
#[derive(Default)]
struct Told {
    last: Mutex<Option<Instant>>,
}

impl Told {
    fn at(&self, target: &Target, progress: Progress) {
        let mut err = std::io::stderr();
        if !err.is_terminal() {
            return;
        }
        let Ok(mut last) = self.last.lock() else { return };
        if last.is_some_and(|last| last.elapsed() < TOLD_EVERY) {
            return;
        }
        *last = Some(Instant::now());
        let name = target.to_string();
        let name = name.rsplit('/').next().unwrap_or_default();
        let Progress { snapshots_done, snapshots, manifests_done, manifests, vectors_done, vectors } = progress;
        // Nothing depends on the terminal.
        let _ = write!(
            err,
            "\r\x1b[K{}: snapshot {} of {snapshots}, manifests {manifests_done} of {manifests}, \
             vectors {vectors_done} of {vectors}",
            printable(name),
            snapshots_done + 1,
        );
        let _ = err.flush();
    }

    fn clear() {
        let mut err = std::io::stderr();
        if err.is_terminal() {
            let _ = write!(err, "\r\x1b[K");
            let _ = err.flush();
        }
    }
}
