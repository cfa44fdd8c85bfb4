use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use apache_avro::types::Value as Avro;

use super::codec::Codec;
use super::schema::Type;
use super::*;

/// Every Avro file of the fixture tables: lists (`snap-*`) and manifests of Spark, Iceberg Java, DuckDB and Sail.
fn avro_files() -> (Vec<PathBuf>, Vec<PathBuf>) {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "avro") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures")), &mut files);
    files.sort();
    files.into_iter().partition(|path| path.file_name().unwrap().to_str().unwrap().starts_with("snap-"))
}

/// The field `name` of a record as `apache-avro` reads it, unions opened.
fn field<'a>(row: &'a Avro, name: &str) -> Option<&'a Avro> {
    let Avro::Record(fields) = row else { panic!("no record: {row:?}") };
    match fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)? {
        Avro::Union(_, value) => (**value != Avro::Null).then_some(value),
        value => Some(value),
    }
}

fn number(row: &Avro, name: &str) -> Option<i64> {
    field(row, name).map(|value| match value {
        Avro::Int(value) | Avro::Date(value) => i64::from(*value),
        Avro::Long(value) => *value,
        other => panic!("{name}: {other:?}"),
    })
}

fn text<'a>(row: &'a Avro, name: &str) -> Option<&'a str> {
    field(row, name).map(|value| match value {
        Avro::String(value) => value.as_str(),
        other => panic!("{name}: {other:?}"),
    })
}

fn rows(bytes: &[u8]) -> Vec<Avro> {
    apache_avro::Reader::new(bytes).unwrap().map(Result::unwrap).collect()
}

#[test]
fn lists_read_as_apache_avro_reads_them() {
    let (lists, _) = avro_files();
    assert!(lists.len() > 100);
    for path in lists {
        let bytes = fs::read(&path).unwrap();
        let list = ManifestList::parse(&bytes, Limits::default()).unwrap_or_else(|fault| panic!("{path:?}: {fault}"));
        let rows = rows(&bytes);
        assert_eq!(list.manifests.len(), rows.len());
        assert!(list.missing_fields.is_empty());
        for (ours, row) in list.manifests.iter().zip(&rows) {
            assert_eq!(Some(&*ours.manifest_path), text(row, "manifest_path"));
            assert_eq!(Some(ours.manifest_length), number(row, "manifest_length"));
            assert_eq!(Some(i64::from(ours.partition_spec_id)), number(row, "partition_spec_id"));
            assert_eq!(ours.content == ManifestContent::Deletes, number(row, "content") == Some(1));
            assert_eq!(Some(ours.sequence_number), number(row, "sequence_number"));
            assert_eq!(Some(ours.min_sequence_number), number(row, "min_sequence_number"));
            assert_eq!(ours.added_snapshot_id, number(row, "added_snapshot_id"));
            assert_eq!(ours.added_files_count, number(row, "added_files_count"));
            assert_eq!(ours.existing_files_count, number(row, "existing_files_count"));
            assert_eq!(ours.deleted_files_count, number(row, "deleted_files_count"));
            assert_eq!(ours.added_rows_count, number(row, "added_rows_count"));
            assert_eq!(ours.existing_rows_count, number(row, "existing_rows_count"));
            assert_eq!(ours.deleted_rows_count, number(row, "deleted_rows_count"));
            assert_eq!(ours.first_row_id, number(row, "first_row_id"));
            let Some(Avro::Array(summaries)) = field(row, "partitions") else {
                assert_eq!(ours.partitions, None);
                continue;
            };
            assert_eq!(ours.partitions.as_ref().unwrap().len(), summaries.len());
            for (ours, summary) in ours.partitions.iter().flatten().zip(summaries) {
                let bytes = |name| {
                    field(summary, name).map(|value| match value {
                        Avro::Bytes(bytes) => bytes.clone().into_boxed_slice(),
                        other => panic!("{other:?}"),
                    })
                };
                assert_eq!(field(summary, "contains_null"), Some(&Avro::Boolean(ours.contains_null)));
                assert_eq!(ours.lower_bound, bytes("lower_bound"));
                assert_eq!(ours.upper_bound, bytes("upper_bound"));
            }
        }
    }
}

#[test]
fn manifests_read_as_apache_avro_reads_them() {
    let (_, manifests) = avro_files();
    assert!(manifests.len() > 150);
    for path in manifests {
        let bytes = fs::read(&path).unwrap();
        let manifest = Manifest::parse(&bytes, Limits::default()).unwrap_or_else(|fault| panic!("{path:?}: {fault}"));
        let rows = rows(&bytes);
        assert_eq!(manifest.entries.len(), rows.len());
        assert!(manifest.metadata.contains_key("partition-spec-id"));
        for (ours, row) in manifest.entries.iter().zip(&rows) {
            assert_eq!(ours.status, Status::from(i32::try_from(number(row, "status").unwrap()).unwrap()));
            assert_eq!(ours.snapshot_id, number(row, "snapshot_id"));
            assert_eq!(ours.sequence_number, number(row, "sequence_number"));
            assert_eq!(ours.file_sequence_number, number(row, "file_sequence_number"));
            let (ours, row) = (&ours.data_file, field(row, "data_file").unwrap());
            assert_eq!(ours.content, FileContent::from(i32::try_from(number(row, "content").unwrap()).unwrap()));
            assert_eq!(Some(&*ours.file_path), text(row, "file_path"));
            assert_eq!(ours.file_format, FileFormat::from(text(row, "file_format").unwrap()));
            assert_eq!(Some(ours.record_count), number(row, "record_count"));
            assert_eq!(Some(ours.file_size_in_bytes), number(row, "file_size_in_bytes"));
            assert_eq!(ours.first_row_id, number(row, "first_row_id"));
            assert_eq!(ours.referenced_data_file.as_deref(), text(row, "referenced_data_file"));
            assert_eq!(ours.content_offset, number(row, "content_offset"));
            assert_eq!(ours.content_size_in_bytes, number(row, "content_size_in_bytes"));
            assert_eq!(ours.equality_ids.is_some(), field(row, "equality_ids").is_some());
            let Some(Avro::Record(partition)) = field(row, "partition") else { panic!("no partition") };
            assert_eq!(manifest.partition_columns.len(), partition.len());
            for (column, (name, _)) in manifest.partition_columns.iter().zip(partition) {
                let theirs = number(field(row, "partition").unwrap(), name).map_or(Value::Null, Value::Integer);
                assert_eq!(*ours.partition.value(column.field_id), theirs);
            }
        }
    }
}

/// A map by field id, as `apache-avro` reads it.
fn by_id<T>(row: &Avro, name: &str, value: impl Fn(&Avro) -> T) -> Option<Vec<(i32, T)>> {
    let Avro::Array(items) = field(row, name)? else { panic!("{name} is no array") };
    let pair = |item| (i32::try_from(number(item, "key").unwrap()).unwrap(), value(item));
    Some(items.iter().map(pair).collect())
}

#[test]
fn details_read_as_apache_avro_reads_them() {
    let bounds = |bounds: &Option<Bounds>| bounds.as_ref().map(|b| b.iter().map(|(id, v)| (id, v.to_vec())).collect());
    let counts = |counts: &Option<Counts>| counts.as_ref().map(|c| c.iter().collect::<Vec<_>>());
    let (_, manifests) = avro_files();
    let mut with_bounds = 0;
    for path in manifests {
        let bytes = fs::read(&path).unwrap();
        let manifest = Manifest::parse_with_details(&bytes, Limits::default()).unwrap();
        for (entry, row) in manifest.entries.iter().zip(rows(&bytes)) {
            let (ours, row) = (entry.data_file.details.as_ref().unwrap(), field(&row, "data_file").unwrap());
            let long = |item: &Avro| number(item, "value").unwrap();
            let bytes = |item: &Avro| match field(item, "value") {
                Some(Avro::Bytes(value)) => value.clone(),
                other => panic!("{other:?}"),
            };
            assert_eq!(counts(&ours.column_sizes), by_id(row, "column_sizes", long));
            assert_eq!(counts(&ours.value_counts), by_id(row, "value_counts", long));
            assert_eq!(counts(&ours.null_value_counts), by_id(row, "null_value_counts", long));
            assert_eq!(counts(&ours.nan_value_counts), by_id(row, "nan_value_counts", long));
            assert_eq!(bounds(&ours.lower_bounds), by_id(row, "lower_bounds", bytes), "{path:?}");
            assert_eq!(bounds(&ours.upper_bounds), by_id(row, "upper_bounds", bytes));
            with_bounds += usize::from(ours.lower_bounds.as_ref().is_some_and(|b| b.get(1).is_some()));
            assert_eq!(ours.split_offsets.is_some(), field(row, "split_offsets").is_some());
        }
        let plain = Manifest::parse(&bytes, Limits::default()).unwrap();
        let mut stripped = manifest;
        stripped.entries.iter_mut().for_each(|entry| entry.data_file.details = None);
        assert_eq!(stripped, plain);
    }
    assert!(with_bounds > 50, "{with_bounds}");
}

/// A truncated container is an error, unless it ends with a whole block: then it is a file with fewer rows.
#[test]
fn truncations_are_errors() {
    let (lists, manifests) = avro_files();
    for path in lists.iter().step_by(90).chain(manifests.iter().step_by(120)) {
        let bytes = fs::read(path).unwrap();
        let mut accepted = 0;
        // The schema's text is long and all alike; what follows it is cut at every byte.
        let header = bytes.len().saturating_sub(1200);
        for length in (0..header).step_by(17).chain(header..bytes.len()) {
            let list = ManifestList::parse(&bytes[..length], Limits::default()).map(|list| list.manifests.len());
            let manifest = Manifest::parse(&bytes[..length], Limits::default()).map(|manifest| manifest.entries.len());
            for rows in [list, manifest].into_iter().flatten() {
                assert_eq!(rows, 0, "these files have one block");
                accepted += 1;
            }
        }
        assert_eq!(accepted, 1, "the bare header");
    }
}

/// One list and one manifest, cut off at every byte and with every byte changed. A changed byte may be another number
/// or letter; that it is seen is not promised, that it harms nothing is.
#[test]
fn neither_cuts_nor_changes_of_any_byte_do_harm() {
    let smallest = |paths: Vec<PathBuf>| paths.iter().map(|path| fs::read(path).unwrap()).min_by_key(Vec::len).unwrap();
    let (lists, manifests) = avro_files();
    let list = smallest(lists);
    let manifest = smallest(manifests);
    let rows_of_list = |bytes: &[u8]| ManifestList::parse(bytes, Limits::default()).map(|list| list.manifests.len());
    let rows_of_manifest = |bytes: &[u8]| Manifest::parse(bytes, Limits::default()).map(|found| found.entries.len());
    for (good, rows) in [(list, &rows_of_list as &dyn Fn(&[u8]) -> _), (manifest, &rows_of_manifest)] {
        assert!(rows(&good).unwrap() > 0);
        let whole: Vec<usize> = (0..good.len()).filter(|length| rows(&good[..*length]).is_ok()).collect();
        assert_eq!(whole.len(), 1, "only the bare header is a file of its own");
        let sync = good.len() - 16..good.len();
        for at in 0..good.len() {
            let mut changed = good.clone();
            changed[at] ^= 1 << (at % 8);
            let read = rows(&changed);
            assert!(read.is_err() || !(at < 4 || sync.contains(&at)), "byte {at}: magic and sync marks are compared");
        }
    }
}

#[test]
fn no_changed_byte_makes_it_panic() {
    let (lists, manifests) = avro_files();
    for path in lists.iter().step_by(90).chain(manifests.iter().step_by(120)) {
        let bytes = fs::read(path).unwrap();
        for at in (0..bytes.len()).step_by(11) {
            for with in [0x00, 0x7f, 0xff, bytes[at] ^ 0x02] {
                let mut changed = bytes.clone();
                changed[at] = with;
                let _ = ManifestList::parse(&changed, Limits::default());
                let _ = Manifest::parse(&changed, Limits::default());
            }
        }
    }
}

fn long(value: i64) -> Vec<u8> {
    let mut bits = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let mut out = Vec::new();
    while bits >= 0x80 {
        out.push((bits & 0x7f) as u8 | 0x80);
        bits >>= 7;
    }
    out.push(u8::try_from(bits).unwrap());
    out
}

fn length(bytes: &[u8]) -> Vec<u8> {
    long(i64::try_from(bytes.len()).unwrap())
}

fn string(text: &str) -> Vec<u8> {
    [length(text.as_bytes()), text.as_bytes().to_vec()].concat()
}

/// A container file with one block as it is given.
fn container(schema: &str, codec: &str, count: i64, block: &[u8]) -> Vec<u8> {
    let sync = [7_u8; 16];
    let mut file = b"Obj\x01".to_vec();
    file.extend(long(2));
    for (key, value) in [("avro.schema", schema), ("avro.codec", codec)] {
        file.extend(string(key));
        file.extend(string(value));
    }
    file.extend(long(0));
    file.extend(sync);
    file.extend(long(count));
    file.extend(length(block));
    file.extend(block);
    file.extend(sync);
    file
}

fn compressed(codec: &str, data: &[u8]) -> Vec<u8> {
    match codec {
        "null" => data.to_vec(),
        "deflate" => {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "zstandard" => zstd::encode_all(data, 1).unwrap(),
        "snappy" => {
            let mut block = snap::raw::Encoder::new().compress_vec(data).unwrap();
            block.extend(crc32fast::hash(data).to_be_bytes());
            block
        }
        other => panic!("{other}"),
    }
}

const CODECS: [&str; 4] = ["null", "deflate", "zstandard", "snappy"];
const SMALL_LIST: &str = r#"{"type":"record","name":"m","fields":[
    {"name":"p","type":"string","field-id":500},
    {"name":"l","type":"long","field-id":501},
    {"name":"s","type":"int","field-id":502}]}"#;

fn list(file: &[u8]) -> Result<ManifestList, ParseError> {
    ManifestList::parse(file, Limits::default())
}

#[test]
fn all_codecs_are_read_and_checked() {
    let rows = [string("gs://b/m1.avro"), long(17), long(3)].concat();
    for codec in CODECS {
        let block = compressed(codec, &rows);
        let read = list(&container(SMALL_LIST, codec, 1, &block)).unwrap();
        assert_eq!((&*read.manifests[0].manifest_path, read.manifests[0].partition_spec_id), ("gs://b/m1.avro", 3));
        assert_eq!(read.manifests[0].content, ManifestContent::Data);
        assert!(read.missing_fields.contains(&503));
        let longer = [&block[..], b"x"].concat();
        let accepted = list(&container(SMALL_LIST, codec, 1, &longer)).is_ok();
        assert_eq!(accepted, codec == "deflate", "{codec}: a byte more");
        assert!(list(&container(SMALL_LIST, codec, 1, &block[..block.len() - 1])).is_err(), "{codec}: a byte less");
    }
    let fault = list(&container(SMALL_LIST, "bzip2", 1, &rows)).unwrap_err();
    assert_eq!(fault.found, "bzip2");
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 50 << 20];
    for codec in ["deflate", "zstandard", "snappy"] {
        let block = compressed(codec, &zeros);
        let limits = Limits { decompressed_bytes: 1 << 20, ..Limits::default() };
        let fault = ManifestList::parse(&container(SMALL_LIST, codec, 1, &block), limits).unwrap_err();
        assert!(fault.found.contains("more than 1048576 bytes"), "{codec}: {fault}");
        // Many rows of three zero bytes: a path of no length, a length of 0, a spec of 0.
        let fault = list(&container(SMALL_LIST, codec, 17 << 20, &block)).unwrap_err();
        let bounded = fault.expected.starts_with("at most") || fault.found.starts_with("more than");
        assert!(bounded, "{codec}: {fault}");
    }
    // Counts and lengths that no file has.
    for number in [i64::MAX, i64::MIN, -1, 1 << 40] {
        assert!(list(&container(SMALL_LIST, "null", number, &[0, 0, 0])).is_err());
        let path = [long(number), vec![0; 20]].concat();
        assert!(list(&container(SMALL_LIST, "null", 1, &path)).is_err());
    }
    let claims = [[0xff, 0xff, 0xff, 0xff, 0x0f].as_slice(), &[0; 20]].concat();
    assert!(list(&container(SMALL_LIST, "snappy", 1, &claims)).is_err());
}

/// A kilobyte must not become megabytes, whatever the limit for large files is.
#[test]
fn a_small_file_holds_little() {
    // Zstandard writes 128 KiB of zeros in four bytes.
    let zeros = vec![0; 30 << 20];
    let block = compressed("zstandard", &zeros);
    let file = container(SMALL_LIST, "zstandard", 1000, &block);
    assert!(file.len() < 4000, "{} bytes", file.len());
    let fault = list(&file).unwrap_err();
    assert_eq!(fault.found, format!("more than {} bytes of decompressed data", 1032 * file.len()));
    // What deflate can write is not touched by that.
    let zeros = vec![0; 3 * 3900];
    let block = compressed("deflate", &zeros);
    assert_eq!(list(&container(SMALL_LIST, "deflate", 3900, &block)).unwrap().manifests.len(), 3900);
}

#[test]
fn schemas_that_would_grow_or_loop_are_refused() {
    let mut doubling = vec![r#"{"name":"f0","type":{"type":"record","name":"r0","fields":[]}},"#.to_owned()];
    for n in 1..40 {
        let fields = ["a", "b"].map(|name| format!(r#"{{"name":"{name}","type":"r{}"}}"#, n - 1)).join(",");
        doubling.push(format!(r#"{{"name":"f{n}","type":{{"type":"record","name":"r{n}","fields":[{fields}]}}}},"#));
    }
    let doubling = SMALL_LIST.replacen("[\n", &format!("[{}", doubling.concat()), 1);
    assert!(Type::parse(&doubling).unwrap_err().contains("more than"), "doubling");
    // Records that wrap each other are remembered each with all that is in it.
    let columns: Vec<_> = (0..1000).map(|n| format!(r#"{{"name":"c{n}","type":"int"}}"#)).collect();
    let wide = format!(r#"{{"type":"record","name":"wide","fields":[{}]}}"#, columns.join(","));
    let wrapped = (0..25)
        .fold(wide, |of, n| format!(r#"{{"type":"record","name":"w{n}","fields":[{{"name":"x","type":{of}}}]}}"#));
    assert!(Type::parse(&wrapped).unwrap_err().contains("more than"), "wrapped");
    let recursive = r#"{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]}"#;
    assert!(Type::parse(recursive).unwrap_err().contains("unknown Avro type `r`"));
    let deep = format!("{}{}", r#"{"type":"array","items":"#.repeat(100_000), "1");
    assert!(Type::parse(&deep).is_err());
    let empty_items = r#"{"type":"array","items":{"type":"record","name":"e","fields":[{"name":"n","type":"null"}]}}"#;
    assert!(Type::parse(empty_items).unwrap_err().contains("take no bytes"));
}

#[test]
fn columns_are_found_by_name_when_no_field_has_an_id() {
    let schema = r#"{"type":"record","name":"m","fields":[
        {"name":"partition_spec_id","type":"int"},{"name":"unknown","type":["null","double"]},
        {"name":"manifest_path","type":["null","string"]},{"name":"manifest_length","type":"long"},
        {"name":"added_data_files_count","type":["null","int"]}]}"#;
    let row = [long(4), long(0), long(1), string("a"), long(9), long(1), long(6)].concat();
    let read = list(&container(schema, "null", 1, &row)).unwrap();
    assert_eq!((read.manifests[0].partition_spec_id, read.manifests[0].added_files_count), (4, Some(6)));
}

#[test]
fn schemas_that_lack_or_mistype_a_column_are_refused_by_its_name() {
    let without = SMALL_LIST.replace("502", "602");
    assert_eq!(
        list(&container(&without, "null", 0, &[])).unwrap_err().expected,
        "field 502 (partition_spec_id) in the schema"
    );
    let mistyped = SMALL_LIST.replace(r#""int""#, r#""string""#);
    assert_eq!(list(&container(&mistyped, "null", 0, &[])).unwrap_err().found, "Avro type string");
    let twice = SMALL_LIST.replace("501", "500").replace("\"long\"", "\"string\"");
    assert_eq!(list(&container(&twice, "null", 0, &[])).unwrap_err().expected, "field 500 once");
    let null_path = SMALL_LIST.replacen("\"string\"", "[\"null\",\"string\"]", 1);
    let fault = list(&container(&null_path, "null", 1, &[0, 0, 0])).unwrap_err();
    assert_eq!(fault.expected, "a value for manifest_path");
}

#[test]
fn partition_values_compare_by_what_they_mean() {
    assert_eq!(Value::float(f64::NAN), Value::float(-f64::NAN));
    assert_ne!(Value::float(-0.0), Value::float(0.0));
    assert_eq!(Value::decimal(&[0xff, 0xff, 0x85]), Value::decimal(&[0x85]));
    assert_eq!(Value::decimal(&[0x00, 0x85]), Value::Decimal(0x85));
    assert_eq!(Value::decimal(&[0x85]), Value::Decimal(-123));
    assert_eq!(Value::decimal(&[]), Value::Decimal(0));
    assert_eq!(Value::decimal(&i128::MAX.to_be_bytes()), Value::Decimal(i128::MAX));
    assert_eq!(Value::decimal(&i128::MIN.to_be_bytes()), Value::Decimal(i128::MIN));
    assert_eq!(Value::decimal(&[&[0_u8][..], &i128::MAX.to_be_bytes()].concat()), Value::Decimal(i128::MAX));
    assert!(matches!(Value::decimal(&[&[0x7f_u8][..], &[0; 16]].concat()), Value::Bytes(_)));
    let tuple = Partition::new(vec![(1001, Value::Null), (1000, Value::Integer(7))]);
    assert_eq!(tuple, Partition::new(vec![(1000, Value::Integer(7))]));
    assert_eq!((tuple.value(1001), tuple.to_string()), (&Value::Null, "{1000: 7}".to_owned()));
}

#[test]
fn bounds_compare_as_iceberg_writes_them() {
    use std::cmp::Ordering::{Equal, Greater, Less};
    assert_eq!(Value::Integer(7).compare_with_bound(&7_i32.to_le_bytes()), Some(Equal));
    assert_eq!(Value::Integer(-7).compare_with_bound(&7_i64.to_le_bytes()), Some(Less));
    assert_eq!(Value::Integer(7).compare_with_bound(&[7]), None);
    assert_eq!(Value::Text("b".into()).compare_with_bound(b"ab"), Some(Greater));
    assert_eq!(Value::float(1.5).compare_with_bound(&1.5_f32.to_le_bytes()), Some(Equal));
    assert_eq!(Value::Decimal(-5).compare_with_bound(&[0xfa]), Some(Greater));
    assert_eq!(Value::Bytes(vec![0; 16].into()).compare_with_bound(&[0; 16]), None);
    assert_eq!(Value::Null.compare_with_bound(&[]), None);
}

#[test]
fn codecs_are_known_by_their_avro_names() {
    assert_eq!(CODECS.map(Codec::parse), [Codec::Null, Codec::Deflate, Codec::Zstandard, Codec::Snappy].map(Some));
}
