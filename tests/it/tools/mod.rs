//! The tools of the binary, run as people and scripts run them.

mod docs;
mod identity;
mod import;
mod inspect;
mod verify;

use std::path::{Path, PathBuf};
use std::process::Command;

/// How a run of the binary ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the binary, with no setting of the shell that runs the tests.
fn guillemot(arguments: &[&str]) -> Ran {
    guillemot_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

/// The same in a folder.
fn guillemot_in(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guillemot"));
    for (name, _) in std::env::vars() {
        if name.starts_with("GUILLEMOT_") || name.starts_with("STORAGE_EMULATOR") {
            command.env_remove(name);
        }
    }
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder of the fixtures.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
