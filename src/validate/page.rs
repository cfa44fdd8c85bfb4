//! `docs/rules.md`, made of the rule table.

use super::checks::{CHECKS, Check, numbers_of};
use super::rules::{self, Reads};
use std::fmt::Write;

const HEAD: &str = "\
# Rules of validation

Every snapshot that a commit adds, and what a commit changes in the metadata, is judged by these rules. A rule's level is `deny` (the commit is refused with 400, or
409 where that is said: reading the table again mends it),
`warn` (logged and counted) or `off`. Levels change per server (`--rule ID=deny|warn|off`, `GUILLEMOT_RULES`) and per warehouse
(`settings.rules`, by the management API). With `--rules-mode log-only` (`GUILLEMOT_RULES_MODE`, per warehouse
`settings.rules-mode`) nothing is refused: what would have been is logged, counted, and listed with the warnings by
`GET /management/v1/warehouses/{warehouse}/warnings`. Tables that exist already are judged by the same rules:
[verify.md](verify.md). This page is generated: `cargo run -- rules > docs/rules.md`.

The column *check* says which of the [checks](#checks) below a rule is part of.

| rule | default | check | what must hold | what it protects | reads | source | known to break it |
|---|---|---|---|---|---|---|---|
";

const CHECKS_HEAD: &str = "
## Checks

What a catalog can check of a commit, and what checks it here: a rule of the table above, or the code that applies
updates, which refuses at any level (409 where that is said, else 400). Requirements come first, then what is stale (409),
then what is wrong (400): a client that only lost a race is told to read the table again.

| check | what must hold | rules | code | test of the code | what is left out, and why |
|---|---|---|---|---|---|
";

/// The page for people that lists every rule.
pub fn rules_page() -> String {
    let mut page = HEAD.to_owned();
    for rule in rules::all() {
        let cells = [rule.statement, rule.protects, reads(rule.reads), rule.source, rule.broken_by].map(cell);
        let conflict = if rules::ANSWERED_WITH_CONFLICT.contains(&rule.id) { " (`deny`: 409)" } else { "" };
        let (level, checks) = (format!("{}{conflict}", rule.level.as_str()), numbers_of(rule.id).join(", "));
        // Writing to a text does not fail.
        let _ = writeln!(page, "| `{}` | {level} | {checks} | {} |", rule.id, cells.join(" | "));
    }
    page.push_str(CHECKS_HEAD);
    for check in CHECKS {
        page.push_str(&check_row(check));
    }
    page
}

fn check_row(check: &Check) -> String {
    let rules: Vec<String> = check.rules.iter().map(|rule| format!("`{rule}`")).collect();
    let code = check.enforced.map_or_else(String::new, |(file, function)| format!("`{file}`: `{function}`"));
    let (what, reason) = (cell(check.what), cell(check.reason));
    let test = if check.test.is_empty() { String::new() } else { format!("`{}`", check.test) };
    format!("| {} | {what} | {} | {code} | {test} | {reason} |\n", check.number, rules.join(", "))
}

/// A text in one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn reads(reads: Reads) -> &'static str {
    match reads {
        Reads::Metadata => "metadata",
        Reads::ManifestList => "new manifest list",
        Reads::ParentList => "new and parent's manifest list",
        Reads::NewManifests => "new manifests",
        Reads::DeleteManifests => "delete manifests",
        Reads::DataManifests => "data manifests that can hold a referenced file",
        Reads::KnownManifests => "manifests read before",
        Reads::PuffinFooter => "Puffin footers",
        Reads::Vector => "new vectors",
        Reads::PreviousVector => "replaced vectors",
        Reads::Objects => "sizes of objects",
        Reads::WholeTable => "everything (`guillemot verify`)",
    }
}
