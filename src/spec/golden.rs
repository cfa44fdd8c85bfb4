//! Holds what we do against what Iceberg Java does, over the cases of `tests/data/metadata`.

use serde_json::Value;

use super::error::{Error, Result};
use super::json::Raw;
use super::table::TableMetadata;
use super::update::{Base, TableUpdate, apply};

mod compare;
mod differences;
mod messages;

use compare::is_same;
use differences::{DIFFERENCES, Difference};

/// The server's time in the scenarios, shortly after Java's.
const NOW_MS: i64 = 1_795_976_000_000;

/// The file of the base in the scenarios.
const BASE_FILE: &str = "s3://b/t/metadata/v5.json";

/// One case, and what came of it.
struct Case {
    name: String,
    input: String,
    /// What Java wrote, or its error.
    java: std::result::Result<Value, String>,
    ours: Result<Value>,
}

impl Case {
    fn new(row: &Value, input: &str, ours: Result<Value>) -> Self {
        let name = row["name"].as_str().unwrap().to_owned();
        let java = &row["java_1_10_2"];
        let result = java["result"].as_str().unwrap();
        let accepted = java["accepted"].as_bool().unwrap();
        let java = if accepted { Ok(serde_json::from_str(result).unwrap()) } else { Err(result.to_owned()) };
        Self { name, input: input.to_owned(), java, ours }
    }

    fn is_same(&self) -> bool {
        match (&self.java, &self.ours) {
            (Ok(java), Ok(ours)) => is_same(java, ours),
            (Err(_), Err(_)) => true,
            _ => false,
        }
    }

    fn explanation(&self) -> Option<&'static Difference> {
        DIFFERENCES.iter().find(|difference| (difference.explains)(self))
    }

    fn show(&self) -> String {
        let java = self.java.as_ref().map_or_else(|error| format!("refused: {error}"), Value::to_string);
        let ours = self.ours.as_ref().map_or_else(|error| format!("refused: {error}"), Value::to_string);
        format!("{}\n  input {}\n  java  {java}\n  ours  {ours}", self.name, self.input)
    }
}

fn rows(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// The metadata as a value; what it is written as must be read as the same again.
fn written(metadata: &TableMetadata) -> Value {
    let bytes = metadata.to_bytes();
    assert_eq!(TableMetadata::parse(&bytes).unwrap().to_bytes(), bytes, "writing is stable");
    serde_json::from_slice(&bytes).unwrap()
}

fn parse_cases() -> Vec<Case> {
    let read = |row: Value| {
        let input = row["input"].as_str().unwrap();
        let ours = TableMetadata::parse(input.as_bytes()).map(|metadata| written(&metadata));
        Case::new(&row, input, ours)
    };
    rows(include_str!("../../tests/data/metadata/parse.jsonl")).map(read).collect()
}

fn message_cases() -> Vec<Case> {
    let read = |row: Value| {
        let input = row["input"].as_str().unwrap();
        let ours = messages::round_trip(row["kind"].as_str().unwrap(), input)?;
        Some(Case::new(&row, input, ours))
    };
    rows(include_str!("../../tests/data/metadata/messages.jsonl")).filter_map(read).collect()
}

fn scenario_cases() -> Vec<Case> {
    let run = |row: Value| {
        let updates: Vec<&str> = row["updates"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let base = row["base"].as_str();
        let ours = scenario(base, &updates);
        Case::new(&row, &format!("{}\n  {}", base.unwrap_or("none"), updates.join("\n  ")), ours)
    };
    rows(include_str!("../../tests/data/metadata/scenarios.jsonl")).map(run).collect()
}

fn scenario(base: Option<&str>, updates: &[&str]) -> Result<Value> {
    let parse = |text: &&str| TableUpdate::parse(&serde_json::from_str::<Raw>(text).unwrap());
    let base = base.map(|text| TableMetadata::parse(text.as_bytes())).transpose()?;
    let updates = updates.iter().map(parse).collect::<Result<Vec<_>>>()?;
    let applied = apply(base.as_ref().map(|metadata| Base { metadata, location: BASE_FILE }), &updates, NOW_MS)?;
    if let Some(base) = base.filter(|_| !applied.changed) {
        assert_eq!(applied.metadata.to_bytes(), base.to_bytes(), "nothing changes where nothing changed");
    }
    Ok(written(&applied.metadata))
}

fn all_cases() -> Vec<Case> {
    [parse_cases(), message_cases(), scenario_cases()].into_iter().flatten().collect()
}

#[test]
fn we_do_as_java_does() {
    let wrong: Vec<_> =
        all_cases().iter().filter(|case| !case.is_same() && case.explanation().is_none()).map(Case::show).collect();
    assert!(wrong.is_empty(), "{} unexplained differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_known_difference_is_one() {
    let cases = all_cases();
    for difference in DIFFERENCES {
        for row in difference.rows {
            let case = cases.iter().find(|case| case.name == *row).unwrap_or_else(|| panic!("no case {row}"));
            assert!(!case.is_same(), "no longer a difference: {row}");
            assert!((difference.explains)(case), "not `{}`: {}", difference.why, case.show());
        }
    }
}

#[test]
fn stale_commits_are_conflicts() {
    // Java 1.10.2 refuses these for good; its main branch tells the client to try again, as we do (spec.md 2.1).
    let stale = ["is behind table next-row-id", "older than last sequence number"];
    let is_stale = |case: &&Case| {
        let refused = |error: &String| stale.iter().any(|text| error.contains(text));
        case.java.as_ref().is_err_and(refused)
    };
    let cases = scenario_cases();
    let cases: Vec<_> = cases.iter().filter(is_stale).collect();
    assert!(!cases.is_empty());
    for case in cases {
        assert!(matches!(case.ours, Err(Error::Conflict(_))), "{}", case.show());
    }
}
