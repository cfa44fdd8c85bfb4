//! A manifest list.
#![no_main]

use guillemot_fuzz::limits;
use guillemot_fuzz::manifest::{FileKind, Limits, ManifestList, kind_of};

/// Deflate can make 1,032 bytes of one, and rows are somewhat larger in memory than in a file.
const MULTIPLE: usize = 5000;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let mut kind = None;
    limits::hold(file, MULTIPLE, |file| kind = kind_of(file).ok());
    limits::hold(file, MULTIPLE, |file| {
        if ManifestList::parse(file, Limits::default()).is_ok() {
            assert_eq!(kind, Some(FileKind::List), "a list that is none");
        }
    });
});
