//! Under the name `callgrind_annotate`, gristmill prints what the original prints, for every file of the corpus and every
//! option; where it does not, the difference is one of those in `docs/annotate-differences.md`.
//!
//! A difference must follow its rule byte for byte: the profile is changed in such a way that the *original*, which then
//! has nothing to get wrong, must print what gristmill prints for the profile as it is. How, see `expected`. A file that
//! triggers no rule has to give the same bytes.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are judged as well. `GRISTMILL_ANNOTATE_CACHE=FOLDER` keeps what the
//! original printed, which makes the next run faster; `GRISTMILL_ANNOTATE_ONLY=TEXT` takes only files with this in their
//! path, and `GRISTMILL_ANNOTATE_SHARE=7` every seventh run. Of the outside corpus only every 17th run is made unless that
//! says otherwise.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

#[path = "callgrind_annotate/callees.rs"]
mod callees;
#[path = "callgrind_annotate/facts.rs"]
mod facts;
mod harness;
#[path = "callgrind_annotate/made.rs"]
mod made;
#[path = "callgrind_annotate/options.rs"]
mod options;
#[path = "callgrind_annotate/order.rs"]
mod order;
#[path = "callgrind_annotate/original.rs"]
mod original;
#[path = "callgrind_annotate/output.rs"]
mod output;
#[path = "callgrind_annotate/reading.rs"]
mod reading;
#[path = "callgrind_annotate/rules.rs"]
mod rules;
#[path = "../../format/tests/support/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use facts::{Block, Facts, Row};
use made::{Inlined, Made, inclusive, masked};
use options::{Options, matrix};
use order::Arcs;
use original::{Original, Printed};
use output::{Report, without_zeros};
use rules::Rule;
use words::text;

/// A folder to work in, with the sources of profiles in it and the program under its other name.
struct Workshop {
    here: PathBuf,
    desk: PathBuf,
    program: PathBuf,
}

impl Workshop {
    /// `sources` are copied to `root/srv/demo/src`, where the recordings say they were; `beside` to the folder itself.
    fn new(name: &str, sources: &Path, beside: Option<&Path>) -> Workshop {
        let here = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&here);
        let desk = here.join("desk");
        fs::create_dir_all(&desk).unwrap();
        copy(sources, &here.join("root/srv/demo/src"));
        copy(sources, &here.join("src"));
        if let Some(beside) = beside {
            copy(beside, &here);
        }
        fs::write(here.join("root/unrelated.c"), "int unrelated;\n").unwrap();
        let program = here.join("callgrind_annotate");
        #[cfg(unix)]
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), &program).unwrap();
        Workshop { here, desk, program }
    }

    fn original(&self) -> Original<'_> {
        Original { here: &self.here, desk: &self.desk }
    }
}

/// Copies the files of a folder, those named `stone` as if they had been changed after every recording.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let copy = to.join(path.file_name().unwrap());
        fs::write(&copy, fs::read(&path).unwrap()).unwrap();
        let is_newer = path.file_stem().is_some_and(|stem| stem == "stone");
        let seconds = if is_newer { 4_000_000_000 } else { 1_000_000_000 };
        let age = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().write(true).open(&copy).unwrap().set_modified(age).unwrap();
    }
}

/// Returns the output of the original without its faults, and the faults that occurred.
fn expected(workshop: &Workshop, options: &Options, case: &Case) -> (Printed, BTreeSet<Rule>) {
    let Case { path, facts, .. } = case;
    let mut rules = facts.rules.clone();
    let (total, is_said) = facts.total();
    let is_said = is_said && made::is_heard(&total);
    let print = |options: &Options, content: &[u8]| {
        if made::is_heard(&total) {
            return workshop.original().print(options, path, content);
        }
        let mut printed = workshop.original().print(&options.with_events(&facts.events), path, content);
        printed.stdout = made::without_said(&printed.stdout);
        printed
    };
    let inlined = match (options.is_inclusive(), options.has_tree()) {
        (true, _) => Inlined::Whole,
        (false, true) => Inlined::CallsMoved,
        // Inlined code with calls only is not listed.
        (false, false) if facts.blocks.iter().any(inlines_only_calls) => Inlined::CallsMoved,
        (false, false) => Inlined::Kept,
    };
    let moves = |row: &Row| inlined == Inlined::Whole || inlined == Inlined::CallsMoved && row.call.is_some();
    let is_moved = |block: &Block| block.rows.iter().any(|row| row.file != block.file && moves(row));
    if facts.blocks.iter().any(is_moved) {
        rules.insert(Rule::Inlining);
    }
    let is_recursive = options.is_inclusive() && inclusive(facts).1;
    if is_recursive {
        rules.insert(Rule::Recursion);
    }
    let has_parts = facts.parts.len() > 1;
    let is_calculated = !is_said && (has_parts || options.is_inclusive());
    if is_calculated && !has_parts {
        rules.insert(Rule::InclusiveTotal);
    }
    let said = (is_said || is_calculated).then_some(&total);
    let whole = Made::whole(facts, inlined, said);
    let content = if is_recursive { Made::flat(facts, said) } else { whole.clone() };
    let without_tree = if is_recursive { options.without_tree() } else { options.clone() };
    let mut printed = print(&without_tree, &content);
    if !printed.succeeded {
        return (printed, rules);
    }
    let mut report = Report::parse(&printed.stdout);
    if is_recursive && options.has_tree() {
        let tree = print(&options.with_everything(), &whole);
        let arcs = case.arcs.get_or_init(|| Arcs::of(facts));
        report.with_tree(&Report::parse(&tree.stdout), &arcs.masked_functions(), options.has_percentages());
    }
    if is_calculated {
        report.head = report.head.replacen(" PROGRAM TOTALS\n", " PROGRAM TOTALS (calculated)\n", 1);
    }
    if has_rows_of_several(facts) {
        rules.insert(Rule::CallRows);
    }
    if [Rule::CallRows, Rule::Inlining, Rule::Recursion].iter().any(|rule| rules.contains(rule)) {
        let mut chosen = report.chosen();
        if inlined == Inlined::Whole && options.annotates() {
            let arcs = case.arcs.get_or_init(|| Arcs::of(facts));
            let listed = report.listed(&arcs.masked_functions(), options.has_tree());
            chosen.extend(files_of(facts, &listed));
        }
        let rows = facts.blocks.iter().flat_map(|block| &block.rows);
        let chosen_with_rows = rows.map(|row| masked(&row.file)).collect();
        report.sections.retain_mut(|section| section.tells_nothing(&chosen_with_rows));
        chosen.retain(|file| report.sections.iter().all(|section| section.name() != file));
        let sources = print(&options.for_sources(), &Made::sources(facts, &chosen, &total));
        assert!(sources.succeeded, "{options:?}");
        let sources = Report::parse(&sources.stdout);
        report.sections.extend(sources.sections);
        report.tail = sources.tail;
    }
    if report.sections.len() > 1 {
        rules.insert(Rule::Order);
    }
    report.sort();
    if made::has_odd_name(facts) {
        rules.insert(Rule::FileName);
    }
    let mut report = Report::parse(&made::unmasked(&without_zeros(&report.text()), facts));
    let text = report.text();
    report.list_in_order(&options.sources);
    if rules.contains(&Rule::FileName) {
        report.list_missing_in_order();
    }
    case.arcs.get_or_init(|| Arcs::of(facts)).sort(&mut report, &options.sorted_by(&facts.events));
    if report.text() != text {
        rules.insert(Rule::Order);
    }
    printed.stdout = report.text();
    (printed, rules)
}

/// Returns `true` if a function contains code of another file that only makes calls.
fn inlines_only_calls(block: &Block) -> bool {
    let files = |is_call: bool| {
        let rows = block.rows.iter().filter(move |row| row.call.is_some() == is_call);
        rows.map(|row| &row.file).collect::<BTreeSet<_>>()
    };
    files(true).difference(&files(false)).any(|file| **file != block.file)
}

/// The files that these functions have lines in.
fn files_of(facts: &Facts, functions: &BTreeSet<&str>) -> BTreeSet<String> {
    let name = |block: &Block| format!("{}:{}", masked(&block.file), made::masked_function(&block.function));
    let is_one = |block: &&Block| functions.contains(name(block).as_str());
    let rows = facts.blocks.iter().filter(is_one).flat_map(|block| &block.rows);
    let own = rows.filter(|row| row.call.is_none());
    own.map(|row| masked(&row.file)).filter(|file| file != "???").collect()
}

/// Returns `true` if functions that the original distinguishes make calls on the same line of a file.
fn has_rows_of_several(facts: &Facts) -> bool {
    let mut callers = BTreeMap::new();
    facts.blocks.iter().any(|block| {
        let calls = block.rows.iter().filter(|row| row.call.is_some());
        calls
            .into_iter()
            .any(|row| *callers.entry((&row.file, row.line)).or_insert(&block.function) != &block.function)
    })
}

/// The counts of results.
#[derive(Debug, Default)]
struct Tally {
    identical: usize,
    /// Identical in that both fail.
    failed: usize,
    by_rules: BTreeMap<BTreeSet<Rule>, usize>,
    wrong: Vec<String>,
}

impl Tally {
    fn print(&self, what: &str) {
        let explained: usize = self.by_rules.values().sum();
        println!("{what}: {} runs", self.identical + self.failed + explained + self.wrong.len());
        println!("{:>7}  identical", self.identical);
        println!("{:>7}  refused by both", self.failed);
        println!("{explained:>7}  different by rule, each byte for byte; of these by");
        for rule in Rule::ALL {
            let with: usize =
                self.by_rules.iter().filter(|(rules, _)| rules.contains(&rule)).map(|(_, count)| count).sum();
            let alone = self.by_rules.get(&BTreeSet::from([rule])).copied().unwrap_or_default();
            println!("{with:>14}  {rule:?} ({alone} by nothing else)");
        }
        println!("{:>7}  wrong", self.wrong.len());
    }

    fn take(&mut self, workshop: &Workshop, case: &Case, options: &Options) {
        let raw = workshop.original().print(options, &case.path, &case.content);
        let ours = original::run(&workshop.program, &workshop.here, options, &case.path);
        if raw == ours {
            let count = if raw.succeeded { &mut self.identical } else { &mut self.failed };
            *count += 1;
            return;
        }
        let (wanted, rules) = expected(workshop, options, case);
        if wanted == ours && !rules.is_empty() {
            *self.by_rules.entry(rules).or_default() += 1;
            return;
        }
        let wrong = format!(
            "{} {} {}: rules {rules:?}, status {} and should be {}\n{}",
            options.arguments.join(" "),
            case.path.display(),
            options.sources.join(" "),
            ours.succeeded,
            wanted.succeeded,
            first_difference(&wanted.stdout, &ours.stdout)
        );
        // At once, as the rest may take a while.
        println!("wrong: {wrong}");
        self.wrong.push(wrong);
    }
}

fn first_difference(wanted: &str, ours: &str) -> String {
    let mut wanted = wanted.split('\n');
    let mut ours = ours.split('\n');
    let mut number = 0;
    loop {
        number += 1;
        match (wanted.next(), ours.next()) {
            (None, None) => return "the same".to_owned(),
            (one, other) if one == other => {}
            (one, other) => return format!("line {number}\n  should be {one:?}\n  but is    {other:?}"),
        }
    }
}

/// A profile and what is asked of it.
struct Case {
    path: PathBuf,
    content: Vec<u8>,
    facts: Facts,
    options: Vec<Options>,
    arcs: OnceLock<Arcs>,
}

impl Case {
    fn new(path: &Path, workshop: &Workshop) -> Case {
        let content = fs::read(path).unwrap();
        Case::of(path, workshop, &unpacked(&content).unwrap(), content)
    }

    /// `text` is what the content says.
    fn of(path: &Path, workshop: &Workshop, text: &[u8], content: Vec<u8>) -> Case {
        let mut facts = Facts::read(&[text], workshop.here.to_str().unwrap());
        if text != content {
            facts.rules.insert(Rule::Packed);
        }
        let mut sources: Vec<&str> = facts.blocks.iter().map(|block| block.file.as_str()).collect();
        sources.dedup();
        sources.retain(|source| workshop.here.join(format!("root/{source}")).is_file());
        let one = sources.first().copied().unwrap_or("/srv/demo/src/mill.c");
        let other = sources.last().copied().filter(|&last| last != one).unwrap_or("/srv/demo/src/sieve.c");
        let options = matrix(&facts.events, [one, other]);
        Case { path: path.to_owned(), content, facts, options, arcs: OnceLock::new() }
    }
}

/// Returns `true` if a file is selected.
fn is_asked_for(path: &Path) -> bool {
    let only = std::env::var("GRISTMILL_ANNOTATE_ONLY").unwrap_or_default();
    path.to_string_lossy().contains(&only)
}

/// Runs all cases on all cores: every `usual_share`th run, unless the environment says otherwise.
fn judge(what: &str, workshop: &Workshop, cases: &[Case], usual_share: usize) {
    let share = std::env::var("GRISTMILL_ANNOTATE_SHARE").ok().and_then(|share| share.parse().ok());
    let share = share.unwrap_or(usual_share);
    let runs: Vec<(&Case, &Options)> = cases
        .iter()
        .flat_map(|case| case.options.iter().map(move |options| (case, options)))
        .step_by(share)
        .collect();
    let next = AtomicUsize::new(0);
    let whole = Mutex::new(Tally::default());
    let work = || {
        let mut tally = Tally::default();
        while let Some((case, options)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            tally.take(workshop, case, options);
        }
        let mut whole = whole.lock().unwrap();
        whole.identical += tally.identical;
        whole.failed += tally.failed;
        for (rules, count) in tally.by_rules {
            *whole.by_rules.entry(rules).or_default() += count;
        }
        whole.wrong.extend(tally.wrong);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut tally = whole.into_inner().unwrap();
    tally.wrong.sort();
    tally.print(what);
    let shown: Vec<&str> = tally.wrong.iter().take(20).map(String::as_str).collect();
    assert!(tally.wrong.is_empty(), "{} runs are wrong, such as\n{}", tally.wrong.len(), shown.join("\n"));
}

/// Recordings as they would be if they had been made in the working folder: with its path in the names of sources.
fn at_home(workshop: &Workshop) -> Vec<Case> {
    let folder = workshop.here.join("profiles");
    fs::create_dir_all(&folder).unwrap();
    let mut cases = Vec::new();
    for path in harness::corpus() {
        let content = text(&fs::read(&path).unwrap());
        if content.contains("=(") && content.contains("/srv/demo/src/") {
            let home = format!("{}/src/", workshop.here.display());
            let copy = folder.join(path.file_name().unwrap());
            fs::write(&copy, facts::bytes(&content.replace("/srv/demo/src/", &home))).unwrap();
            let mut case = Case::new(&copy, workshop);
            thin(&mut case.options, 5);
            cases.push(case);
        }
    }
    assert!(cases.iter().any(|case| case.facts.rules.contains(&Rule::WorkingFolder)));
    cases
}

/// Several profiles are annotated as one. The original takes the others as source files.
#[test]
fn several_files() {
    if !original::is_installed() {
        return;
    }
    let workshop = Workshop::new("annotate-several", &own_sources(), None);
    let folder = harness::root().join("corpus/callgrind");
    let sets = [
        &["parts-sep.1", "parts-sep.2", "parts-sep.3", "parts-sep"][..],
        &["crew-sep-01", "crew-sep-02", "crew-sep-03", "crew-sep-04"],
        &["mill-main", "mill-fast"],
        &["mill-main", "cache-branch"],
    ];
    let mut judged = 0;
    for names in sets {
        let paths: Vec<PathBuf> =
            names.iter().map(|name| folder.join(format!("callgrind.out.{name}"))).collect();
        let contents: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
        let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        let case = Case {
            facts: Facts::read(&contents, workshop.here.to_str().unwrap()),
            ..Case::new(&paths[0], &workshop)
        };
        let called: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let events =
            ["--show=Ir", "--sort=Ir", "--threshold=100", "--inclusive=yes", "--tree=both", "-I=root"];
        for arguments in [&[][..], &events[..1], &events[1..3], &events[3..4], &events[3..5], &events[5..]] {
            let options = Options::of(&arguments.join(" "));
            let (wanted, _) = expected(&workshop, &options, &case);
            let wanted = wanted.stdout.replace(&called[0], &called.join(", "));
            let output = harness::gristmill(&["annotate"])
                .current_dir(&workshop.here)
                .args(&options.arguments)
                .args(&paths)
                .output()
                .unwrap();
            let ours = text(&output.stdout);
            assert!(wanted == ours, "{arguments:?} {names:?}: {}", first_difference(&wanted, &ours));
            judged += 1;
        }
    }
    println!("{judged} runs on several files are those of the original on one");
}

/// Sources of the project's corpus.
fn own_sources() -> PathBuf {
    harness::root().join("corpus/src")
}

#[test]
fn own_corpus() {
    if !original::is_installed() {
        return;
    }
    let workshop = Workshop::new("annotate-own", &own_sources(), None);
    let mut cases: Vec<Case> = harness::corpus()
        .iter()
        .filter(|path| is_asked_for(path) && left_out(path).is_none())
        .map(|path| Case::new(path, &workshop))
        .collect();
    assert!(cases.iter().all(|case| case.options.len() >= 40));
    cases.extend(at_home(&workshop));
    cases.retain(|case| is_asked_for(&case.path));
    judge("the corpus", &workshop, &cases, harness::one_in(43));
}

#[test]
fn outside_corpus() {
    let Some(folder) = std::env::var_os("GRISTMILL_CORPUS").map(PathBuf::from) else {
        println!("skipped: GRISTMILL_CORPUS names no folder");
        return;
    };
    if !original::is_installed() {
        return;
    }
    let workshop = Workshop::new("annotate-outside", &folder.join("src"), Some(&folder.join("annotated")));
    let manifest = fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    let names = manifest.lines().skip(1).filter_map(|line| line.split('\t').next());
    let paths = names.map(|name| folder.join(name)).filter(|path| path.is_file());
    let cases: Vec<Case> = paths
        .filter(|path| is_asked_for(path))
        .filter(|path| match left_out(path) {
            Some(why) => {
                println!("left out: {}, {why}", path.display());
                false
            }
            None => true,
        })
        .map(|path| {
            let mut case = Case::new(&path, &workshop);
            if case.facts.total().0.iter().all(Option::is_none) {
                // No summary can say that there is no total.
                println!("left out with --inclusive=yes: {}, has no self costs", path.display());
                case.options.retain(|options| !options.is_inclusive());
            }
            // The original reads two megabytes a second.
            match case.content.len() {
                0..50_000 => {}
                50_000..300_000 => thin(&mut case.options, 4),
                _ => thin(&mut case.options, 12),
            }
            case
        })
        .collect();
    // All of them take the original half an hour.
    judge("the outside corpus", &workshop, &cases, 17);
}

/// Files that nothing can be said of with the original, and why: changed profiles do not make it print the right thing.
const WRAPPED: &str =
    "has costs or totals below 0 without their sign, which the original takes as they are written";
const NYTPROF: &str = "has functions with calls in other files, which the original takes for others";

const LEFT_OUT: [(&str, &str); 10] = [
    (
        "malformed/11-dup-event-name.out",
        "names an event type twice, and the original shows the second one twice",
    ),
    ("malformed/26-cost-over-u64.out", "has costs beyond 64 bits, which the original rounds"),
    ("malformed/27-cost-u64max.out", "has sums beyond 64 bits, which the original rounds"),
    ("malformed/30-cost-float.out", "has costs with fractions, which the original adds up"),
    ("malformed/79-summary-u64wrap.out", WRAPPED),
    ("valgrind-callgrind/callgrind.out.clientreq", WRAPPED),
    ("dialects/xdebug3.txt", WRAPPED),
    ("nytprof/nytprof.callgrind", NYTPROF),
    ("nytprof/pod2man.callgrind", NYTPROF),
    ("malformed/C7-fifo-path.out", "has a source file without end, which the original reads to the end"),
];

fn left_out(path: &Path) -> Option<&'static str> {
    let (_, why) = LEFT_OUT.iter().find(|(name, _)| path.ends_with(name)).copied().unzip();
    why.or_else(|| unpacked(&fs::read(path).unwrap()).is_none().then_some("is packed and damaged, or a bomb"))
}

/// Returns the expanded content of a file, or `None` if it cannot be expanded.
fn unpacked(content: &[u8]) -> Option<Vec<u8>> {
    const MOST: u64 = 50_000_000;
    if !content.starts_with(b"\x1f\x8b") {
        return Some(content.to_vec());
    }
    let mut text = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(content).take(MOST).read_to_end(&mut text);
    read.is_ok_and(|read| (read as u64) < MOST).then_some(text)
}

/// Leaves one in `step`, and the first.
fn thin(options: &mut Vec<Options>, step: usize) {
    let mut nth = 0;
    options.retain(|_| {
        nth += 1;
        nth % step == 1
    });
}

/// A profile that triggers no rule is not changed: so no difference is hidden.
#[test]
fn changed_profiles_say_the_same() {
    if !original::is_installed() {
        return;
    }
    let workshop = Workshop::new("annotate-made", &own_sources(), None);
    let mut judged = 0;
    for path in harness::corpus() {
        let case = Case::new(&path, &workshop);
        let options = case.options.iter().filter(|options| !options.arguments.is_empty());
        for options in options.step_by(5 * harness::one_in(16)) {
            let (wanted, rules) = expected(&workshop, options, &case);
            if rules.is_subset(&BTreeSet::from([Rule::Order])) && wanted.succeeded {
                let raw = workshop.original().print(options, &path, &case.content);
                let mut report = Report::parse(&raw.stdout);
                report.sort();
                report.list_in_order(&options.sources);
                Arcs::of(&case.facts).sort(&mut report, &options.sorted_by(&case.facts.events));
                let difference = first_difference(&wanted.stdout, &report.text());
                assert!(wanted.stdout == report.text(), "{options:?} {}: {difference}", path.display());
                judged += 1;
            }
        }
    }
    println!("{judged} runs are the same for the changed profile");
    assert!(judged > 100 / harness::one_in(16), "{judged}");
}
