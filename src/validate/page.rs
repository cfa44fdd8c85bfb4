//! `docs/rules.md`, made of the rule table.

use super::rules::{self, Reads};
use std::fmt::Write;

const HEAD: &str = "\
# Rules of validation

Every snapshot that a commit adds is judged by these rules. A rule's level is `deny` (the commit is refused with 400),
`warn` (logged and counted) or `off`. Levels change per server (`--rule ID=deny|warn|off`, `GUILLEMOT_RULES`) and per warehouse
(`settings.rules`, by the management API). With `--rules-mode log-only` (`GUILLEMOT_RULES_MODE`, per warehouse
`settings.rules-mode`) nothing is refused: what would have been is logged, counted, and listed with the warnings by
`GET /management/v1/warehouses/{warehouse}/warnings`. Tables that exist already are judged by the same rules:
[verify.md](verify.md). This page is generated: `cargo run -- rules > docs/rules.md`.

| rule | default | what must hold | what it protects | reads | source | known to break it |
|---|---|---|---|---|---|---|
";

/// The page for people that lists every rule.
pub fn rules_page() -> String {
    let mut page = HEAD.to_owned();
    for rule in rules::all() {
        let cells = [rule.statement, rule.protects, reads(rule.reads), rule.source, rule.broken_by].map(cell);
        // Writing to a text does not fail.
        let _ = writeln!(page, "| `{}` | {} | {} |", rule.id, rule.level.as_str(), cells.join(" | "));
    }
    page
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
