//! The output of a repair is in the published grammar, if anything was changed, and a second repair changes nothing.
#![no_main]

use gristmill_format::{Reader, ReadingMode, Rewrite, repair};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(repaired) = repair(data, &Rewrite::default(), Vec::new()) else { return };
    if repaired.changes.is_empty() {
        assert!(repaired.sink == data, "nothing was changed, but the output is another");
        return;
    }
    for item in Reader::with_mode(&repaired.sink, ReadingMode::Strict) {
        item.expect("the output is strict");
    }
    let again = repair(&repaired.sink, &Rewrite::default(), Vec::new()).expect("the output is a profile");
    assert!(again.sink == repaired.sink, "a second repair gives other bytes");
    assert!(again.changes.is_empty(), "a second repair changes {:?}", again.changes);
});
