use super::{fixture, guillemot, text};

fn file(table: &str, part: &str, end: &str) -> String {
    let folder = fixture(table).join(part);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = paths.filter(|path| text(path).ends_with(end)).min().unwrap();
    text(&found).to_owned()
}

#[test]
fn each_kind_of_file_is_described() {
    for (part, end, first) in [
        ("data", ".puffin", "Puffin file, "),
        ("metadata", "-m0.avro", "Manifest, "),
        ("metadata", ".metadata.json", "Metadata file, "),
    ] {
        let ran = guillemot(&["inspect", &file("t02_partitioned", part, end)]);
        assert_eq!((ran.code, ran.out.starts_with(first)), (0, true), "{} {}", ran.out, ran.err);
    }
    let uri = format!("file://{}", file("seed_v3", "data", ".puffin"));
    assert_eq!(guillemot(&["inspect", &uri]).code, 0);
}

#[test]
fn a_broken_file_names_its_byte_and_a_missing_one_is_no_verdict() {
    let folder = fixture("corrupt/blob-crc/data");
    let puffin = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let ran = guillemot(&["inspect", text(&puffin)]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("BROKEN dv-crc at byte "), "{}", ran.out);
    let missing = guillemot(&["inspect", "/no/such/file"]);
    assert_eq!((missing.code, missing.out.as_str()), (2, ""));
    assert!(missing.err.contains("/no/such/file does not exist"), "{}", missing.err);
}
