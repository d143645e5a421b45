use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::Look;
use gristmill_profile::{Profile, Selection};
use proptest::prelude::*;

use super::*;
use gristmill_output::source::{SourceError, Sources};

/// Sources in memory.
struct Shelf(HashMap<Vec<u8>, Arc<SourceText>>);

impl Shelf {
    fn of(files: &[(&str, &str)]) -> Self {
        let source = |text: &str| SourceText { text: text.as_bytes().to_vec(), ..SourceText::default() };
        Shelf(files.iter().map(|(name, text)| (name.as_bytes().to_vec(), Arc::new(source(text)))).collect())
    }
}

impl Sources for Shelf {
    fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError> {
        self.0.get(path).cloned().ok_or(SourceError::Missing)
    }
}

fn options(width: usize) -> Options {
    Options {
        recorded: width,
        shown: (0..width).collect(),
        sort: (0..width).collect(),
        threshold: 10.0,
        show_percs: false,
        context: 0,
        ..Options::default()
    }
}

fn printed(options: &Options, summands: &[Summand<'_>], shelf: &Shelf, look: Look) -> String {
    let report = Report::new(options, summands).unwrap();
    let mut out = Vec::new();
    report.print(&mut out, shelf, look).unwrap();
    String::from_utf8(out).unwrap()
}

const PIPE: Look = Look::plain(80);

type Lines = Vec<(String, String, u64, [Cost; 2])>;

fn lines() -> impl Strategy<Value = Lines> {
    prop::collection::vec(("a\\.c|b\\.c|c\\.c|\\?\\?\\?", "[f-h]", 0u64..9, [-9i128..90, 0i128..9]), 1..30)
}

/// A file of Cachegrind with these lines.
fn file_of(lines: &Lines) -> String {
    let mut text = "cmd: x\nevents: A B\n".to_owned();
    let mut sum = [0; 2];
    for (file, function, line, costs) in lines {
        writeln!(text, "fl={file}\nfn={function}\n{line} {} {}", costs[0], costs[1]).unwrap();
        sum[0] += costs[0];
        sum[1] += costs[1];
    }
    writeln!(text, "summary: {} {}", sum[0], sum[1]).unwrap();
    text
}

fn numbers(row: &str) -> [Cost; 2] {
    let mut words = row.split_whitespace().map(|word| word.replace(',', "").parse().unwrap());
    [words.next().unwrap(), words.next().unwrap()]
}

proptest! {
    /// Two files, added or compared: the six rows at the end account for every cost, and the total is that of all
    /// lines.
    #[test]
    fn every_cost_is_accounted_for(one in lines(), two in lines(), is_negative: bool, rename: bool) {
        let texts = [file_of(&one), file_of(&two)];
        let [first, second] = [&texts[0], &texts[1]].map(|text| FileCosts::read(text.as_bytes()).unwrap());
        let summands = [Summand { costs: &first, is_negative }, Summand { costs: &second, is_negative: false }];
        let mut options = options(2);
        options.mod_filename = rename.then(|| Substitution::parse("s/[ab]/x/").unwrap());
        // One source has fewer lines than costs; two become one by renaming, and differ.
        let shelf = Shelf::of(&[("a.c", "1\n2\n3\n"), ("b.c", "1\n")]);
        let text = printed(&options, &summands, &shelf, PIPE);
        let mut expected = [0; 2];
        for (lines, sign) in [(&one, if is_negative { -1 } else { 1 }), (&two, 1)] {
            for (_, _, _, costs) in lines {
                expected[0] += sign * costs[0];
                expected[1] += sign * costs[1];
            }
        }
        let total = text.lines().find_map(|line| line.strip_suffix("PROGRAM TOTALS")).unwrap();
        prop_assert_eq!(numbers(total), expected);
        let rows = text.lines().filter(|line| line.contains("annotated: files ")).map(|line| {
            let label = line.find("  annotated:").or_else(|| line.find("unannotated:")).unwrap();
            numbers(&line[..label])
        });
        let sum = rows.fold([0; 2], |sum, row| [sum[0] + row[0], sum[1] + row[1]]);
        prop_assert_eq!(sum, expected);
    }

    /// A profile of any producer gives the same report as a file of Cachegrind with its lines.
    #[test]
    fn profiles_and_cachegrind_files_say_the_same(lines in lines()) {
        let text = file_of(&lines);
        let strict = FileCosts::read(text.as_bytes()).unwrap();
        let profile = Profile::from_bytes(text.as_bytes());
        let loose = ProfileCosts::new(&profile, &Selection::default(), &[]).unwrap();
        let shelf = Shelf::of(&[("a.c", "1\n2\n3\n")]);
        let mut options = options(2);
        // Without a threshold, functions without lines are listed, which a profile does not know.
        options.threshold = 1e-6;
        let report = |costs: &dyn SelfCosts| {
            let text = printed(&options, &[Summand { costs, is_negative: false }], &shelf, PIPE);
            text.lines().filter(|line| !line.ends_with("<unspecified>")).map(str::to_owned).collect::<Vec<_>>()
        };
        if strict.file().events.len() == 2 && profile.totals(&Selection::default())[0] != 0 {
            prop_assert_eq!(report(&strict), report(&loose));
        }
    }
}

#[test]
fn a_terminal_gets_text_only() {
    let file = b"desc: \x1b[1m\ncmd: \x1b[2J\nevents: I\x1br\nfl=a\x1b.c\nfn=f\x07\n1 2\nsummary: 2\n";
    let costs = FileCosts::read(file).unwrap();
    let summands = [Summand { costs: &costs, is_negative: false }];
    let mut options = options(1);
    options.recordings = vec![Recording {
        name: "profile".to_owned(),
        descriptions: vec![b"\x1b[1m".to_vec()],
        command: b"\x1b[2J".to_vec(),
        written: None,
    }];
    let shelf = Shelf::of(&[("a\x1b.c", "\tint\x1b[31m a;\n")]);
    let text = printed(&options, &summands, &shelf, Look { is_terminal: true, ..PIPE });
    assert!(!text.contains(['\x1b', '\x07']), "{text}");
    assert!(text.contains("a\\x1b.c:f\\x07") && text.contains("int\\x1b[31m a;"), "{text}");
    // A file receives the text unchanged.
    assert!(printed(&options, &summands, &shelf, PIPE).contains("\x1b[2J"));
}

#[test]
fn files_made_to_do_harm_are_refused() {
    let events: String = (0..40_000).map(|event| format!(" e{event}")).collect();
    let functions: String = (0..40_000).map(|function| format!("fn=f{function}\n1 1\n")).collect();
    let text = format!("cmd: x\nevents:{events}\nfl=a.c\n{functions}summary: 40000\n");
    let costs = FileCosts::read(text.as_bytes()).unwrap();
    let options = options(1);
    let refused = Report::new(&options, &[Summand { costs: &costs, is_negative: false }]);
    assert!(matches!(refused.unwrap_err(), LayoutError::TooManyCosts(_)));
}

/// The sums of all functions and those that are shown are in memory at once.
#[test]
fn sums_and_shown_rows_share_a_budget() {
    const FUNCTIONS: usize = 800;
    const EVENTS: usize = 2200;
    let mut text = "events:".to_owned();
    (0..EVENTS).for_each(|event| write!(text, " E{event}").unwrap());
    text.push_str("\nfl=f.c\n");
    (0..FUNCTIONS).for_each(|function| write!(text, "fn=f{function}\n1 1\n").unwrap());
    let profile = Profile::from_bytes(text);
    let costs = ProfileCosts::new(&profile, &Selection::default(), &[]).unwrap();
    let summands = [Summand { costs: &costs, is_negative: false }];
    let report = |threshold| {
        let options = Options { threshold, budget: MemoryBudget::new([&profile]), ..options(EVENTS) };
        Report::new(&options, &summands).map(drop)
    };
    assert_eq!(report(10.0), Ok(()));
    assert!(matches!(report(0.0), Err(LayoutError::TooManyCosts(_))));
}
