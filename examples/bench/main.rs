//! A load generator: throughput, latency and CPU of loadTable, commit and create, and the floor beside them.
//!
//! `make bench` starts a Guillemot of its own (SQLite and a local folder) and takes about a minute. Everything runs
//! on this machine, the client too, so figures of two runs compare only on the same machine. With `--uri` other
//! catalogs take the same load in the same run.

mod avro;
mod catalog;
mod floor;
mod guarded;
mod history;
mod http;
mod large;
mod load;
mod process;
mod vectors;

use catalog::Catalog;
use clap::Parser;
use guarded::Guarded;
use guillemot::cli::{self, Cli};
use history::History;
use large::Large;
use load::{HEAD, Outcome, Server, run};
use process::Process;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use tempfile::TempDir;

/// As the server's own: the floor must not win by its allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The table that loadTable loads.
const WIDE: &str = "wide";

/// Columns of the table that loadTable loads: about 20 KB of metadata.
const COLUMNS: usize = 200;

/// Tables that each connection commits to in turn, where commits must not meet.
const TABLES_EACH: usize = 8;

/// Workloads that are compared take turns, so that a disturbance of the machine meets both.
const ROUNDS: u32 = 2;

/// As often for loads, which are told apart by a few percent.
const LOAD_ROUNDS: u32 = 12;

/// Loads a Guillemot of its own, and what else is named, and prints what each did.
#[derive(Parser)]
struct Arguments {
    /// Seconds for each workload
    #[arg(long, default_value_t = 6.0)]
    seconds: f64,
    /// Connections at once
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Snapshots of the table with a long history; 0 leaves it out
    #[arg(long, default_value_t = 5000)]
    history: i64,
    /// Database of our Guillemot [default: an SQLite file that goes away]. Rows of the run stay in another one
    #[arg(long)]
    database_url: Option<String>,
    /// Base URI of another catalog on this machine that takes the same load (repeatable); what it creates stays
    #[arg(long)]
    uri: Vec<String>,
    /// The warehouse that the other catalogs are asked for
    #[arg(long)]
    warehouse: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    // The servers under load are this program too, so that all of them are built alike.
    match arguments.get(1).map(String::as_str) {
        Some("guillemot") => served(async { Ok(cli::run(Cli::parse_from(arguments.iter().skip(1))).await) }),
        Some("floor") => served(async {
            floor::serve(arguments.get(2..).unwrap_or_default()).await?;
            Ok(ExitCode::SUCCESS)
        }),
        _ => ended(bench(&Arguments::parse()).map(|()| ExitCode::SUCCESS)),
    }
}

/// Runs a server on as many threads as the real one.
fn served(server: impl Future<Output = Result<ExitCode>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    ended(runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(server)))
}

fn ended(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(std::io::stderr(), "bench: {error}");
        ExitCode::FAILURE
    })
}

fn say(line: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

fn bench(arguments: &Arguments) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("bench-").tempdir()?;
    // Random, so that runs on one lasting database do not meet.
    let name = folder.path().file_name().and_then(|name| name.to_str()).ok_or("the temporary folder has no name")?;
    let database = arguments.database_url.clone();
    let database = database.unwrap_or_else(|| format!("sqlite://{}", folder.path().join("bench.db").display()));
    let process = start_guillemot(&folder, &database, name)?;
    say(&format!("start to first answer  {:.0} ms", process.first_answer.as_secs_f64() * 1000.0))?;
    say(&format!("idle memory            {} MiB\n", process.memory("VmRSS")? / 1024))?;

    let uri = format!("http://{}/iceberg", process.address);
    let own = Catalog::connect(&uri, Some(name), name, Some(&process), None)?;
    let others: Vec<(&str, Catalog<'_>)> = arguments
        .uri
        .iter()
        .map(|uri| Ok((uri.as_str(), Catalog::connect(uri, arguments.warehouse.as_deref(), name, None, None)?)))
        .collect::<Result<_>>()?;
    let mut all = vec![("guillemot", &own)];
    all.extend(others.iter().map(|(uri, catalog)| (*uri, catalog)));

    for (_, catalog) in &all {
        catalog.create(WIDE, COLUMNS)?;
    }
    let guarded = Guarded::start(folder.path())?;
    let viewer = guarded.as_viewer(WIDE, COLUMNS)?;
    let mut loaded = vec![("guillemot", &own), ("  asking who is calling", &viewer)];
    loaded.extend(all.iter().skip(1).copied());
    loads(arguments, &loaded, &database, name)?;
    for (name, catalog) in &all {
        say(&format!("\n{name}\n{HEAD}"))?;
        commits(arguments, catalog)?;
        creates(arguments, catalog)?;
    }
    if arguments.history > 0 {
        history(arguments, &own, &folder)?;
    }
    say(&format!("\n1,000 deletion vectors on 10,000 data files in 100 manifests, one connection\n{HEAD}"))?;
    let time = Duration::from_secs_f64(arguments.seconds / 2.0);
    let large = Large::register(&own, &folder.path().join("lake"))?;
    large.measure(time)?;
    say(&format!("\nloads while 10,000 data files are appended at a time\n{HEAD}"))?;
    large.beside(arguments.connections, time)?;
    vectors::measure()?;
    say(&format!("\nhighest memory         {} MiB", process.memory("VmHWM")? / 1024))
}

fn start_guillemot(folder: &TempDir, database: &str, warehouse: &str) -> Result<Process> {
    let warehouse = format!("{warehouse}=file://{}", folder.path().join("lake").display());
    let flags = ["--listen", "127.0.0.1:0", "--database-url", database, "--warehouse", &warehouse, "--log", "error"];
    Process::start(&[&["guillemot"], &flags[..]].concat(), "/iceberg/v1/config")
}

/// loadTable on each catalog and the floor, taking turns, and the ratio to the floor.
fn loads(arguments: &Arguments, all: &[(&str, &Catalog<'_>)], database: &str, warehouse: &str) -> Result<()> {
    let Some((_, own)) = all.first() else { return Ok(()) };
    let size = own.size(WIDE)?;
    let path = format!("/floor/{}/{WIDE}", own.namespace);
    let floor = Process::start(&["floor", database, warehouse, &size.to_string()], &path)?;
    let floor_server = Server { address: floor.address, process: Some(&floor) };
    let floor_request = http::request("GET", floor.address, &path, None, http::Body::None);

    let time = Duration::from_secs_f64(arguments.seconds) / LOAD_ROUNDS;
    let mut floor_outcome = Outcome::default();
    let mut outcomes: Vec<Outcome> = all.iter().map(|_| Outcome::default()).collect();
    for round in 0..=LOAD_ROUNDS {
        // Round 0 warms up and does not count.
        let floor_round = run(floor_server, arguments.connections, time, |_, _| floor_request.clone())?;
        if round > 0 {
            floor_outcome.join(floor_round);
        }
        for ((_, catalog), outcome) in all.iter().zip(&mut outcomes) {
            let request = catalog.load_request(WIDE);
            let catalog_round = run(catalog.server, arguments.connections, time, |_, _| request.clone())?;
            if round > 0 {
                outcome.join(catalog_round);
            }
        }
    }
    say(&format!("loadTable, {} bytes, {} connections; CPU in us a request\n{HEAD}", size, arguments.connections))?;
    let floor_rate = floor_outcome.throughput();
    say(&floor_outcome.line("floor"))?;
    for ((name, _), outcome) in all.iter().zip(outcomes) {
        let ratio = outcome.throughput() / floor_rate.max(f64::EPSILON);
        say(&outcome.line(name))?;
        say(&format!("{:<34}{ratio:>9.2}", "  of the floor"))?;
    }
    Ok(())
}

/// Commits that set a property: on tables of their own, then all on one.
fn commits(arguments: &Arguments, catalog: &Catalog<'_>) -> Result<()> {
    let time = Duration::from_secs_f64(arguments.seconds);
    let tables = arguments.connections * TABLES_EACH;
    for table in 0..tables {
        catalog.create(&format!("t{table}"), 3)?;
    }
    let many = run(catalog.server, arguments.connections, time, |connection, n| {
        let table = connection * TABLES_EACH + n % TABLES_EACH;
        catalog.property_request(&format!("t{table}"), &format!("{connection}-{n}"))
    })?;
    say(&many.line(&format!("commit, {tables} tables")))?;
    catalog.create("contended", 3)?;
    let one = run(catalog.server, arguments.connections, time, |connection, n| {
        catalog.property_request("contended", &format!("{connection}-{n}"))
    })?;
    say(&one.line("commit, one table"))
}

fn creates(arguments: &Arguments, catalog: &Catalog<'_>) -> Result<()> {
    let time = Duration::from_secs_f64(arguments.seconds);
    let creates = run(catalog.server, arguments.connections, time, |connection, n| {
        catalog.create_request(&format!("new_{connection}_{n}"), 3)
    })?;
    say(&creates.line("create"))
}

/// CPU of one commit to a table with a long history, of our own server.
fn history(arguments: &Arguments, own: &Catalog<'_>, folder: &TempDir) -> Result<()> {
    let time = Duration::from_secs_f64(arguments.seconds);
    let history = History::register(own, &folder.path().join("lake"), arguments.history)?;
    let megabytes = history.size / 100_000;
    say(&format!(
        "\na history of {} snapshots ({}.{} MB), one connection\n{HEAD}",
        arguments.history,
        megabytes / 10,
        megabytes % 10
    ))?;
    let (mut properties, mut appends) = (Outcome::default(), Outcome::default());
    for round in 0..=ROUNDS {
        // Round 0 warms up and does not count.
        let time = if round == 0 { time / 10 } else { time / (2 * ROUNDS) };
        let (some_properties, some_appends) = (history.properties(time)?, history.appends(time)?);
        if round > 0 {
            properties.join(some_properties);
            appends.join(some_appends);
        }
    }
    let (properties_ms, appends_ms) = (properties.server_ms(), appends.server_ms());
    say(&properties.line("commit, a property"))?;
    say(&appends.line("commit, a snapshot"))?;
    for (what, ms) in [("a property", properties_ms), ("a snapshot", appends_ms)] {
        let ms = ms.map_or_else(|| "unknown".to_owned(), |ms| format!("{ms:.1}"));
        say(&format!("CPU of the server for {what}: {ms} ms a commit"))?;
    }
    Ok(())
}
