//! A Puffin file: its first bytes, its footer from the whole file and from its end.
#![no_main]

use guillemot_fuzz::{limits, puffin};

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    limits::hold(file, 200, |file| {
        let size = file.len() as u64;
        let head = puffin::check_head(file);
        let whole = puffin::footer(file, size);
        let Ok(length) = puffin::footer_length(file, size) else {
            assert!(whole.is_err(), "a footer of no length");
            return;
        };
        assert!(length <= size, "a footer larger than its file");
        let tail = &file[file.len() - usize::try_from(length).expect("it fits the file")..];
        assert_eq!(puffin::footer(tail, size), whole, "the end of a file says what the file says");
        // What is cut off at its end is no Puffin file, unless a whole one stands before.
        if head.is_ok() && whole.is_ok() && file.len() > 32 {
            for cut in 1..12 {
                let shorter = &file[..file.len() - cut];
                if shorter.ends_with(puffin::MAGIC) {
                    continue;
                }
                assert!(puffin::footer(shorter, size - cut as u64).is_err(), "{cut} bytes cut off");
            }
        }
    });
});
