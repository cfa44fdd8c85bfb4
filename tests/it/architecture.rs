//! The layout is the architecture: which module may use which, and which crate only one module may touch.

use std::fs;
use std::path::{Path, PathBuf};

/// Module, and the modules of this crate that it may use besides itself.
const MAY_USE: [(&str, &[&str]); 25] = [
    // The pure core: bytes and values in, values out.
    ("spec", &[]),
    ("manifest", &["spec"]),
    ("puffin", &[]),
    ("dv", &["puffin"]),
    ("validate", &["spec", "manifest", "puffin", "dv"]),
    ("plan", &["spec", "manifest", "validate"]),
    ("inspect", &["spec", "manifest", "puffin", "dv", "validate"]),
    ("readiness", &["spec", "validate"]),
    // The shell.
    ("clock", &[]),
    ("config", &[]),
    ("telemetry", &["config"]),
    ("store", &["spec"]),
    ("storage", &["validate"]),
    ("auth", &["store", "storage", "clock", "config", "spec"]),
    ("vending", &["auth", "storage", "spec"]),
    ("app", &["auth", "vending", "store", "storage", "clock", "config", "plan", "validate", "spec"]),
    ("commit", &["app", "auth", "config", "plan", "readiness", "validate", "store", "storage", "spec", "vending"]),
    ("tasks", &["app", "commit", "store", "storage", "spec", "manifest", "validate", "telemetry"]),
    (
        "api",
        &["app", "auth", "commit", "config", "plan", "readiness", "store", "spec", "validate", "telemetry", "vending"],
    ),
    ("client", &["spec"]),
    ("verify", &["client", "spec", "storage", "validate", "inspect"]),
    ("import", &["app", "client", "commit", "config", "spec", "storage", "store", "telemetry"]),
    (
        "server",
        &[
            "api",
            "app",
            "auth",
            "clock",
            "commit",
            "config",
            "plan",
            "storage",
            "store",
            "tasks",
            "telemetry",
            "validate",
            "vending",
        ],
    ),
    (
        "cli",
        &[
            "api",
            "app",
            "auth",
            "client",
            "clock",
            "commit",
            "config",
            "import",
            "inspect",
            "readiness",
            "server",
            "spec",
            "storage",
            "store",
            "telemetry",
            "validate",
            "vending",
            "verify",
        ],
    ),
    ("main", &["cli"]),
];

/// Crate, and the modules that may name it.
const CRATES: [(&str, &[&str]); 15] = [
    ("aws_lc_rs", &["auth", "vending"]),
    ("sqlx", &["store"]),
    ("object_store", &["storage"]),
    ("axum", &["api", "server"]),
    ("hyper", &["server"]),
    ("tokio_rustls", &["server"]),
    ("tower_http", &["api"]),
    ("roaring", &["dv"]),
    (
        "tokio",
        &[
            "app",
            "auth",
            "cli",
            "client",
            "commit",
            "server",
            "storage",
            "store",
            "tasks",
            "telemetry",
            "main",
            "vending",
        ],
    ),
    ("moka", &["app", "auth", "plan", "validate", "storage", "vending"]),
    ("clap", &["cli", "config", "main", "vending"]),
    ("quick_xml", &["vending"]),
    ("reqwest", &["auth", "client", "server", "vending"]),
    ("jsonwebtoken", &["auth"]),
    ("argon2", &["auth"]),
];

#[test]
fn modules_use_only_what_they_may() {
    let faults: Vec<String> = sources().iter().flat_map(|(module, path, text)| faults(module, path, text)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_broken_direction_is_found() {
    let text = "use crate::api::error;\nlet pool: sqlx::AnyPool;\n#[cfg(test)]\nmod tests { use crate::server; }";
    let found = faults("spec", Path::new("src/spec/x.rs"), text);
    assert_eq!(found, ["src/spec/x.rs: `spec` may not use `crate::api`", "src/spec/x.rs: `spec` may not use `sqlx`"]);
}

/// The parts of `validate`, each of which uses only parts before it.
const VALIDATE: [&str; 13] = [
    "read", "level", "finding", "facts", "cache", "rules", "checks", "levels", "gather", "report", "judge", "page",
    "at_rest",
];

#[test]
fn the_parts_of_validate_build_on_each_other() {
    let place = |part: &str| VALIDATE.iter().position(|known| *known == part);
    let mut faults = Vec::new();
    for (_, path, text) in sources().iter().filter(|(module, _, _)| module == "validate") {
        let below = path.strip_prefix("src/validate").unwrap();
        let part = below.components().next().unwrap().as_os_str().to_string_lossy();
        let part = part.trim_end_matches(".rs");
        if part == "mod" {
            continue;
        }
        let own = place(part).unwrap_or_else(|| panic!("{} is not listed", path.display()));
        let code = without_tests_and_comments(text);
        // `super` is `validate` in its own files and in those that open a folder of it.
        let is_top = below.components().count() == 1 || below.ends_with("mod.rs");
        let relative: Vec<&str> = if is_top { names_after(&code, "super::").collect() } else { Vec::new() };
        for used in names_after(&code, "crate::validate::").chain(relative) {
            if place(used).is_some_and(|used| used > own) {
                faults.push(format!("{}: `{part}` may not use `{used}`", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_module_is_listed() {
    for (module, path, _) in sources() {
        assert!(
            MAY_USE.iter().any(|(known, _)| *known == module) || module == "lib",
            "{} is not listed",
            path.display()
        );
    }
}

fn faults(module: &str, path: &Path, text: &str) -> Vec<String> {
    let Some((_, may_use)) = MAY_USE.iter().find(|(known, _)| *known == module) else { return Vec::new() };
    let code = without_tests_and_comments(text);
    let mut found = Vec::new();
    for used in names_after(&code, "crate::").chain(names_after(&code, "guillemot::")) {
        if used != module && !may_use.contains(&used) {
            found.push(format!("{}: `{module}` may not use `crate::{used}`", path.display()));
        }
    }
    for (name, allowed) in CRATES {
        let named = code.match_indices(&format!("{name}::")).any(|(at, _)| {
            // `crate::sqlx::` or `my_sqlx::` are other things.
            !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        });
        if named && !allowed.contains(&module) {
            found.push(format!("{}: `{module}` may not use `{name}`", path.display()));
        }
    }
    found
}

/// Unit tests may reach further than the code they test; comments may name anything.
fn without_tests_and_comments(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn names_after<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(prefix)
        .skip(1)
        .flat_map(|rest| {
            let word =
                |text: &'a str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            match rest.strip_prefix('{') {
                // `use crate::{api, commit::x};`
                Some(group) => group.split('}').next().unwrap_or_default().split(',').map(|n| word(n.trim())).collect(),
                None => vec![word(rest)],
            }
        })
        .filter(|name| !name.is_empty())
}

/// Every source file with its top-level module.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs") && !path.components().any(|part| part.as_os_str() == "tests"))
        .map(|path| {
            let below = path.strip_prefix(&root).unwrap();
            let first = below.components().next().unwrap().as_os_str().to_string_lossy();
            let module = first.trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (module, Path::new("src").join(below), text)
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
