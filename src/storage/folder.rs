//! What lies directly in a place. Folders of the local file system are listed here and not by the client library, to
//! which one entry that it cannot take is the end of the whole list.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::error::Error;
use super::location::Location;

/// What lies directly in a place.
#[derive(Debug, Default)]
pub struct Folder {
    /// Places in which something lies.
    pub folders: Vec<Location>,
    /// Objects.
    pub objects: Vec<Location>,
    /// Entries that cannot be used, each with its own location in its error.
    pub faults: Vec<Error>,
}

impl Folder {
    /// Lists a local folder. Links are followed.
    pub(super) fn local(place: &Location) -> Result<Self, Error> {
        let named = place.to_string();
        let mut found = Self::default();
        let entries = match fs::read_dir(format!("/{}", place.key())) {
            Ok(entries) => entries,
            Err(error) if is_nothing(&error) => return Ok(found),
            Err(error) => return Err(Error::from_os(named, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Error::from_os(named.clone(), error))?;
            found.take(place, &entry);
        }
        Ok(found)
    }

    fn take(&mut self, place: &Location, entry: &fs::DirEntry) {
        let name = entry.file_name();
        let invalid = |location, reason: &str| Error::Invalid { location, reason: reason.to_owned() };
        let Some(text) = name.to_str() else {
            self.faults.push(invalid(format!("{place}/{}", shown(&name)), "its name is no UTF-8"));
            return;
        };
        let key = if place.key().is_empty() { text.to_owned() } else { format!("{}/{text}", place.key()) };
        let location = place.with_key(&key);
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        match fs::metadata(entry.path()) {
            Ok(found) if found.is_dir() && is_link && is_around(&entry.path()) => {
                self.faults.push(invalid(location.to_string(), "it is a link to a folder around it"));
            }
            Ok(found) if found.is_dir() => self.folders.push(location),
            Ok(_) if is_remains(text) => {}
            Ok(found) if found.is_file() => self.objects.push(location),
            Ok(_) => self.faults.push(invalid(location.to_string(), "it is neither a file nor a folder")),
            // It was deleted a moment ago; a link to nothing stays one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => {}
            Err(error) => self.faults.push(Error::from_os(location.to_string(), error)),
        }
    }
}

/// Whether there is no such folder.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a link leads to a folder around it, on whichever way it was come to: who follows it goes round in a circle.
fn is_around(link: &Path) -> bool {
    let Ok(target) = link.canonicalize() else { return false };
    link.ancestors().skip(1).any(|folder| folder.canonicalize().is_ok_and(|folder| folder.starts_with(&target)))
}

/// Whether a file is what a write that was cut off left behind: see `Storage::delete_remains`.
fn is_remains(name: &str) -> bool {
    let digits = name.split_once('#').map_or("", |(_, digits)| digits);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name, with `\xff` for what is no UTF-8.
fn shown(name: &OsStr) -> String {
    let chunks = name.as_bytes().utf8_chunks();
    chunks.flat_map(|chunk| [chunk.valid().to_owned(), chunk.invalid().escape_ascii().to_string()]).collect()
}
