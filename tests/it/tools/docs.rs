//! What the documentation says the tools print is what they print.

use std::fs;
use std::path::Path;

use super::{fixture, guillemot_in};

#[test]
fn the_outputs_in_the_documentation_are_true() {
    let mut seen = 0;
    for page in ["docs/verify.md", "docs/upgrade.md"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        for block in text.split("```").skip(1).step_by(2) {
            let Some((command, output)) = block.trim_start().split_once('\n') else { continue };
            let Some(command) = command.strip_prefix("$ guillemot ") else { continue };
            let ran = guillemot_in(&fixture(""), &command.split(' ').collect::<Vec<_>>());
            assert!(is_said(output, &ran.out), "{page}: guillemot {command}\n{}{}", ran.out, ran.err);
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
}

/// Whether an output is what a page says: a line of `…` stands for any lines, `/…/` for the way to a folder.
fn is_said(page: &str, output: &str) -> bool {
    let mut lines = output.lines();
    let mut skip = false;
    for said in page.lines() {
        if said.trim() == "…" {
            skip = true;
            continue;
        }
        let is = |line: &str| match said.strip_prefix("/…/") {
            Some(end) => line.ends_with(end),
            None => line == said,
        };
        let found = if skip { lines.any(is) } else { lines.next().is_some_and(is) };
        if !found {
            return false;
        }
        skip = false;
    }
    skip || lines.next().is_none()
}
