//! Secrets that a command is given: in a file or in a variable rather than on the command line, where every process of
//! the machine can read them.

use crate::cli::AnyError;
use std::io::Read;
use std::path::Path;

/// Most bytes of a file with a secret.
const MOST_BYTES: u64 = 1 << 20;

/// The secret in a file, or on standard input for `-`, without line breaks around it. No error quotes it.
pub(super) fn read(path: &Path) -> Result<String, AnyError> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MOST_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
    };
    read.map_err(|error| format!("{}: {error}", path.display()))?;
    match text.trim() {
        "" => Err(format!("{}: expected a secret, found nothing", path.display()).into()),
        secret => Ok(secret.to_owned()),
    }
}
