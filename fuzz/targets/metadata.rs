//! A metadata file of a table or of a view: what is accepted is written and read back the same.
#![no_main]

use guillemot_fuzz::limits;
use guillemot_fuzz::spec::{TableMetadata, ViewMetadata};

libfuzzer_sys::fuzz_target!(|document: &[u8]| {
    limits::hold(document, 300, |document| {
        if let Ok(table) = TableMetadata::parse(document) {
            let again = TableMetadata::parse(&table.to_bytes()).expect("what is written is read");
            assert!(again.to_bytes() == table.to_bytes(), "a table changes when it is written");
        }
    });
    limits::hold(document, 300, |document| {
        if let Ok(view) = ViewMetadata::parse(document) {
            let again = ViewMetadata::parse(&view.to_bytes()).expect("what is written is read");
            assert!(again.to_bytes() == view.to_bytes(), "a view changes when it is written");
        }
    });
});
