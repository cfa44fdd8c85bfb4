//! A manifest: with the details of its files, without them, and its live files alone.
#![no_main]

use guillemot_fuzz::limits;
use guillemot_fuzz::manifest::{Limits, Manifest, kind_of, live_files};

/// Deflate can make 1,032 bytes of one, and rows are somewhat larger in memory than in a file.
const MULTIPLE: usize = 5000;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    limits::hold(file, MULTIPLE, |file| drop(Manifest::parse_with_details(file, Limits::default())));
    limits::hold(file, MULTIPLE, |file| drop(kind_of(file)));
    let mut live = Err(());
    limits::hold(file, MULTIPLE, |file| live = live_files(file, Limits::default()).map_err(drop));
    let mut plain = Err(());
    limits::hold(file, MULTIPLE, |file| plain = Manifest::parse(file, Limits::default()).map_err(drop));
    assert_eq!(plain.is_ok(), live.is_ok(), "one reader accepts what the other refuses");
    let (Ok(plain), Ok(live)) = (plain, live) else { return };
    let paths = plain.entries.iter().filter(|entry| entry.is_live()).map(|entry| &entry.data_file.file_path);
    assert!(paths.eq(&live), "other live files");
});
