//! Every check is made by what the table of checks says, and every rule is in that table.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::validate::catalogue;
use crate::validate::checks::{CHECKS, numbers_of};

/// Every Rust file below `src`.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, texts);
        } else {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_check_is_made_or_the_reason_is_given() {
    let numbers: Vec<usize> = CHECKS.iter().filter_map(|check| check.number.parse().ok()).collect();
    assert_eq!(numbers, (1..=108).collect::<Vec<_>>());
    let ids: HashSet<&str> = catalogue().map(|rule| rule.id).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = Vec::new();
    sources(&root, &mut texts);
    for check in CHECKS {
        let number = check.number;
        for rule in check.rules {
            assert!(ids.contains(rule), "{number}: {rule} is no rule");
        }
        if let Some((file, function)) = check.enforced {
            let text = fs::read_to_string(root.join(file)).unwrap();
            assert!(text.contains(&format!("fn {function}(")), "{number}: {file} has no {function}");
        }
        let is_made = !check.rules.is_empty() || check.enforced.is_some();
        assert!(is_made || !check.reason.is_empty(), "{number} is not made, and nobody says why");
        let is_test = |text: &String| {
            text.contains(&format!("#[test]\nfn {}()", check.test))
                || text.contains(&format!("#[test]\n    fn {}()", check.test))
        };
        assert!(check.test.is_empty() || texts.iter().any(is_test), "{number}: there is no test {}", check.test);
        assert!(check.enforced.is_none() || !check.test.is_empty(), "{number} is not tested");
    }
}

#[test]
fn every_rule_is_part_of_a_check() {
    let without: Vec<&str> = catalogue().map(|rule| rule.id).filter(|rule| numbers_of(rule).is_empty()).collect();
    assert!(without.is_empty(), "{without:?}");
}
