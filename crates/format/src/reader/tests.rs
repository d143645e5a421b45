//! Lines of the usual form are read in a way of their own, or handed out without being records. Here files are read with
//! it and without it, and nothing may differ: neither records nor errors, nor what the reader tells beside them.

use std::fmt::Write as _;

use super::{PlainRun, Reader, Skim};
use crate::cost::{Cost, Costs};
use crate::error::Error;
use crate::lint::Lint;
use crate::location::Location;
use crate::name::NameKey;
use crate::record::{CostRole, Line, Record};

#[path = "../../tests/support/chance.rs"]
mod chance;
// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../tests/support/files.rs"]
mod files;

use chance::{Numbers, damage, excerpt};
use files::own_files;

/// Everything that a caller can see, item by item.
fn seen(input: &[u8], fast: bool) -> Vec<String> {
    let mut reader = Reader::new(input);
    reader.never_fast = !fast;
    let mut items = Vec::new();
    while let Some(item) = reader.next() {
        let mut text = match &item {
            Ok(record) => format!("{record:?}"),
            Err(error) => format!("{error:?}"),
        };
        if let Ok(record) = &item
            && let Line::Cost(line) = &record.line
        {
            for count in [0, 1, 3, 13] {
                let mut places: Vec<Cost> = vec![7; count];
                let result = line.costs.decode(&mut places);
                write!(text, " {places:?} {result:?}").unwrap();
                let one_by_one = line.costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired));
                let one_by_one: Vec<Cost> = one_by_one.chain(std::iter::repeat(0)).take(count).collect();
                assert_eq!(places, one_by_one, "{}", record.spelling.text().unwrap().escape_ascii());
                let mut sums: Vec<Cost> = vec![7; count];
                assert_eq!(line.costs.add_to(&mut sums), result);
                assert!(sums.iter().zip(&places).all(|(sum, place)| sum - 7 == *place));
            }
        }
        let (context, columns) = (reader.context(), reader.columns());
        write!(text, " {} {} {columns:?} {context:?}", reader.part(), reader.bytes_read()).unwrap();
        items.push(text);
    }
    items
}

/// Writes down what is skimmed, and what comes as a record in the same words.
#[derive(Default)]
struct Said(Vec<String>);

impl Said {
    fn add(&mut self, reader: &Reader<'_>, what: String) {
        self.0.push(format!("{what} {:?} {}", reader.resumption(), reader.bytes_read()));
    }

    fn item<'a>(&mut self, reader: &Reader<'a>, item: Result<Record<'a>, Error>) {
        let record = match item {
            Ok(record) => record,
            Err(error) => return self.add(reader, format!("{error:?}")),
        };
        let (location, text) = (record.location, record.text());
        match record.line {
            Line::Blank if text.is_empty() => {}
            Line::Name(key, name) if name.id.is_some() => {
                assert_eq!(name.defines, name.text.is_some());
                self.name(reader, location, key, name.id.unwrap(), name.text);
            }
            Line::Calls(calls) => self.calls(reader, location, calls.count, text),
            Line::Jump(_) => self.jump(reader, location, text),
            Line::Cost(line) => self.cost(reader, location, line.role, line.costs, text),
            _ => self.add(reader, format!("{record:?}")),
        }
    }
}

impl<'a> Skim<'a> for Said {
    fn name(&mut self, reader: &Reader<'a>, at: Location, key: NameKey, number: u64, text: Option<&'a [u8]>) {
        self.add(reader, format!("{at:?} {key:?} {number} {text:?}"));
    }

    fn calls(&mut self, reader: &Reader<'a>, at: Location, count: Cost, text: &'a [u8]) {
        self.add(reader, format!("{at:?} {count} calls {text:?}"));
    }

    fn jump(&mut self, reader: &Reader<'a>, at: Location, text: &'a [u8]) {
        self.add(reader, format!("{at:?} jump {text:?}"));
    }

    fn cost(&mut self, reader: &Reader<'a>, at: Location, role: CostRole, costs: Costs<'a>, text: &'a [u8]) {
        let sums = [0, 1, 3, 13].map(|count| {
            let mut sums: Vec<Cost> = vec![7; count];
            (costs.add_to(&mut sums), sums)
        });
        self.add(reader, format!("{at:?} {role:?} {costs:?} {sums:?} {text:?}"));
    }
}

/// The same for a sink that adds up lines with a single cost, whether they come as sums or not.
#[derive(Default)]
struct Summed {
    said: Said,
    /// The count of such lines and their sum: of calls, and of others.
    sums: [(u64, Cost); 2],
}

impl Summed {
    fn add_sum(&mut self, role: CostRole, lines: u64, sum: Cost) {
        let (all_lines, all) = &mut self.sums[usize::from(role == CostRole::Call)];
        *all_lines += lines;
        *all += sum;
    }

    fn add(&mut self, reader: &Reader<'_>, what: String) {
        self.said.add(reader, format!("{what} {:?}", self.sums));
    }

    fn item<'a>(&mut self, reader: &Reader<'a>, item: Result<Record<'a>, Error>) {
        if let Ok(Record { line: Line::Cost(line), location, spelling, .. }) = &item {
            let text = spelling.text().unwrap_or_default();
            return self.cost(reader, *location, line.role, line.costs, text);
        }
        let before = self.said.0.len();
        self.said.item(reader, item);
        if self.said.0.len() > before {
            self.add(reader, String::new());
        }
    }
}

impl<'a> Skim<'a> for Summed {
    fn name(&mut self, reader: &Reader<'a>, at: Location, key: NameKey, number: u64, text: Option<&'a [u8]>) {
        self.said.name(reader, at, key, number, text);
        self.add(reader, String::new());
    }

    fn calls(&mut self, reader: &Reader<'a>, at: Location, count: Cost, text: &'a [u8]) {
        self.said.calls(reader, at, count, text);
        self.add(reader, String::new());
    }

    fn jump(&mut self, reader: &Reader<'a>, at: Location, text: &'a [u8]) {
        self.said.jump(reader, at, text);
        self.add(reader, String::new());
    }

    fn cost(&mut self, reader: &Reader<'a>, at: Location, role: CostRole, costs: Costs<'a>, text: &'a [u8]) {
        let mut single = [0];
        if costs.len() == 1 && costs.decode(&mut single).is_ok() && role != CostRole::JumpSource {
            self.add_sum(role, 1, single[0]);
        } else {
            self.said.cost(reader, at, role, costs, text);
            self.add(reader, String::new());
        }
    }

    fn takes_sums(&self, _: CostRole) -> bool {
        true
    }

    fn sum(&mut self, role: CostRole, lines: u64, sum: u64) {
        assert!(lines == 1 || lines > 1 && role == CostRole::SelfCost);
        self.add_sum(role, lines, Cost::from(sum));
    }
}

/// The calls to a sink by a reader that leaves names to its caller, with and without skimming.
fn skimmed<'a, S: Skim<'a> + Default>(
    input: &'a [u8],
    skims: bool,
    take: impl Fn(&mut S, &Reader<'a>, Result<Record<'a>, Error>),
) -> (S, Reader<'a>) {
    let mut reader = Reader::new(input).by_number();
    reader.never_fast = !skims;
    let mut sink = S::default();
    loop {
        if skims {
            reader.skim(input.len() / 2, &mut sink);
            reader.skim(input.len(), &mut sink);
        }
        match reader.next() {
            Some(item) => take(&mut sink, &reader, item),
            None => return (sink, reader),
        }
    }
}

fn said(input: &[u8], skims: bool) -> Vec<String> {
    skimmed(input, skims, Said::item).0.0
}

fn summed(input: &[u8], skims: bool) -> Vec<String> {
    let (mut summed, reader) = skimmed(input, skims, Summed::item);
    summed.add(&reader, "end".to_owned());
    summed.said.0
}

/// The findings of lint and its survey. Only a fast reader has plain runs.
fn linted(input: &[u8], fast: bool) -> Vec<String> {
    let mut reader = Reader::new(input);
    reader.never_fast = !fast;
    let mut items = Vec::new();
    let survey = Lint::default().run_with(reader, input, |finding| items.push(format!("{finding:?}")));
    items.push(format!("{survey:?}"));
    items
}

#[test]
fn plain_lines_come_together() {
    let file = b"positions: instr line\nevents: Ir Dr\nfn=(1) main\n0x1f 2 30 4\n+3 * 5 6\n-0x10 +1 7 0\n* 4294967295 99999999 8\n\
        1 4294967296 1 1\n+0xA 1 1 1\n+1 1 1\n+1 1 1 1 \n1+2 1 1 1\n+1 1  1 1\n+1 1 123456789 1\n1 1 0 0\nfn=(2) a_name_that_fills_the_window\n";
    let mut reader = Reader::new(file);
    assert_eq!(reader.by_ref().take(4).filter(Result::is_ok).count(), 4);
    let mut sums = [1; 2];
    let run = reader.plain_run(2, &mut sums).expect("three plain lines");
    let last = Location { byte: 82, line: 7 };
    assert_eq!(run, PlainRun { lines: 3, last, first_costs: 100_000_011, has_cost: true });
    assert_eq!(sums, [100_000_012, 15]);
    for _ in 0..7 {
        assert_eq!(reader.plain_run(2, &mut sums), None);
        reader.next();
    }
    let run = reader.plain_run(2, &mut sums).expect("a plain line");
    assert_eq!((run.lines, run.has_cost, sums), (1, false, [100_000_012, 15]));
    let numbers = [reader.resumption(), {
        reader.by_ref().for_each(drop);
        reader.resumption()
    }];
    assert_eq!(numbers.map(|state| state.lines()), [15, 16]);
}

fn assert_same(input: &[u8]) {
    for look in [said, summed, seen, linted] {
        let (fast, slow) = (look(input, true), look(input, false));
        for (fast, slow) in fast.iter().zip(&slow) {
            assert_eq!(fast, slow, "in:\n{}", String::from_utf8_lossy(input));
        }
        assert_eq!(fast.len(), slow.len(), "in:\n{}", String::from_utf8_lossy(input));
    }
}

/// A body in which each line stands among others of the usual form.
fn among_others(lines: &[&[u8]], columns: &str) -> Vec<u8> {
    let mut file =
        format!("# callgrind format\npositions: {columns}\nevents: Ir Dr Dw\nfl=(1) a.c\nfn=(1) main\n");
    let positions = if columns == "line" { "1" } else { "0x10 1" };
    writeln!(file, "{positions} 1\n{positions} 2").unwrap();
    let mut file = file.into_bytes();
    for line in lines {
        file.extend_from_slice(line);
        file.push(b'\n');
    }
    file.extend_from_slice(format!("{positions} 3\nfn=(1)\n* {} 4\n{positions} 5\n\n", "*").as_bytes());
    file.extend_from_slice(
        b"# Enough bytes for what stands before to be read eight at a time, and then some.\n",
    );
    file
}

const LINES: &[&[u8]] = &[
    b"",
    b" ",
    b"# comment",
    b"5 1",
    b"5 1 2 3",
    b"5 1 2 3 4",
    b"5",
    b"5 ",
    b"5  ",
    b"5  1",
    b"5\t1",
    b"5 1 ",
    b"5 1\r",
    b"5\r",
    b"\r",
    b"5 12345678",
    b"5 123456789",
    b"12345678 12345678",
    b"+1234567 1234567",
    b"+12345678 1",
    b"+1 1",
    b"-1 1",
    b"-0 1",
    b"-9 1",
    b"+ 1",
    b"* 1",
    b"*1 1",
    b"** 1",
    b", 1",
    b". 1",
    b"/ 1",
    b"5, 1",
    b"12345678 1",
    b"1234567 12345678",
    b"123456789 123456789",
    b"18446744073709551615 18446744073709551615",
    b"18446744073709551616 18446744073709551616",
    b"+18446744073709551615 99999999999999999999999",
    b"9223372036854775807 1",
    b"9223372036854775808 1",
    b"+1 +1 1",
    b"+7 * 1",
    b"* * ",
    b"* *  ",
    b"* *",
    b"* -1 7",
    b"0x10 5 1",
    b"0X10 5 1",
    b"0x 5 1",
    b"0x1234567890abcdef 5 1",
    b"0x123456789 0x5 0x1",
    b"+0x10 -0x1 1",
    b"12+3 1",
    b"12-15 1",
    b"12:15 1",
    b"5 -1 1.5 .",
    b"5 abc",
    b"5 1 2 3 12345678901234567890123 5",
    b"5                                                   1 2",
    b"5 1000000000 1000000000 1000000000 1000000000 1000000000",
    b"fn=(1)",
    b"fn=(1) ",
    b"fn=(1) main",
    b"fn=(1) other",
    b"fn=(1)main",
    b"fn=(1)  main",
    b"fn=(1)\tmain",
    b"fn=(1) main\r",
    b"fn=(1)\r",
    b"fn=(2)",
    b"fn=(2) two",
    b"fn=(12345678) many",
    b"fn=(12345678)",
    b"fn=(0x2) hexadecimal",
    b"fn=(0x2)",
    b"fn=()",
    b"fn=(1",
    b"fn=(1 x",
    b"fn= (1)",
    b"fn =(1)",
    // Longer than what is looked at together, with a number that is only begun there.
    b"0x10000000000 18446744073709551615",
    b"+1 000000000000000000000000000000000000012 5",
    b"000000000000000000000000000000000000012 1",
    b"12 1 2 345678901234567890123456789012345",
    b"12 1 2 3456789012345678 12345678 1234567",
    b"jump=1 000000000000000000000000000000012",
    b"calls=1 18446744073709551615 18446744073709551615",
    b"FN=(1)",
    b"fn=plain",
    b"fn=(3) a name that is longer than all that is looked at together, so that its end must be searched for",
    b"fl=(1)",
    b"fi=(2) b.c",
    b"fe=(1)",
    b"ob=(1) a.out",
    b"cfn=(1)",
    b"cfn=(4) g",
    b"cfi=(2)",
    b"cfl=(2)",
    b"cob=(1)",
    b"jfi=(1)",
    b"jfn=(1)",
    b"frfn=(1)",
    b"calls=1 5",
    b"calls=1 5 ",
    b"calls=1 5  ",
    b"calls=1 +5",
    b"calls=1 +5 ",
    b"calls=1 -9",
    b"calls=1 *",
    b"calls=1 * ",
    b"calls=1 + ",
    b"calls=1 1234567 ",
    b"calls=1 12345678 ",
    b"calls=1 123456789 ",
    b"calls=1234567 1234567 ",
    b"calls=1234567 12345678",
    b"calls=12345678 12345678 ",
    b"calls=123456789 5",
    b"calls=1 0x10 5 ",
    b"calls=1 +1 -1",
    b"calls=1 -9 -9 ",
    b"calls=1 1 2 3",
    b"calls=1 1  2",
    b"calls=1",
    b"calls=1 ",
    b"calls= 1 5",
    b"calls=x 5",
    b"calls=12345678 5",
    b"calls=123456789012345678901 5",
    b"calls=1 5\r",
    b"calls=0 0 0",
    b"rcalls=1 5",
    b"jump=1 5",
    b"jump=1 +1 +1 ",
    b"jump=1",
    b"jcnd=1/2 5 ",
    b"jcnd=1/2 +1 +1 ",
    b"jcnd=1 2 5 ",
    b"jcnd=1/ 5",
    b"totals: 1 2 3",
    b"events: Ir",
    b"positions: instr line",
    b"part: 2",
    b"summary: 1",
    b"==== NEW PROFILING FILE ====",
    b"nonsense",
    b"rec=2",
];

#[test]
fn each_line_reads_the_same() {
    for columns in ["line", "instr line", "instr bb line"] {
        for first in LINES {
            assert_same(&among_others(&[first], columns));
            assert_same(&among_others(&[b"cfn=(1)", first], columns));
        }
        for line in LINES {
            for before in [&b"calls=1 5"[..], b"jump=1 5", b"jcnd=1/2 5"] {
                assert_same(&among_others(&[b"cob=(1)", b"cfn=(1)", before, line, b"+1 +1"], columns));
            }
        }
    }
}

#[test]
fn each_line_reads_the_same_after_another() {
    for (nth, first) in LINES.iter().enumerate() {
        // All pairs would take their time; this way each line comes after every third one, or of a sample after every ninth.
        let step = 3 * one_in(3);
        for second in LINES.iter().skip(nth % step).step_by(step) {
            assert_same(&among_others(&[first, second], "line"));
        }
    }
}

/// Of slow cases, one in this many is tried: all with `GRISTMILL_CI` in the environment, otherwise one in `step`.
fn one_in(step: usize) -> usize {
    if std::env::var_os("GRISTMILL_CI").is_some() { 1 } else { step }
}

/// All of the project's corpus, also what is no profile.
fn corpus() -> Vec<Vec<u8>> {
    let files: Vec<Vec<u8>> = own_files().into_iter().map(|file| file.bytes).collect();
    assert!(files.len() > 20, "the corpus is not where it should be");
    files
}

#[test]
fn whole_files_read_the_same() {
    for file in corpus() {
        assert_same(&file);
    }
}

#[test]
fn damaged_files_read_the_same() {
    let mut numbers = Numbers::new();
    for file in corpus() {
        for _ in 0..12 / one_in(4) {
            let mut piece = excerpt(&file, 1500, &mut numbers);
            for _ in 0..numbers.below(12) {
                damage(&mut piece, &mut numbers, |file, at, numbers| {
                    let at = at + file[at..].iter().position(|&byte| byte == b'\n').unwrap_or(0);
                    file.splice(at..at, [&b"\n"[..], numbers.one_of(LINES)].concat());
                });
            }
            assert_same(&piece);
        }
    }
}
