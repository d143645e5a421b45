//! The examples of the published format specification say what its text says they do.

// Without this, clippy takes what is not marked as a test for code that may not panic.
#![cfg(test)]

use gristmill_format::{
    Cost, CostRole, EventDefinition, Header, Line, PositionKind, Reader, ReadingMode, Record,
};

#[path = "support/meaning.rs"]
mod meaning;

use meaning::{Fact, Function, meaning};

const SIMPLE: &[u8] = include_bytes!("../../../corpus/spec/simple.txt");
const EXTENDED: &[u8] = include_bytes!("../../../corpus/spec/extended.txt");
const NAMES: &[u8] = include_bytes!("../../../corpus/spec/names.txt");
const NAMES_DEFINED_FIRST: &[u8] = include_bytes!("../../../corpus/spec/names-defined-first.txt");
const SUBPOSITIONS: &[u8] = include_bytes!("../../../corpus/spec/subpositions.txt");
const SUBPOSITIONS_COMPRESSED: &[u8] = include_bytes!("../../../corpus/spec/subpositions-compressed.txt");

/// The records of a file that keeps to the published grammar.
fn strictly(file: &[u8]) -> Vec<Record<'_>> {
    Reader::with_mode(file, ReadingMode::Strict)
        .map(|record| record.unwrap_or_else(|error| panic!("{error} in\n{}", file.escape_ascii())))
        .collect()
}

fn headers(file: &[u8]) -> Vec<Header<'_>> {
    strictly(file)
        .into_iter()
        .filter_map(|record| match record.line {
            Line::Header(header) => Some(header),
            _ => None,
        })
        .collect()
}

fn numbers(costs: &gristmill_format::Costs<'_>) -> Vec<Cost> {
    costs.iter().map(Result::unwrap).collect()
}

fn function(object: &str, file: &str, name: &str) -> Function {
    Function { object: object.into(), file: file.into(), name: name.into() }
}

fn own(function: &Function, positions: &[u64], costs: &[Cost]) -> Fact {
    Fact::Own { function: function.clone(), positions: positions.to_vec(), costs: costs.to_vec() }
}

fn call(caller: &Function, line: u64, callee: &Function, count: Cost, target: u64, inclusive: Cost) -> Fact {
    Fact::Call {
        caller: caller.clone(),
        positions: vec![line],
        callee: callee.clone(),
        target: vec![target],
        count,
        inclusive: vec![inclusive],
    }
}

#[test]
fn every_example_keeps_to_the_grammar() {
    for example in [SIMPLE, EXTENDED, NAMES, NAMES_DEFINED_FIRST, SUBPOSITIONS, SUBPOSITIONS_COMPRESSED] {
        assert!(!strictly(example).is_empty());
        assert!(Reader::with_mode(example, ReadingMode::Tolerant).all(|record| record.is_ok()));
    }
}

#[test]
fn missing_costs_are_zero() {
    let main = function("", "file.f", "main");
    assert_eq!(meaning(SIMPLE), [own(&main, &[15], &[90, 14, 2]), own(&main, &[16], &[20, 12])]);
    let mut costs = [9; 3];
    let Some(Line::Cost(last)) = strictly(SIMPLE).last().map(|record| record.line) else {
        panic!("the example ends with a cost line")
    };
    last.costs.decode(&mut costs).unwrap();
    assert_eq!(costs, [20, 12, 0]);
}

#[test]
fn calls_say_who_called_whom() {
    let main = function("", "file1.c", "main");
    let func1 = function("", "file1.c", "func1");
    let func2 = function("", "file2.c", "func2");
    let expected = [
        own(&main, &[16], &[20]),
        call(&main, 16, &func1, 1, 50, 400),
        call(&main, 16, &func2, 3, 20, 400),
        own(&func1, &[51], &[100]),
        call(&func1, 51, &func2, 2, 20, 300),
        own(&func2, &[20], &[700]),
    ];
    assert_eq!(meaning(EXTENDED), expected);
    assert_eq!(meaning(NAMES), expected, "with numbers for names");
    assert_eq!(meaning(NAMES_DEFINED_FIRST), expected, "with all names defined at the top");
}

#[test]
fn relative_subpositions_are_the_absolute_ones() {
    let func = function("", "", "func");
    let expected = [
        own(&func, &[0x8000_1234, 90], &[1]),
        own(&func, &[0x8000_1237, 90], &[5]),
        own(&func, &[0x8000_1238, 91], &[6]),
    ];
    assert_eq!(meaning(SUBPOSITIONS), expected);
    assert_eq!(meaning(SUBPOSITIONS_COMPRESSED), expected);
}

#[test]
fn subpositions_may_be_hexadecimal_in_any_column() {
    let func = function("", "", "f");
    let file = b"positions: instr line\nevents: ticks\nfn=f\n0x10 0x5A 1\n+0x10 -0xa 5\n16 +0 7\n";
    strictly(file);
    assert_eq!(
        meaning(file),
        [own(&func, &[16, 90], &[1]), own(&func, &[32, 80], &[5]), own(&func, &[16, 80], &[7])]
    );
}

#[test]
fn positions_are_any_of_instr_bb_and_line_in_this_order() {
    let kinds = |words: &str| {
        let file = format!("positions: {words}\nevents: Ir\n");
        let mut reader = Reader::with_mode(file.as_bytes(), ReadingMode::Strict);
        let accepted = reader.by_ref().all(|record| record.is_ok());
        accepted.then(|| reader.columns().kinds().to_vec())
    };
    assert_eq!(kinds("instr"), Some(vec![PositionKind::Instr]));
    assert_eq!(kinds("instr line"), Some(vec![PositionKind::Instr, PositionKind::Line]));
    assert_eq!(kinds("instr bb line"), Some(vec![PositionKind::Instr, PositionKind::Bb, PositionKind::Line]));
    assert_eq!(kinds("line instr"), None);
    assert_eq!(kinds("line line"), None);
    assert_eq!(kinds("address"), None);
}

#[test]
fn cfl_is_an_older_word_for_cfi() {
    let with = |key: &str| {
        let text = String::from_utf8(EXTENDED.to_vec()).unwrap();
        text.replace("cfi=", key)
    };
    let old = with("cfl=");
    assert_ne!(old.as_bytes(), EXTENDED);
    strictly(old.as_bytes());
    assert_eq!(meaning(old.as_bytes()), meaning(EXTENDED));
}

/// The grammar has no second line after a jump; Callgrind writes one.
#[test]
fn jumps_with_blanks_between_their_counts() {
    let jumps = |after: &str| {
        let file = format!("events: Ir\nfn=f\n18 3\njcnd=10 4 20\njump=7 +0x2\n{after}");
        let mut jumps = Vec::new();
        let mut self_costs = Vec::new();
        for record in strictly(file.as_bytes()) {
            match record.line {
                Line::Jump(jump) => jumps.push((jump.executed, jump.taken, jump.target.as_slice().to_vec())),
                Line::Cost(line) if line.role == CostRole::SelfCost => {
                    self_costs.push((line.positions.as_slice()[0], numbers(&line.costs)));
                }
                _ => {}
            }
        }
        assert_eq!(jumps, [(Some(10), 4, vec![20]), (None, 7, vec![20])]);
        self_costs
    };
    assert_eq!(jumps(""), [(18, vec![3])], "the end of the file");
    assert_eq!(jumps("fn=g\n1 1\n"), [(18, vec![3]), (1, vec![1])], "another function");
    assert_eq!(jumps("19\n20 4\n"), [(18, vec![3]), (20, vec![4])], "the position that the jump starts at");
    assert_eq!(jumps("19 4\n"), [(18, vec![3]), (19, vec![4])], "a cost line is not taken for a position");
}

#[test]
fn summary_and_totals_stand_where_they_are_said_to() {
    let file = b"version: 1\ncreator: me\npid: 7\ncmd: ./a b\npart: 1\nthread: 2\ndesc: I1 cache: 1 B\n\
                 positions: line\nevents: Ir Dr\nsummary: 9 4\n\nfn=f\n1 5 4\n2 3\ntotals: 8 4\n";
    let headers = headers(file);
    let found: Vec<Vec<Cost>> = headers
        .iter()
        .filter_map(|header| match header {
            Header::Summary(costs) | Header::Totals(costs) => Some(numbers(costs)),
            _ => None,
        })
        .collect();
    assert_eq!(found, [[9, 4], [8, 4]]);
    assert!(headers.contains(&Header::Pid(7)) && headers.contains(&Header::Thread(2)));
    assert!(headers.contains(&Header::Description { kind: b"I1 cache", value: b"1 B" }));
}

#[test]
fn event_types_have_long_names_and_formulas() {
    let definition = |name, formula, long_name| Header::Event(EventDefinition { name, formula, long_name });
    let file = b"event: Ir : Instruction Fetches\nevents: Ir Dr\nevent: Sum = Ir + Dr\n\
                 event: CEst = Ir + 10 Bm + 10*L1m : Cycle Estimation\n";
    let headers = headers(file);
    assert_eq!(headers[0], definition(b"Ir", None, Some(b"Instruction Fetches")));
    assert_eq!(headers[2], definition(b"Sum", Some(b"Ir + Dr"), None));
    assert_eq!(headers[3], definition(b"CEst", Some(b"Ir + 10 Bm + 10*L1m"), Some(b"Cycle Estimation")));
}

#[test]
fn comments_and_empty_lines_stand_everywhere() {
    let text = String::from_utf8(EXTENDED.to_vec()).unwrap();
    let mut everywhere = String::new();
    let mut after_calls = false;
    for line in text.lines() {
        // The two lines of a call belong together.
        if !after_calls {
            everywhere.push_str("# between\n\n");
        }
        everywhere.push_str(line);
        everywhere.push('\n');
        after_calls = line.starts_with("calls=");
    }
    let marker = everywhere.strip_prefix("# between\n\n").unwrap();
    strictly(marker.as_bytes());
    assert_eq!(meaning(marker.as_bytes()), meaning(EXTENDED));
}

#[test]
fn a_part_is_a_header_with_its_body() {
    let file = b"version: 1\ncreator: me\npart: 1\nevents: Ir\nfn=f\n1 2\ntotals: 2\npart: 2\nevents: Dr Dw\nfn=f\n1 3 4\n";
    let parts: Vec<(u32, Vec<Cost>)> = strictly(file)
        .into_iter()
        .filter_map(|record| match record.line {
            Line::Cost(line) => Some((record.part, numbers(&line.costs))),
            _ => None,
        })
        .collect();
    assert_eq!(parts, [(0, vec![2]), (1, vec![3, 4])]);
}
