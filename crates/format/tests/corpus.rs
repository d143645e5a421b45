//! Every profile of the corpus is read, written and summed up as it should be.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are checked as well.

// Without this, clippy takes what is not marked as a test for code that may not panic.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gristmill_format::{
    Cost, CostRole, Error, Header, Line, NameStyle, PositionStyle, Reader, ReadingMode, Record, Rewrite,
};

// Not all of it is used here.
#[allow(dead_code)]
#[path = "support/chance.rs"]
mod chance;
#[path = "support/faults.rs"]
mod faults;
// Likewise.
#[allow(dead_code)]
#[path = "support/files.rs"]
mod files;
#[path = "support/lines.rs"]
mod lines;
#[path = "support/meaning.rs"]
mod meaning;
#[path = "support/plain.rs"]
mod plain;
#[path = "support/spelling.rs"]
mod spelling;

use chance::Numbers;
use faults::faults;
use files::{File, files_outside, other_corpus, own_corpus};
use lines::lines;
use meaning::{Fact, meaning};
use plain::scan;
use spelling::{is_written_by_default, plain_and_back};

/// All profiles; files that are none, and damaged ones, are left out.
fn profiles() -> Vec<File> {
    files_outside(&["src", "malformed", "expected"])
}

/// `true` if Callgrind itself wrote the file.
fn is_of_callgrind(profile: &File) -> bool {
    lines(&profile.bytes).take(4).any(|line| line.starts_with("creator: callgrind-"))
}

#[test]
fn unchanged_is_identical() {
    let (mut same, mut refused) = (0, Vec::new());
    for profile in profiles() {
        match Rewrite::default().run(&profile.bytes, Vec::new()) {
            Ok(written) => {
                assert!(
                    written == profile.bytes,
                    "{}: {}",
                    profile.path,
                    first_difference(&profile.bytes, &written)
                );
                same += 1;
            }
            Err(error) => {
                assert!(
                    !faults(&profile.bytes).is_empty(),
                    "{}: no fault to be read, but {error}",
                    profile.path
                );
                assert!(!profile.is_own || has_faults_on_purpose(&profile.path), "{}: {error}", profile.path);
                refused.push(format!("{}: {error}", profile.path));
            }
        }
    }
    println!("{same} files come out as they went in; {} are refused:", refused.len());
    println!("{}", refused.join("\n"));
    assert_ne!(same, 0);
}

/// Lines that say what they say in a way that no producer in the corpus has.
#[test]
fn oddly_spelled_lines_come_out_as_they_went_in() {
    let odd: [&[u8]; 12] = [
        b"\xef\xbb\xbfevents: Ir\nfn=f\n1 2\n",
        b"events: Ir\rfn=f\r1 2\r",
        b"events: Ir\rfn=f\r1 2",
        b"events: Ir\n#a\rb\nfn=f\r\n1 2",
        b"  events: Ir\n  fn=f\n  1 2\n  +1 0x3\n",
        b"frob=1\n\nevents: Ir\n",
        b"desc:: a:b\ndesc: a : b\ndesc: a\nevent: A b c \nevent:A=B:\nevents: Ir\n",
        b"events:\tIr  Dr\t\nfn=(0x01)\tf \n0x0A\t007  . \n*   -3\nfn=(1) \n",
        b"events: Ir\nfn=f\n12:15 3\n*+2 4\n+0-0x20 5\n",
        b"events: Ir\nfn=f\n1 1\njcnd=10 4 20\njcnd=4/10 *\n+1 \njump=3 0\n* 5\n",
        b"events: Ir\nfn=(1) f\n1 2\n\npart: 2\nevents: Ir\nfn=(1)\n1 2\nfn=(1) g\n3 4\ntotals= 6\n",
        b"events: Ir\nfn=f\n1 1\ncfn=g\nrcalls= 3\n1 1\ncfn=g\ncalls=1 -1 2 3\t\n\n# x\n1 1\n\n\n",
    ];
    for file in odd {
        let written = Rewrite::default().run(file, Vec::new());
        let written = written.unwrap_or_else(|error| panic!("{}: {error}", file.escape_ascii()));
        assert_eq!(written.escape_ascii().to_string(), file.escape_ascii().to_string());
    }
}

/// Producers whose habits the tolerant reader has to guess at.
fn has_faults_on_purpose(path: &str) -> bool {
    path.starts_with("dialects/") || path.starts_with("python/")
}

fn first_difference(expected: &[u8], found: &[u8]) -> String {
    for (number, (expected, found)) in lines(expected).zip(lines(found)).enumerate() {
        if expected != found {
            return format!("line {}: {expected:?} became {found:?}", number + 1);
        }
    }
    format!("{} bytes became {}", expected.len(), found.len())
}

#[test]
fn plain_and_back_is_identical() {
    let (mut checked, mut others) = (0, 0);
    for profile in profiles().into_iter().filter(is_of_callgrind) {
        if !is_written_by_default(&profile.bytes) {
            others += 1;
            println!("not in the default spelling: {}", profile.path);
            continue;
        }
        let back = plain_and_back(&profile.bytes).unwrap_or_else(|error| panic!("{}: {error}", profile.path));
        assert!(back == profile.bytes, "{}: {}", profile.path, first_difference(&profile.bytes, &back));
        checked += 1;
    }
    println!(
        "{checked} files of Callgrind go to the plain spelling and back; {others} are in another spelling"
    );
    assert_ne!(checked, 0);
}

#[test]
fn another_spelling_says_the_same() {
    let mut checked = 0;
    for profile in profiles() {
        if !faults(&profile.bytes).is_empty() {
            continue;
        }
        let expected = meaning(&profile.bytes);
        for names in [NameStyle::Plain, NameStyle::Compressed] {
            for positions in [PositionStyle::Absolute, PositionStyle::Compressed] {
                let rewrite = Rewrite { names, positions, ..Rewrite::default() };
                let written = rewrite
                    .run(&profile.bytes, Vec::new())
                    .unwrap_or_else(|error| panic!("{}: {error}", profile.path));
                let found = meaning(&written);
                if found != expected {
                    let (index, (expected, found)) = expected
                        .iter()
                        .zip(&found)
                        .enumerate()
                        .find(|(_, (expected, found))| expected != found)
                        .unwrap_or_else(|| {
                            panic!("{}: {names:?} {positions:?}: a fact was lost", profile.path)
                        });
                    panic!(
                        "{}: {names:?} {positions:?}, fact {index}: {expected:?} became {found:?}",
                        profile.path
                    );
                }
            }
        }
        checked += 1;
    }
    println!("{checked} files mean the same in four other spellings");
    assert_ne!(checked, 0);
}

/// Here costs are relative to those above, like positions, which only one reader of the format understands.
const COMPRESSED_COSTS: &str = "callgrind.subposition-compression.log";

/// Self cost by event type, from the crate.
fn read_sums(file: &[u8]) -> BTreeMap<String, Cost> {
    let mut events: Vec<String> = Vec::new();
    let mut sums = BTreeMap::new();
    for record in Reader::new(file).filter_map(Result::ok) {
        match record.line {
            Line::Header(Header::Events(words)) => {
                events = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                for event in &events {
                    sums.entry(event.clone()).or_insert(0);
                }
            }
            Line::Cost(line) if line.role == CostRole::SelfCost => {
                let mut costs = vec![0; events.len()];
                // What is no cost gets its repaired value, as the naive sum has none for it either.
                let _ = line.costs.decode(&mut costs);
                for (event, cost) in events.iter().zip(costs) {
                    *sums.entry(event.clone()).or_default() += cost;
                }
            }
            _ => {}
        }
    }
    sums
}

#[test]
fn self_costs_add_up_as_in_a_plain_scan() {
    let (mut checked, mut odd) = (0, Vec::new());
    for profile in profiles().into_iter().filter(|profile| !profile.path.ends_with(COMPRESSED_COSTS)) {
        let scan = scan(&profile.bytes);
        if scan.has_odd_numbers {
            odd.push(profile.path);
            continue;
        }
        assert_eq!(read_sums(&profile.bytes), scan.sums(), "{}", profile.path);
        checked += 1;
    }
    println!("{checked} files add up; with numbers that are no integers: {odd:?}");
    assert_ne!(checked, 0);
}

/// Counts of an independent scan, where a corpus brings them along.
///
/// Columns: path, event types, sums of self cost, parts, and the numbers of `calls=`, `fn=` and jump lines.
#[test]
fn files_hold_what_is_known_of_them() {
    // A template: `%d` stands where the numbers go.
    const TEMPLATE: &str = "test_cachegrind.out.bug00631";
    let mut checked = 0;
    for root in [Some(own_corpus()), other_corpus()].into_iter().flatten() {
        let Ok(table) = fs::read_to_string(root.join("EXPECTED.tsv")) else { continue };
        for row in table.lines().skip(1) {
            let fields: Vec<&str> = row.split('\t').collect();
            let &[path, events, sums, parts, calls, functions, jumps, ..] = fields.as_slice() else {
                panic!("a row of too few fields: {row:?}")
            };
            if path.ends_with(COMPRESSED_COSTS) || path.ends_with(TEMPLATE) || path.ends_with(".gz") {
                continue;
            }
            let bytes = fs::read(root.join(path)).unwrap();
            let mut expected: BTreeMap<String, Cost> = BTreeMap::new();
            for (event, sum) in events.split_whitespace().zip(sums.split_whitespace()) {
                expected.insert(event.to_owned(), sum.parse().unwrap());
            }
            assert_eq!(read_sums(&bytes), expected, "{path}");
            let mut counts = [0usize; 3];
            let mut parts_with_events = BTreeSet::new();
            for record in Reader::new(&bytes).filter_map(Result::ok) {
                match record.line {
                    Line::Calls(_) => counts[0] += 1,
                    Line::Name(gristmill_format::NameKey::Fn, _) => counts[1] += 1,
                    Line::Jump(_) => counts[2] += 1,
                    Line::Header(Header::Events(_)) => {
                        parts_with_events.insert(record.part);
                    }
                    _ => {}
                }
            }
            let expected = [calls, functions, jumps].map(|count| count.parse::<usize>().unwrap());
            assert_eq!(counts, expected, "{path}");
            assert_eq!(parts_with_events.len(), parts.parse::<usize>().unwrap(), "{path}");
            checked += 1;
        }
    }
    println!("{checked} files hold what is known of them");
}

#[test]
fn totals_are_the_sum_of_their_part() {
    // Files that were made up to test another program with.
    const MADE_UP: &str = "runner_tests_fixtures_";
    let mut checked = 0;
    for profile in profiles().into_iter().filter(is_of_callgrind) {
        if profile.path.contains(MADE_UP) {
            continue;
        }
        let mut parts: BTreeMap<u32, (Vec<Cost>, Option<Vec<Cost>>)> = BTreeMap::new();
        for record in Reader::new(&profile.bytes).filter_map(Result::ok) {
            match record.line {
                Line::Header(Header::Events(words)) => {
                    parts.entry(record.part).or_default().0 = vec![0; words.len()];
                }
                Line::Header(Header::Totals(costs)) => {
                    let (sums, totals) = parts.get_mut(&record.part).unwrap();
                    let mut places = vec![0; sums.len()];
                    costs.decode(&mut places).unwrap();
                    assert_eq!(totals.replace(places), None, "{}: two totals", profile.path);
                }
                Line::Cost(line) if line.role == CostRole::SelfCost => {
                    let (sums, _) = parts.get_mut(&record.part).unwrap();
                    let mut costs = vec![0; sums.len()];
                    line.costs.decode(&mut costs).unwrap();
                    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
                }
                _ => {}
            }
        }
        for (part, (sums, totals)) in parts {
            let Some(totals) = totals else {
                println!("{}: part {part} has no totals", profile.path);
                continue;
            };
            assert_eq!(totals, sums, "{}: part {part}", profile.path);
            checked += 1;
        }
    }
    println!("{checked} parts have the totals they should have");
    assert_ne!(checked, 0);
}

/// For files that say the same in another order.
fn sorted(mut facts: Vec<Fact>) -> Vec<Fact> {
    facts.sort();
    facts
}

/// Two recordings of one run of a program, spelled differently, mean the same.
#[test]
fn recordings_of_one_run_mean_the_same() {
    // In other corpora the name of a file says which one it is another spelling of; in ours a list does.
    const TWINS: [(&str, &str); 3] = [
        ("callgrind/callgrind.out.mill", "callgrind/callgrind.out.uncompressed"),
        ("callgrind/callgrind.out.mill-fast", "callgrind/callgrind.out.uncompressed-names"),
        ("callgrind/callgrind.out.names", "callgrind/callgrind.out.names-uncompressed"),
    ];
    const SUFFIXES: [&str; 4] = ["-nocompress", "-nopos", "-nostr", "-comb"];
    let profiles = profiles();
    let by_path: BTreeMap<&str, &File> =
        profiles.iter().map(|profile| (profile.path.as_str(), profile)).collect();
    let mut twins: Vec<(&File, &File)> =
        TWINS.iter().map(|(one, other)| (by_path[one], by_path[other])).collect();
    for profile in &profiles {
        let stem = SUFFIXES.iter().find_map(|suffix| profile.path.strip_suffix(suffix));
        for suffix in ["", "-comb", "-jumps"] {
            if let Some(stem) = stem
                && let Some(twin) = by_path.get(format!("{stem}{suffix}").as_str())
                && twin.path != profile.path
            {
                twins.push((twin, profile));
            }
        }
    }
    let (mut same, mut other_runs) = (Vec::new(), Vec::new());
    for (one, other) in twins {
        let names = format!("{} = {}", one.path, other.path);
        let (one, other) = (&one.bytes, &other.bytes);
        if scan(one) != scan(other) {
            // Not even the sums are the same.
            other_runs.push(names);
            continue;
        }
        let (one, other) = (sorted(meaning(one)), sorted(meaning(other)));
        let differs = one.iter().zip(&other).find(|(fact, twin)| fact != twin);
        assert_eq!(differs, None, "{names}");
        assert_eq!(one.len(), other.len(), "{names}");
        same.push(names);
    }
    println!("{} pairs mean the same: {same:?}; of different runs: {other_runs:?}", same.len());
    assert_ne!(same.len(), 0);
}

/// The parts of a run mean the same in one file as in a file each.
#[test]
fn parts_mean_the_same_in_files_of_their_own() {
    let read = |name: &str| fs::read(own_corpus().join("callgrind").join(name)).unwrap();
    let combined = meaning(&read("callgrind.out.parts"));
    let separate: Vec<_> = ["parts-sep.1", "parts-sep.2", "parts-sep.3", "parts-sep"]
        .iter()
        .flat_map(|name| meaning(&read(&format!("callgrind.out.{name}"))))
        .collect();
    assert_eq!(sorted(combined), sorted(separate));
}

/// Reads a file that may be damaged: it must come to an end, soon, with every record where it says it is.
fn check_reading(file: &[u8], mode: ReadingMode) -> Vec<Record<'_>> {
    let lines = file.split(|&byte| byte == b'\n' || byte == b'\r').count();
    let words = file.split(u8::is_ascii_whitespace).count();
    let (mut records, mut faults) = (Vec::new(), 0);
    let mut last = (0, 0);
    for item in Reader::with_mode(file, mode) {
        let location = match &item {
            Ok(record) => record.location,
            Err(error) => error.location(),
        };
        let start = usize::try_from(location.byte).unwrap();
        assert!(start <= file.len());
        match item {
            Ok(record) => {
                assert!(
                    last.0 <= location.byte && last.1 < location.line,
                    "records come in the order of the file"
                );
                last = (location.byte, location.line);
                assert!(file[start..].starts_with(record.spelling.text().unwrap()));
                if let Line::Cost(line) = record.line {
                    // Decoding panics on no numbers.
                    let _ = line.costs.decode(&mut [0; 2]);
                }
                records.push(record);
            }
            Err(_) => faults += 1,
        }
    }
    // A line makes at most one record, and its outer form a handful of faults at most; each of its words one more.
    assert!(records.len() <= lines);
    assert!(faults <= 4 * lines + words, "{faults} faults in {lines} lines of {words} words");
    records
}

/// A grammar only takes away: up to the first deviation, and all of a file without one, is what the tolerant reader
/// reads.
fn check_modes(file: &[u8], path: &str) {
    let tolerant = check_reading(file, ReadingMode::Tolerant);
    for mode in [ReadingMode::Strict, ReadingMode::Practised] {
        let records = check_reading(file, mode);
        let is_accepted = Reader::with_mode(file, mode).all(|record| record.is_ok());
        assert_eq!(tolerant[..records.len()], records, "{path}: {mode:?}");
        if is_accepted {
            assert_eq!(records.len(), tolerant.len(), "{path}: {mode:?}");
            assert!(Reader::new(file).all(|record| record.is_ok()), "{path}: {mode:?}");
        } else {
            let faults = Reader::with_mode(file, mode).filter(|record| record.is_err()).count();
            assert_eq!(faults, 1, "{path}: {mode:?} stops at the first fault");
        }
    }
}

/// Reading does not depend on line ends, though the reader has a fast path for one of them.
fn check_line_ends(file: &[u8], path: &str) {
    if file.contains(&b'\r') {
        return;
    }
    let longer: Vec<u8> = file.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
    let mut items = Reader::new(file);
    let mut longer = Reader::new(&longer);
    loop {
        let pair = (items.next(), longer.next());
        match pair {
            (None, None) => return,
            (Some(Ok(record)), Some(Ok(other))) => {
                assert_eq!((record.line, record.part), (other.line, other.part), "{path}");
                assert_eq!(items.context(), longer.context(), "{path}");
            }
            (Some(Err(error)), Some(Err(other))) => {
                let place =
                    |error: &Error| (error.kind(), error.location().line, error.column(), error.length());
                assert_eq!(place(&error), place(&other), "{path}");
            }
            pair => panic!("{path}: {pair:?}"),
        }
    }
}

#[test]
fn grammars_only_take_away() {
    let mut accepted = [0; 2];
    let profiles = profiles();
    for profile in &profiles {
        check_modes(&profile.bytes, &profile.path);
        check_line_ends(&profile.bytes, &profile.path);
        for (count, mode) in accepted.iter_mut().zip([ReadingMode::Strict, ReadingMode::Practised]) {
            *count += usize::from(Reader::with_mode(&profile.bytes, mode).all(|record| record.is_ok()));
        }
    }
    let [strict, practised] = accepted;
    println!(
        "of {} files, {strict} keep to the published grammar and {practised} to that of practice",
        profiles.len()
    );
    assert!(strict > 0 && practised > 0);
}

/// Small files in which much is said.
fn rich_profiles() -> Vec<File> {
    const RICH: [&str; 8] = [
        "callgrind/callgrind.out.full",
        "callgrind/callgrind.out.bbs-instr",
        "callgrind/callgrind.out.mangle-no",
        "callgrind/callgrind.out.crew-parts",
        "cachegrind/cachegrind.diff",
        "dialects/xdebug3-append.txt",
        "dialects/nytprof.txt",
        "dialects/windows.txt",
    ];
    let profiles: Vec<File> = profiles()
        .into_iter()
        .filter(|profile| profile.is_own && RICH.contains(&profile.path.as_str()))
        .collect();
    assert_eq!(profiles.len(), RICH.len());
    profiles
}

#[test]
fn cut_files_are_read() {
    let mut checked = 0;
    for profile in rich_profiles() {
        for end in (0..profile.bytes.len()).step_by(97) {
            check_modes(&profile.bytes[..end], &profile.path);
            checked += 1;
        }
    }
    println!("{checked} beginnings of files read");
}

#[test]
fn damaged_files_are_read() {
    // Bytes that mean something somewhere.
    const BYTES: &[u8] = b"\0\t\n\r #()*+,-./0189:=Xacefijlnoprstuvx\x7f\xff";
    let mut numbers = Numbers::new();
    let mut checked = 0;
    for profile in rich_profiles() {
        for _ in 0..40 {
            let mut damaged = profile.bytes.clone();
            for _ in 0..=numbers.below(20) {
                let at = numbers.below(damaged.len());
                damaged[at] = numbers.one_of(BYTES);
            }
            check_modes(&damaged, &profile.path);
            check_line_ends(&damaged, &profile.path);
            checked += 1;
        }
    }
    println!("{checked} damaged files read");
}
