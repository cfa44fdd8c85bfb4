//! Tables that engines wrote, moved to a test's own warehouse.

use apache_avro::types::Value as Avro;
use apache_avro::{Reader, Writer};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

use super::server::Server;

/// Puts a table of `tests/data/fixtures` into `ns`; every path in its metadata, lists and manifests moves along. Puffin
/// files are put as they are, so their footers name the data files by their old paths.
pub(crate) async fn install(server: &Server, name: &str) -> Value {
    let to = format!("{}/fixtures/{name}", server.warehouse);
    let metadata = lay_out(server, name, &to, str::to_owned).await;
    let body = json!({"name": name, "metadata-location": metadata});
    server.post("/namespaces/ns/register", body).await.expect(200)
}

/// Lays a table of `tests/data/fixtures` out at a place as [`install`] does, and registers it nowhere. Its metadata
/// files are called what `rename` makes of their names. Answers the current one.
pub(crate) async fn lay_out(server: &Server, name: &str, to: &str, rename: impl Fn(&str) -> String) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures");
    let index: Value = serde_json::from_slice(&fs::read(fixtures.join("tables.json")).unwrap()).unwrap();
    let entry = index.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
    let from = entry["location"].as_str().unwrap().to_owned();
    let files: Vec<PathBuf> = files(&fixtures.join(name).join("metadata"));
    let name_of = |file: &Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    let is_json = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "json");
    let json: Vec<String> = files.iter().filter(is_json).map(|file| name_of(file)).collect();
    for file in &files {
        let bytes = fs::read(file).unwrap();
        let (name, bytes) = match file.extension().and_then(|extension| extension.to_str()) {
            Some("avro") => (name_of(file), moved(&bytes, &from, to)),
            Some("json") => {
                let text = String::from_utf8(bytes).unwrap().replace(&from, to);
                let text = json.iter().fold(text, |text, name| text.replace(name.as_str(), &rename(name)));
                (rename(&name_of(file)), text.into_bytes())
            }
            _ => continue,
        };
        server.app.storage.write_new(&format!("{to}/metadata/{name}"), bytes.into()).await.unwrap();
    }
    for puffin in puffins(&fixtures.join(name).join("data")) {
        let inside = puffin.strip_prefix(fixtures.join(name)).unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&puffin).unwrap();
        server.app.storage.write_new(&format!("{to}/{inside}"), bytes.into()).await.unwrap();
    }
    let current = entry["current-metadata"].as_str().unwrap().trim_start_matches("metadata/");
    format!("{to}/metadata/{}", rename(current))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The Puffin files in a folder, at any depth.
fn puffins(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = files(folder).into_iter().partition(|path| path.is_dir());
    let here = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "puffin"));
    here.chain(folders.iter().flat_map(|folder| puffins(folder))).collect()
}

/// An Avro file with one prefix in all its texts replaced.
fn moved(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let reader = Reader::new(bytes).unwrap();
    let schema = reader.writer_schema().clone();
    let mut writer = Writer::new(&schema, Vec::new()).unwrap();
    for (key, value) in reader.user_metadata() {
        writer.add_user_metadata(key.clone(), value).unwrap();
    }
    for row in reader {
        writer.append_value(replaced(row.unwrap(), from, to)).unwrap();
    }
    writer.into_inner().unwrap()
}

fn replaced(value: Avro, from: &str, to: &str) -> Avro {
    let each = |value| replaced(value, from, to);
    match value {
        Avro::String(text) => Avro::String(text.replace(from, to)),
        Avro::Union(branch, value) => Avro::Union(branch, Box::new(each(*value))),
        Avro::Array(items) => Avro::Array(items.into_iter().map(each).collect()),
        Avro::Record(fields) => Avro::Record(fields.into_iter().map(|(name, value)| (name, each(value))).collect()),
        other => other,
    }
}
