//! What the strict reading accepts, the tolerant one reads alike and without an error.
#![no_main]

use gristmill_format::{Reader, Stance};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for stance in [Stance::Strict, Stance::Practised] {
        let Ok(strict) = Reader::with_stance(data, stance).collect::<Result<Vec<_>, _>>() else { continue };
        let tolerant =
            Reader::new(data).collect::<Result<Vec<_>, _>>().expect("the strict reading had no error");
        assert_eq!(strict, tolerant);
        for (strict, tolerant) in strict.iter().zip(&tolerant) {
            assert_eq!((strict.location, strict.part), (tolerant.location, tolerant.part));
        }
    }
});
