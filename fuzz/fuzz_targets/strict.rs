//! The tolerant reader reads every file that a strict one accepts alike and without an error.
#![no_main]

use gristmill_format::{Reader, ReadingMode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for mode in [ReadingMode::Strict, ReadingMode::Practised] {
        let Ok(strict) = Reader::with_mode(data, mode).collect::<Result<Vec<_>, _>>() else { continue };
        let tolerant =
            Reader::new(data).collect::<Result<Vec<_>, _>>().expect("the strict reading had no error");
        assert_eq!(strict, tolerant);
        for (strict, tolerant) in strict.iter().zip(&tolerant) {
            assert_eq!((strict.location, strict.part), (tolerant.location, tolerant.part));
        }
    }
});
