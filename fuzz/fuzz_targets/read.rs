//! Whatever the bytes are, reading them ends, does not panic, and gives no more records than there are lines. Lines of the
//! usual form, which only a tolerant reader takes without a second look, say the same to one that looks twice, and the same
//! without being records.
#![no_main]

use gristmill_format::{Cost, CostRole, Costs, Header, Line, Location, NameKey, Reader, Skim, Stance};
use libfuzzer_sys::fuzz_target;

/// What lines say, whether they are skimmed or come as records.
#[derive(Default)]
struct Said<'a>(Vec<(Location, Saying<'a>)>);

#[derive(Debug, PartialEq)]
enum Saying<'a> {
    Name(NameKey, u64, Option<&'a [u8]>),
    Calls(Cost, &'a [u8]),
    Jump(&'a [u8]),
    Cost(CostRole, Costs<'a>, &'a [u8]),
}

impl<'a> Skim<'a> for Said<'a> {
    fn name(&mut self, _: &Reader<'a>, at: Location, key: NameKey, number: u64, text: Option<&'a [u8]>) {
        self.0.push((at, Saying::Name(key, number, text)));
    }

    fn calls(&mut self, _: &Reader<'a>, at: Location, count: Cost, text: &'a [u8]) {
        self.0.push((at, Saying::Calls(count, text)));
    }

    fn jump(&mut self, _: &Reader<'a>, at: Location, text: &'a [u8]) {
        self.0.push((at, Saying::Jump(text)));
    }

    fn cost(&mut self, _: &Reader<'a>, at: Location, role: CostRole, costs: Costs<'a>, text: &'a [u8]) {
        self.0.push((at, Saying::Cost(role, costs, text)));
    }
}

fn said(data: &[u8], skims: bool) -> Said<'_> {
    let mut said = Said::default();
    let mut reader = Reader::new(data).by_number();
    loop {
        if skims {
            reader.skim(data.len(), &mut said);
        }
        let Some(item) = reader.next() else { return said };
        let Ok(record) = item else { continue };
        let (location, text) = (record.location, record.spelling.text().unwrap_or_default());
        match record.line {
            Line::Name(key, name) => {
                if let Some(number) = name.id {
                    said.name(&reader, location, key, number, name.text);
                }
            }
            Line::Calls(calls) => said.calls(&reader, location, calls.count, text),
            Line::Jump(_) => said.jump(&reader, location, text),
            Line::Cost(line) => said.cost(&reader, location, line.role, line.costs, text),
            _ => {}
        }
    }
}

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

    assert_eq!(said(data, true).0, said(data, false).0);

    // A strict reader ends at the first deviation; until then both must agree.
    let tolerant = Reader::new(data).map_while(Result::ok);
    for (once, twice) in tolerant.zip(Reader::with_stance(data, Stance::Practised).map_while(Result::ok)) {
        assert_eq!(once.line, twice.line);
    }
});
