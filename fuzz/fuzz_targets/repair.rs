//! The output of repair is in the published grammar, and has nothing left to repair.
#![no_main]

use gristmill_format::{Reader, ReadingMode, Rewrite, repair};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(repaired) = repair(data, &Rewrite::default(), Vec::new()) else { return };
    for item in Reader::with_mode(&repaired.sink, ReadingMode::Strict) {
        item.expect("the output is strict");
    }
    let again = repair(&repaired.sink, &Rewrite::default(), Vec::new()).expect("the output can be repaired");
    assert_eq!(again.sink, repaired.sink);
    assert!(again.changes.is_empty(), "{:?}", again.changes);
});
