//! Whatever the bytes are, reading them ends, does not panic, and gives no more records than there are lines. Lines of the
//! usual form, which only a tolerant reader takes without a second look, say the same to one that looks twice.
#![no_main]

use gristmill_format::{Header, Line, Reader, Stance};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let lines = data.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() + 1;
    for stance in [Stance::Tolerant, Stance::Strict, Stance::Practised] {
        let mut reader = Reader::with_stance(data, stance);
        let (mut records, mut last_line, mut events) = (0, 0, 1);
        let mut failed = false;
        while let Some(item) = reader.next() {
            assert!(!failed, "nothing comes after an error of {stance:?}");
            let location = match item {
                Ok(record) => {
                    records += 1;
                    assert!(record.location.line > last_line, "records come in the order of lines");
                    last_line = record.location.line;
                    match record.line {
                        Line::Header(Header::Events(names)) => events = names.len().min(64),
                        Line::Cost(line) => {
                            let mut places = vec![0; events];
                            let result = line.costs.decode(&mut places);
                            let mut sums = vec![0; events];
                            assert_eq!(line.costs.add_to(&mut sums), result);
                            assert_eq!(sums, places);
                        }
                        Line::Name(key, name) => {
                            let _ = reader.expand(key.space(), &name);
                        }
                        _ => {}
                    }
                    record.location
                }
                Err(error) => {
                    failed = stance != Stance::Tolerant;
                    error.location()
                }
            };
            assert!(location.byte <= data.len() as u64);
        }
        assert!(records <= lines, "{records} records of {lines} lines");
    }

    // A strict reader ends at the first deviation; until then both must agree.
    let tolerant = Reader::new(data).map_while(Result::ok);
    for (once, twice) in tolerant.zip(Reader::with_stance(data, Stance::Practised).map_while(Result::ok)) {
        assert_eq!(once.line, twice.line);
    }
});
