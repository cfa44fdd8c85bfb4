//! `upgrade-check`: whether tables are ready for a newer format version.

use super::{BROKEN, COULD_NOT_LOOK, IN_ORDER, UpgradeCheckArgs, levels, reader};
use crate::cli::{AnyError, print};
use crate::client::Catalog;
use crate::config::Config;
use crate::inspect::printable;
use crate::readiness::{Answer, Readiness, VERSIONS, assess};
use crate::telemetry::chain;
use crate::validate::Cache;
use crate::validate::at_rest::{Scope, Snapshots, Verdict, check};
use crate::verify::Target;
use crate::{commit, server};
use serde_json::json;
use std::fmt::Write;

/// How much is kept in memory of what was read of manifests, in bytes.
const CACHE_BYTES: u64 = 256 << 20;

/// Of how many live files something is kept in memory.
const MOST_FILES: usize = 20_000_000;

/// What became of one table.
struct Told {
    table: String,
    /// Why not, where nothing can be told.
    found: Result<Readiness, String>,
}

pub(super) async fn run(args: &UpgradeCheckArgs, config: Config) -> Result<u8, AnyError> {
    if !VERSIONS.contains(&args.to) {
        return Err(format!("there is no upgrade to format version {}: expected 2 or 3", args.to).into());
    }
    // A name without --uri is one of this server's database, a place is a metadata file.
    let (files, names): (Vec<String>, Vec<String>) = args.targets.iter().cloned().partition(|text| is_place(text));
    let (targets, catalog) = args.table.targets(&files).await?;
    let mut told = Vec::new();
    for target in &targets {
        told.push(Told { table: target.to_string(), found: at(args, &config, target, catalog.as_ref()).await });
    }
    told.extend(of_database(args, config, &names).await?);
    if args.json {
        let tables = told.iter().map(|told| match &told.found {
            Ok(found) => json!({ "table": told.table, "found": found }),
            Err(error) => json!({ "table": told.table, "error": error }),
        });
        print(&format!("{:#}\n", json!({ "tables": tables.collect::<Vec<_>>() })))?;
    } else {
        for told in &told {
            print(&describe(told))?;
        }
    }
    let not_ready = |told: &Told| matches!(&told.found, Ok(found) if found.verdict == Answer::NotReady);
    Ok(if told.iter().any(not_ready) {
        BROKEN
    } else if told.iter().any(|told| told.found.is_err()) {
        COULD_NOT_LOOK
    } else {
        IN_ORDER
    })
}

fn is_place(text: &str) -> bool {
    text.contains('/') || std::path::Path::new(text).extension().is_some_and(|extension| extension == "json")
}

/// A table by its metadata file, or by its name in another catalog: nobody kept watch over who uses it.
async fn at(
    args: &UpgradeCheckArgs,
    config: &Config,
    target: &Target,
    catalog: Option<&Catalog>,
) -> Result<Readiness, String> {
    let text = |error: &dyn std::error::Error| chain(error);
    let reader = reader(config, &args.table.maps).map_err(|error| text(error.as_ref()))?;
    let levels = levels(config).map_err(|error| text(error.as_ref()))?;
    let found = target.find(&reader, catalog).await.map_err(|error| text(&error))?;
    let scope = Scope { snapshots: Snapshots::Current, most_files: MOST_FILES };
    let report = check(&reader, &Cache::new(CACHE_BYTES), &levels, &found.metadata, scope, &|_| ()).await;
    if let (Verdict::NotChecked, Some(stopped)) = (report.verdict(), &report.stopped) {
        return Err(text(stopped));
    }
    Ok(assess(&found.metadata, args.to, &report, None, None))
}

/// Tables of this server's database, with who uses them.
async fn of_database(args: &UpgradeCheckArgs, config: Config, names: &[String]) -> Result<Vec<Told>, AnyError> {
    let mut told = Vec::new();
    if names.is_empty() {
        return Ok(told);
    }
    // Only what is there is to be looked at.
    let app = server::build(Config { warehouses: Vec::new(), ..config }).await?;
    let warehouse = app.warehouse(args.warehouse.as_deref()).await?;
    for name in names {
        let Target::Name(ident) = Target::name(name)? else { continue };
        let found = commit::upgrade_check(&app, &warehouse, &crate::app::App::operator(), &ident, args.to).await;
        told.push(Told { table: name.clone(), found: found.map_err(|error| chain(&error)) });
    }
    app.db.close().await;
    Ok(told)
}

fn describe(told: &Told) -> String {
    let mut page = printable(&told.table);
    let mut line = |depth: usize, text: &str| {
        // Writing to a text does not fail.
        let _ = write!(page, "\n{:indent$}{}", "", printable(text), indent = 2 * depth);
    };
    match &told.found {
        Err(error) => line(0, &format!("COULD NOT LOOK: {error}")),
        Ok(found) => {
            let answer = match found.verdict {
                Answer::Ready => "ready",
                Answer::ReadyWithRemarks => "ready, with remarks",
                Answer::NotReady => "NOT READY",
            };
            line(0, &format!("format version {} to {}: {answer}", found.format_version, found.to));
            found.hindrances.iter().for_each(|text| line(1, &format!("hindrance: {text}")));
            found.remarks.iter().for_each(|text| line(1, &format!("remark: {text}")));
            found.refused.iter().for_each(|violation| line(1, &format!("BROKEN: {}", violation.message)));
            found.warnings.iter().for_each(|violation| line(1, &format!("warning: {}", violation.message)));
            for engine in found.engines.iter().flatten() {
                line(1, &format!("seen: {}", engine.agent));
            }
        }
    }
    page.push('\n');
    page
}
