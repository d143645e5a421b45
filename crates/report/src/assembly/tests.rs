use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use gristmill_output::Look;
use gristmill_output::source::{SourceError, SourceText, Sources};
use gristmill_profile::Profile;

use super::*;
use crate::program::{Agreement, Evidence, Frame, Instruction, Program, ProgramError};
use crate::view::ViewOptions;

/// A program with an instruction at each even address of one function.
#[derive(Debug, Clone)]
struct Fake {
    range: Range<u64>,
    agreement: Agreement,
    /// The addresses of an inlined function.
    inlined: Range<u64>,
    is_known: bool,
}

const SAME: Agreement = Agreement { checked: 10, agreeing: 10 };

impl Fake {
    fn new(range: Range<u64>) -> Self {
        Fake { range, agreement: SAME, inlined: 0..0, is_known: true }
    }
}

impl Programs for Fake {
    fn get(&self, _: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
        if self.is_known { Ok(Rc::new(self.clone())) } else { Err(ProgramError::Missing) }
    }
}

impl Program for Fake {
    fn found_at(&self) -> &str {
        "bin/mill"
    }
    fn agreement(&self) -> Agreement {
        self.agreement
    }
    fn has_lines(&self) -> bool {
        true
    }
    fn has_inlining(&self) -> bool {
        true
    }
    fn function_at(&self, address: u64) -> Option<Range<u64>> {
        self.range.contains(&address).then(|| self.range.clone())
    }
    fn instructions(&self, range: Range<u64>) -> Vec<Instruction> {
        let all = (range.start..range.end.min(self.range.end.max(range.start.saturating_add(2)))).step_by(2);
        all.map(|address| Instruction {
            address,
            length: 2,
            text: format!("op {address}").into(),
            target: None,
        })
        .collect()
    }
    fn frames(&self, address: u64) -> Vec<Frame> {
        let frame = |function: &str, line| Frame {
            function: function.into(),
            file: b"mill.c".as_slice().into(),
            line: Some(line),
        };
        let mut frames = vec![frame("main", 1)];
        if self.inlined.contains(&address) {
            frames.push(frame("weigh", 2));
        }
        frames
    }
}

struct Text;

impl Sources for Text {
    fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError> {
        match path {
            b"mill.c" => {
                Ok(Arc::new(SourceText { text: b"main();\nweigh();\n".to_vec(), ..SourceText::default() }))
            }
            _ => Err(SourceError::Missing),
        }
    }
}

fn view(text: &str) -> View {
    View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default()).unwrap()
}

const OPTIONS: AssemblyTextOptions = AssemblyTextOptions { context: 1, has_lines: true, is_ascii: false };

/// The text without its head.
fn text(view: &View, programs: &Fake, options: &AssemblyTextOptions) -> String {
    let assembly = Assembly::new(view, &AssemblyOptions::default(), programs, &Text).unwrap();
    let mut out = Vec::new();
    assembly.write_text(options, &Look::plain(80), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.split_once("self cost\n\n").unwrap().1.to_owned()
}

const LOOP: &str = "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n0x10 1 1\n0x12 2 5\njcnd=4/5 0x12 2\n\
    0x14 2\n0x14 2 5\n0x16 1 1\ncfn=grind\ncalls=1 0x80 9\n0x16 1 40\n";

#[test]
fn a_function_is_a_listing() {
    let programs = Fake { inlined: 0x12..0x16, ..Fake::new(0x10..0x30) };
    assert_eq!(
        text(&view(LOOP), &programs, &OPTIONS),
        "main\n  mill.c, mill\n  self 12 Ir (100.0%)\n  Ir      %  Address\n                          mill.c:1  main();\n   \
         1    8.3       10      op 16\n                          inlined weigh\n                            mill.c:2  weigh();\n   \
         5   41.7       12  ╭─▸ op 18\n   5   41.7       14  ╰── op 20  taken 4 of 5\n                          mill.c:1  main();\n   \
         1    8.3       16      op 22\n  40  333.3               ↳ grind ×1\n                  18      op 24\n                          \
         … 11 instructions without cost\n\n↳ calls, with inclusive cost, which is not part of the cost beside\n"
    );
    let plain = AssemblyTextOptions { has_lines: false, is_ascii: true, context: 0 };
    assert_eq!(
        text(&view(LOOP), &programs, &plain),
        "main\n  mill.c, mill\n  self 12 Ir (100.0%)\n  Ir      %  Address\n   1    8.3       10      op 16\n   \
         5   41.7       12  +-> op 18\n   5   41.7       14  +-- op 20  taken 4 of 5\n   1    8.3       16      op 22\n  \
         40  333.3               => grind x1\n                          ... 12 instructions without cost\n\n\
         => calls, with inclusive cost, which is not part of the cost beside\n"
    );
}

/// Lines of inlined functions are those of their own file.
#[test]
fn source_lines_of_frames_have_their_text() {
    let programs = Fake { inlined: 0x12..0x16, ..Fake::new(0x10..0x30) };
    let view = view(LOOP);
    let assembly = Assembly::new(&view, &AssemblyOptions::default(), &programs, &Text).unwrap();
    let line = |line, text: &str| ShownLine { line, text: text.to_owned() };
    let expected =
        ShownFile { file: "mill.c".to_owned(), lines: vec![line(1, "main();"), line(2, "weigh();")] };
    assert_eq!(assembly.shown_lines().unwrap(), [expected]);
}

#[test]
fn costs_without_an_instruction_are_listed() {
    let odd =
        "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n0x10 1 3\n0x13 2 4\n0x90 2 5\n";
    let view = view(odd);
    let shown = text(&view, &Fake::new(0x10..0x16), &OPTIONS);
    assert!(
        shown.contains("1 address with 33.3% of the self cost: the program has no instruction there"),
        "{shown}"
    );
    assert!(shown.contains("   4   33.3       13  no instruction here\n"), "{shown}");
    // Beyond the function, the address is decoded for itself.
    assert!(shown.contains("   5   41.7       90  ? op 144\n"), "{shown}");
    let none = Fake { is_known: false, ..Fake::new(0..0) };
    let shown = text(&view, &none, &OPTIONS);
    assert!(shown.contains("   4   33.3       13\n"), "{shown}");
    // The lines are those of the profile.
    assert!(shown.contains("mill.c:2  weigh();"), "{shown}");
}

#[test]
fn nothing_of_another_build_is_certain() {
    let view = view(LOOP);
    let fake = || Fake { inlined: 0x12..0x16, ..Fake::new(0x10..0x30) };
    let of = |agreeing| Fake { agreement: Agreement { checked: 100, agreeing }, ..fake() };
    assert!(text(&view, &of(99), &OPTIONS).contains("10      op 16\n"));
    let uncertain = text(&view, &of(98), &OPTIONS);
    assert!(
        uncertain.contains("10      ? op 16\n") && uncertain.contains("may be those of another build"),
        "{uncertain}"
    );
    let other = text(&view, &of(49), &OPTIONS);
    assert!(!other.contains("op 16") && other.contains("   1    8.3       10\n"), "{other}");
    let assembly = Assembly::new(&view, &AssemblyOptions::default(), &of(49), &Text).unwrap();
    assert_eq!(
        assembly.remarks().next().unwrap(),
        (
            "mill: bin/mill is another program: only 49.0% of what the profile says of it agrees".to_owned(),
            Some("--binary mill=FILE says where the recorded build is".to_owned())
        )
    );
}

/// After a small change of the source, the program as a whole agrees, and the function that was changed does not.
#[test]
fn nothing_of_a_changed_function_is_certain() {
    let listed = |text: &str| {
        let programs = Fake { inlined: 0x12..0x16, ..Fake::new(0x10..0x30) };
        self::text(&view(text), &programs, &OPTIONS)
    };
    assert!(listed(LOOP).contains("10      op 16\n"));
    let lines = listed(&LOOP.replace("0x16 1 1", "0x16 3 1"));
    // Of 4 addresses, all are instructions, and 3 have the line of the program; then those of the profile are shown.
    let note = "instructions are marked with ?: only 87.5% of what the profile says of this";
    assert!(lines.contains(note) && lines.contains("? op 16\n"), "{lines}");
    assert!(lines.contains("mill.c:3\n") && !lines.contains("inlined"), "{lines}");
    let starts = listed(&LOOP.replace("0x16 1 1", "0x17 1 1"));
    assert!(starts.contains("marked with ?: only ") && starts.contains("? op 16\n"), "{starts}");
}

#[test]
fn headings_fit() {
    let long = format!(
        "std::map<{0}, std::less<{0}>>::insert(std::pair<{0}, int>&&)",
        "std::vector<std::string>".repeat(9)
    );
    let text = LOOP.replace("fn=main", &format!("fn={long}")).replace("cfn=grind", &format!("cfn={long}2"));
    let view = view(&text);
    let assembly = Assembly::new(&view, &AssemblyOptions::default(), &Fake::new(0x10..0x30), &Text).unwrap();
    let mut out = Vec::new();
    let look = Look { has_full_names: false, ..Look::plain(80) };
    assembly.write_text(&OPTIONS, &look, &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("\nstd::map<…>::insert(…)\n"), "{shown}");
}

#[test]
fn a_page_says_what_it_lacks() {
    let view = view("positions: instr\nevents: Ir\nob=mill\nfl=a.c\nfn=a\n0x10 90\nfn=b\n0x20 10\n");
    let page = |threshold: f64| {
        let options = AssemblyOptions { threshold: Some(threshold), ..AssemblyOptions::default() };
        let assembly = Assembly::new(&view, &options, &Fake::new(0x10..0x30), &Text).unwrap();
        let mut out = Vec::new();
        let options = AssemblyPageOptions { threshold: Some(threshold), context: 1, has_lines: true };
        assembly.write_html(&options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let note =
        "1 of 2 functions are on this page: those with 80% of the self cost; --threshold 100 shows all";
    assert!(page(80.0).contains(note));
    assert!(!page(100.0).contains("are on this page"));
}

/// Parts without addresses, recursion and several threads.
#[test]
fn costs_at_no_address_are_kept() {
    let parts = "positions: instr line\nevents: Ir Dr\npart: 1\nthread: 1\nob=mill\nfl=mill.c\nfn=main\n0x10 1 3 1\n+2 2 4\n\
        fn=main'2\n0x10 1 6\n\npart: 2\nthread: 2\npositions: line\nevents: Ir Dr\nob=mill\nfl=mill.c\nfn=main\n7 100 9\n\
        cfn=main'2\ncalls=1 1\n7 6\njump=3 9\n7\n\npart: 3\nthread: 1\npositions: instr\nevents: Dr Ir\nob=mill\nfl=mill.c\nfn=main\n\
        0x10 5 7\n";
    let view = view(parts);
    let assembly = Assembly::new(&view, &AssemblyOptions::default(), &Fake::new(0x10..0x20), &Text).unwrap();
    let rows: Vec<_> = assembly.function_rows().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(|row| row.name).collect::<Vec<_>>(), ["main", "main'2"]);
    assert_eq!(rows[0].without_address.to_vec(), [100, 9]);
    assert_eq!(rows[0].calls_without_address[0].cost[0], 6);
    assert_eq!(rows[0].jumps_without_address, 1);
    assert_eq!(rows[0].instructions[0].self_costs.to_vec(), [10, 6]);
    for row in &rows {
        for event in 0..2 {
            let sum: Cost = row.instructions.iter().map(|it| it.self_costs[event]).sum();
            assert_eq!(sum + row.without_address[event], row.self_costs[event], "{}", row.name);
        }
    }
    let shown = text(&view, &Fake::new(0x10..0x20), &OPTIONS);
    assert!(shown.contains("  100 Ir, 9 Dr at no address\n"), "{shown}");
    assert!(shown.contains("  1 jump at no address\n"), "{shown}");
}

#[test]
fn functions_are_chosen_by_cost() {
    let view = view(
        "positions: instr\nevents: Ir\nob=mill\nfl=a.c\nfn=a\n0x10 80\nfn=b\n0x20 15\nfl=b.c\nfn=c\n0x30 5\nfn=d\n0x40 0\n",
    );
    let names = |options: AssemblyOptions| {
        let assembly = Assembly::new(&view, &options, &Fake::new(0..0), &Text).unwrap();
        let names: Vec<_> = assembly.function_rows().map(|row| row.unwrap().name.to_owned()).collect();
        (names.concat(), assembly.counts())
    };
    let none = AssemblyOptions::default;
    assert_eq!(names(none()), ("abc".to_owned(), (3, 3)));
    assert_eq!(names(AssemblyOptions { threshold: Some(90.0), ..none() }).0, "ab");
    assert_eq!(names(AssemblyOptions { threshold: Some(0.0), ..none() }).0, "a");
    assert_eq!(names(AssemblyOptions { limit: Some(1), ..none() }), ("a".to_owned(), (1, 3)));
    let pattern = |text| Some(Regex::new(text).unwrap());
    assert_eq!(names(AssemblyOptions { function: pattern("b|c"), ..none() }), ("bc".to_owned(), (2, 2)));
    assert_eq!(names(AssemblyOptions { file: pattern("b\\.c"), ..none() }).0, "c");
}

/// Any address takes no time and memory out of proportion.
#[test]
fn ranges_and_addresses_have_any_value() {
    let last = u64::MAX;
    let view = view(&format!(
        "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n0 1 1\n{last:#x} {last} 2\njump={last} {last:#x} 1\n0 1\n\
         jcnd={last}/0 0 1\n{last:#x} 1\n"
    ));
    let shown = text(&view, &Fake::new(0..u64::MAX), &OPTIONS);
    assert!(shown.contains("too large to list all of it") && shown.contains("ffffffffffffffff"), "{shown}");
    assert!(shown.contains("taken 18,446,744,073,709,551,615 of 0"), "{shown}");
}

#[test]
fn a_page_has_all_costs() {
    let view = view(LOOP);
    let assembly = Assembly::new(
        &view,
        &AssemblyOptions::default(),
        &Fake { inlined: 0x12..0x16, ..Fake::new(0x10..0x30) },
        &Text,
    );
    let mut out = Vec::new();
    let options = AssemblyPageOptions { threshold: None, context: 1, has_lines: true };
    assembly.unwrap().write_html(&options, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    for piece in [
        "<div class=l id=f0-12 data-c=5",
        "<span class=t-k>op</span> 18",
        "<a class=j href=#f0-12>taken 4 of 5</a>",
        "inlined <strong>weigh</strong>",
        "<b>40</b>",
        "11 instructions without cost",
        "found; 100.0% of what could be compared agrees",
    ] {
        assert!(page.contains(piece), "{piece}");
    }
}
