//! Reading any bytes ends, does not panic, and yields no more records than lines. Lines on the fast path of the tolerant
//! reader have the same content as on the slow one, and the same when they are skimmed.
#![no_main]

use gristmill_format::raw::Skim;
use gristmill_format::{Cost, CostRole, Costs, Header, Line, Location, NameKey, Reader, ReadingMode};
use libfuzzer_sys::fuzz_target;

/// The content of lines, skimmed or from records.
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
        let (location, text) = (record.location, record.text());
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

/// The count of cost lines with a single cost, and their sum: of calls, and of others.
#[derive(Default, Debug, PartialEq)]
struct Sums([(u64, Cost); 2]);

impl<'a> Skim<'a> for Sums {
    fn name(&mut self, _: &Reader<'a>, _: Location, _: NameKey, _: u64, _: Option<&'a [u8]>) {}
    fn calls(&mut self, _: &Reader<'a>, _: Location, _: Cost, _: &'a [u8]) {}
    fn jump(&mut self, _: &Reader<'a>, _: Location, _: &'a [u8]) {}

    fn cost(&mut self, _: &Reader<'a>, _: Location, role: CostRole, costs: Costs<'a>, _: &'a [u8]) {
        let mut single = [0];
        if costs.len() == 1 && costs.decode(&mut single).is_ok() && role != CostRole::JumpSource {
            self.add(role, 1, single[0]);
        }
    }

    fn takes_sums(&self, _: CostRole) -> bool {
        true
    }

    fn sum(&mut self, role: CostRole, lines: u64, sum: u64) {
        self.add(role, lines, Cost::from(sum));
    }
}

impl Sums {
    fn add(&mut self, role: CostRole, lines: u64, sum: Cost) {
        let (all_lines, all) = &mut self.0[usize::from(role == CostRole::Call)];
        *all_lines += lines;
        *all += sum;
    }
}

fn sums(data: &[u8], skims: bool) -> Sums {
    let mut sums = Sums::default();
    let mut reader = Reader::new(data).by_number();
    loop {
        if skims {
            reader.skim(data.len(), &mut sums);
        }
        let Some(item) = reader.next() else { return sums };
        if let Ok(record) = item
            && let Line::Cost(line) = record.line
        {
            sums.cost(&reader, record.location, line.role, line.costs, b"");
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let lines = data.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() + 1;
    for mode in [ReadingMode::Tolerant, ReadingMode::Strict, ReadingMode::Practised] {
        let mut reader = Reader::with_mode(data, mode);
        let (mut records, mut last_line, mut events) = (0, 0, 1);
        let mut failed = false;
        while let Some(item) = reader.next() {
            assert!(!failed, "nothing comes after an error of {mode:?}");
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
                    failed = mode != ReadingMode::Tolerant;
                    error.location()
                }
            };
            assert!(location.byte <= data.len() as u64);
        }
        assert!(records <= lines, "{records} records of {lines} lines");
    }

    assert_eq!(said(data, true).0, said(data, false).0);
    assert_eq!(sums(data, true), sums(data, false));

    // A strict reader ends at the first deviation; until then both must agree.
    let tolerant = Reader::new(data).map_while(Result::ok);
    for (once, twice) in tolerant.zip(Reader::with_mode(data, ReadingMode::Practised).map_while(Result::ok)) {
        assert_eq!(once.line, twice.line);
    }
});
