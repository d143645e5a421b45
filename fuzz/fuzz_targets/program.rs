//! Every command ends well on every profile: with an exit status of its own, valid documents, no control characters, memory
//! in proportion to the input, and the same totals after `rewrite` and `merge`.
#![no_main]

#[path = "../../crates/cli/tests/hostile/budgets.rs"]
mod budgets;
#[path = "../../crates/cli/tests/hostile/joined.rs"]
mod joined;
#[path = "../../crates/cli/tests/hostile/shapes.rs"]
mod shapes;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gristmill_cli::in_process::{Outcome, command_lines, run};
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A longer profile takes too much of the time of a search.
const MAX_BYTES: usize = 1 << 20;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("gristmill-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the profile");
    folder
});

fuzz_target!(|data: &[u8]| {
    let [first, second, rest @ ..] = data else { return };
    let path = FOLDER.join("callgrind.out.1");
    let profile = match first % 4 {
        0 => rest.to_vec(),
        1 | 3 => Generator::new(rest).profile(),
        _ => return check_joined(&path, rest),
    };
    std::fs::write(&path, &profile).expect("the profile is written");
    let lines = command_lines([&path, &path]);
    let words = &lines[(usize::from(*first) << 7 | usize::from(*second)) % lines.len()];
    check(words, &run_bounded(words, profile.len()));
    if second & 7 == 0 {
        check_copies(&path, profile.len());
    }
});

/// Runs a command with several options on profiles of several hostile shapes.
fn check_joined(path: &Path, choices: &[u8]) {
    let mut choices = choices.iter();
    let mut draw = |below: usize| {
        let mut choice = || usize::from(choices.next().copied().unwrap_or(0));
        (choice() << 8 | choice()) % below
    };
    let other = FOLDER.join("callgrind.out.2");
    let [one, two] = [path, &other].map(|path| {
        let text = joined::Joined::draw(1, &mut draw).text;
        std::fs::write(path, &text).expect("the profile is written");
        text.len()
    });
    let words = joined::command(&command_lines([path, &other]), &mut draw);
    check(&words, &run_bounded(&words, (one + two).div_ceil(2)));
}

/// Runs a command, and checks its memory.
fn run_bounded(words: &[OsString], size: usize) -> Outcome {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let outcome = run(words.iter().cloned());
    // Output is kept here; it goes to a pipe in the program.
    let kept = 2 * (outcome.stdout.capacity() + outcome.stderr.capacity());
    let used = MEMORY.peak_usage().saturating_sub(before);
    // Some commands take the profile twice.
    let allowed = words[0].to_str().and_then(|command| budgets::allowed(command, 2 * size));
    assert!(allowed.is_none_or(|allowed| used <= allowed + kept), "{words:?}: {used} bytes for {size}");
    outcome
}

fn check(words: &[OsString], outcome: &Outcome) {
    assert!(outcome.status <= 2, "{words:?}: {}", outcome.status);
    let has = |option: &str| words.iter().any(|word| word == option);
    // The text of a profile goes to a pipe as it is.
    let is_profile = words[0] == "rewrite" || words[0] == "merge" || has("--format=callgrind");
    if !is_profile {
        refuse_controls(words, &outcome.stdout);
    }
    refuse_controls(words, &outcome.stderr);
    if outcome.stdout.is_empty() {
        return;
    }
    let is_answer = words.iter().any(|word| word.to_string_lossy().starts_with("--answer="));
    if is_answer || has("--format=json") || has("--format=sarif") {
        let json: Result<serde_json::Value, _> = serde_json::from_slice(&outcome.stdout);
        assert!(json.is_ok(), "{words:?}: {json:?}");
    }
    if has("--format=csv") {
        check_csv(words, &outcome.stdout);
    }
}

/// Refuses what a terminal acts on, and what hides or reorders text.
fn refuse_controls(words: &[OsString], output: &[u8]) {
    let text = std::str::from_utf8(output).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let is_allowed = |c: char| {
        matches!(c, '\n' | '\t')
            || !(c.is_control()
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                || matches!(c, '\u{e0000}'..='\u{e007f}'))
    };
    if let Some(found) = text.chars().find(|&c| !is_allowed(c)) {
        panic!("{words:?}: {found:?} in the output");
    }
}

/// All lines have as many cells.
fn check_csv(words: &[OsString], output: &[u8]) {
    let (mut cells, mut is_quoted, mut expected) = (1, false, None);
    for byte in output {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => cells += 1,
            b'\n' if !is_quoted => {
                assert_eq!(*expected.get_or_insert(cells), cells, "{words:?}: cells of a line");
                cells = 1;
            }
            _ => {}
        }
    }
    assert!(!is_quoted, "{words:?}: a quote is open");
}

/// A rewritten and a merged profile have the totals of the original, and merging again changes nothing.
fn check_copies(path: &Path, size: usize) {
    let Some(totals) = totals(path, size) else { return };
    for command in ["rewrite", "merge"] {
        let words = [command.into(), path.into()];
        let copy = run_bounded(&words, size);
        if copy.status != 0 {
            continue;
        }
        let copied = FOLDER.join("copy.out");
        std::fs::write(&copied, &copy.stdout).expect("the copy is written");
        assert_eq!(self::totals(&copied, size + copy.stdout.len()), Some(totals.clone()), "{words:?}");
        if command == "merge" {
            let again = run_bounded(&["merge".into(), copied.into()], size + copy.stdout.len());
            assert_eq!(String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&copy.stdout));
        }
    }
}

/// The totals of a profile that is whole.
fn totals(path: &Path, size: usize) -> Option<serde_json::Value> {
    let words = ["functions".into(), "--format=json".into(), "--limit=1".into(), path.into()];
    let outcome = run_bounded(&words, size);
    if outcome.status != 0 {
        return None;
    }
    let json: serde_json::Value = serde_json::from_slice(&outcome.stdout).expect("valid JSON");
    json["damage"].as_array().is_none_or(Vec::is_empty).then(|| json["totals"].clone())
}

/// Makes a profile by following the bytes of the search: mostly valid, with large counts of everything.
struct Generator<'d> {
    choices: std::slice::Iter<'d, u8>,
    text: String,
}

impl<'d> Generator<'d> {
    fn new(choices: &'d [u8]) -> Self {
        Generator { choices: choices.iter(), text: String::new() }
    }

    fn choice(&mut self) -> u8 {
        self.choices.next().copied().unwrap_or(0)
    }

    /// A small number most of the time, and sometimes thousands.
    fn count(&mut self) -> usize {
        match self.choice() {
            small @ 0..=199 => usize::from(small % 8),
            middle @ 200..=245 => usize::from(middle) * 2,
            large => (usize::from(large) - 245) * 900,
        }
    }

    fn number(&mut self) -> u64 {
        match self.choice() {
            small @ 0..=239 => u64::from(small),
            240..=247 => u64::MAX - u64::from(self.choice()),
            shift => 1 << ((shift - 248) * 8 + 7),
        }
    }

    fn position(&mut self) -> String {
        match self.choice() % 16 {
            0 => format!("+{}", self.number()),
            1 => format!("-{}", self.number() % 50),
            2 => "*".to_owned(),
            3 => format!("0x{:x}", self.number()),
            _ => (u64::from(self.choice()) + 1).to_string(),
        }
    }

    fn name(&mut self) -> String {
        let id = self.choice() % 40;
        match self.choice() {
            0..=99 => format!("({id})"),
            100..=199 => format!("({id}) name{id}"),
            200..=209 => format!("name{id}'name{}'main", id / 2),
            210..=214 => format!("({id}) ({})'({})", id / 2, id / 3),
            215..=219 => "n".repeat(1 + self.count()),
            220..=224 => format!("name{id}'{}", self.choice()),
            225..=229 => format!("_ZN3std6vector{}IiSaIiEE9push_backE{}v", id, "S_".repeat(usize::from(id))),
            230..=234 => "=cmd|'/c calc'!A0, @everyone [x](y) `a` | <b>".to_owned(),
            235..=239 => "\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{e0041}\u{7f}\r".to_owned(),
            _ => format!("name{id}"),
        }
    }

    fn profile(mut self) -> Vec<u8> {
        let producer = self.choice();
        match producer % 8 {
            0 => self.line("creator: xdebug 3.2.0 (PHP 8.2.36)"),
            1 => {}
            _ => self.line("version: 1\ncreator: callgrind-3.19.0\npid: 1"),
        }
        let mut parts = 1 + self.count();
        while parts > 0 && self.text.len() < MAX_BYTES {
            parts -= 1;
            self.part();
            // The rest of the parts are alike if the search has no more to say.
            if self.choices.as_slice().is_empty() {
                break;
            }
        }
        let mut bytes = self.text.into_bytes();
        bytes.truncate(MAX_BYTES);
        bytes
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn part(&mut self) {
        let part = self.choice();
        self.line(&format!("part: {part}"));
        let positions = if part.is_multiple_of(5) { "instr line" } else { "line" };
        self.line(&format!("positions: {positions}"));
        let events = 1 + self.count().min(4000);
        let base = if self.choice().is_multiple_of(4) { "E" } else { "Ir" };
        let names: String = (0..events).fold(String::new(), |mut names, event| {
            let _ = write!(names, " {base}{event}");
            names
        });
        self.line(&format!("events:{names}"));
        for derived in 0..self.count() {
            let (one, other) = (self.choice(), self.choice());
            self.line(&format!(
                "event: D{derived} = {one} {base}0 + 0x{other:x} D{}",
                derived.wrapping_sub(1)
            ));
            if self.text.len() > MAX_BYTES {
                return;
            }
        }
        let mut blocks = 1 + self.count();
        while blocks > 0 && self.text.len() < MAX_BYTES {
            blocks -= 1;
            self.block(positions == "instr line");
        }
    }

    fn block(&mut self, has_address: bool) {
        for key in ["ob", "fl", "fn"] {
            if key == "fn" || self.choice().is_multiple_of(3) {
                let name = self.name();
                self.line(&format!("{key}={name}"));
            }
        }
        let mut lines = 1 + self.count();
        while lines > 0 && self.text.len() < MAX_BYTES {
            lines -= 1;
            let place = if has_address {
                format!("{} {}", self.position(), self.position())
            } else {
                self.position()
            };
            match self.choice() % 16 {
                0..=7 => {}
                8..=11 => {
                    let (name, count, target) = (self.name(), self.number(), self.position());
                    self.line(&format!("cfn={name}\ncalls={count} {target}"));
                }
                12 => {
                    let name = self.name();
                    self.line(&format!("fi={name}"));
                }
                13 => {
                    let (taken, target) = (self.choice(), self.position());
                    self.line(&format!("jcnd={taken}/255 {target}"));
                    self.line(&place);
                    continue;
                }
                14 => {
                    let blank = "\n".repeat(self.count());
                    self.text.push_str(&blank);
                }
                _ => {
                    let garbage = self.name();
                    self.line(&garbage);
                }
            }
            let mut line = place;
            for _ in 0..=self.choice() % 3 {
                let _ = write!(line, " {}", self.number());
            }
            self.line(&line);
        }
    }
}
