//! Names in tables: no two rows of one table read the same, and every row has the function's own name, on terminals of any width.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use harness::{code, corpus, folder, has, json, one_in, root, run, stderr, stdout, text};

/// The last component of a function's name: its own name without the suffix of a compiler.
fn last_component(name: &str) -> String {
    let own = own_name(name);
    // The parts of a name with dots belong together: one of them is enough here.
    own.trim_matches('.').rsplit('.').find(|part| part.parse::<u32>().is_err()).unwrap_or(&own).to_owned()
}

/// The own name of a function, found in a plain way: without brackets and what is in them, without a return type, and behind
/// the last separator.
fn own_name(name: &str) -> String {
    let quote = |name: &str| {
        let mut depth = 0i32;
        let before = |at: usize| name[..at].ends_with(|it: char| !it.is_whitespace() && it != ':');
        name.char_indices().find_map(|(at, it)| {
            match it {
                '<' | '(' | '{' | '[' => depth += 1,
                '>' | ')' | '}' | ']' => depth -= 1,
                _ => {}
            }
            (it == '\'' && depth <= 0 && before(at)).then_some(at)
        })
    };
    if name.starts_with("cycle ") && name.ends_with(" …") {
        return own_name(&name[name.find(": ").unwrap() + 2..name.len() - " …".len()]);
    }
    let name = &name[..quote(name).unwrap_or(name.len())];
    // Names that are in brackets as a whole, operators, and numbers.
    if name.starts_with(['<', '(', '{', '0', '-', '+'])
        || name.contains("operator")
        || name.contains("closure")
        // An operator of Ruby: `Gem/Version::<=>`.
        || name.rsplit("::").next().is_some_and(|last| !last.contains(char::is_alphanumeric))
    {
        return String::new();
    }
    // A method of PHP; types of Rust have blanks beside their arrow.
    let name = if name.contains(" ->") { name.to_owned() } else { name.replace("->", "::") };
    let name = name.split(" [clone").next().unwrap();
    let mut depth = 0;
    let mut kept = String::new();
    for it in name.chars() {
        match it {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            _ if depth == 0 => kept.push(it),
            _ => {}
        }
    }
    let kept = kept.trim_end_matches(':').replace(" const", "");
    // `f module:12` of Python, or a return type.
    let is_python =
        name.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok()) && !name.contains("::");
    let words: Vec<&str> = kept.split(' ').collect();
    let last = if is_python { words[0] } else { words[words.len() - 1] };
    last.rsplit([':', '\\', '>', '#']).next().unwrap().to_owned()
}

/// The last columns of the rows of the first table in a text: the texts below the title.
fn last_column<'t>(shown: &'t str, title: &str) -> Vec<&'t str> {
    let mut lines = shown.lines();
    let start = lines.find_map(|line| line.find(title).filter(|_| line.trim_end().ends_with(title)));
    let Some(start) = start else { return Vec::new() };
    let start = shown
        .lines()
        .find(|line| line.trim_end().ends_with(title))
        .map_or(start, |line| line[..start].chars().count());
    lines
        .take_while(|line| {
            !line.is_empty() && !["… and", "counts of calls", "≤"].iter().any(|note| line.starts_with(note))
        })
        .map(|line| line.char_indices().nth(start).map_or("", |(at, _)| &line[at..]))
        .collect()
}

fn functions(path: &Path) -> Vec<Value> {
    let output = run(&["functions", "--limit", "0", "--format", "json", text(path)]);
    match code(&output) {
        0 => json(&output)["functions"].as_array().unwrap().clone(),
        _ => Vec::new(),
    }
}

fn shown(command: &[&str], path: &Path, width: &str) -> String {
    let output = run(&[command, &["--width", width, text(path)]].concat());
    assert_eq!(code(&output), 0, "{command:?} {}: {}", path.display(), stderr(&output));
    stdout(&output)
}

fn check(path: &Path) {
    let functions = functions(path);
    if functions.is_empty() {
        return;
    }
    for width in ["60", "80", "200"] {
        let shown = shown(&["functions", "--limit", "0"], path, width);
        let rows = last_column(&shown, "Function");
        // Several event types have lines of their own below each name.
        if rows.is_empty() {
            return;
        }
        assert_eq!(rows.len(), functions.len(), "{}:\n{shown}", path.display());
        let before = shown.lines().find_map(|line| line.find("  Function")).map_or(0, |at| at + 2);
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (nth, (row, function)) in rows.iter().zip(&functions).enumerate() {
            let name = function["name"].as_str().unwrap();
            if let Some(other) = known.insert(row, nth) {
                panic!("{} at {width}: `{row}` is {name} and {}", path.display(), functions[other]["name"]);
            }
            let last = last_component(name);
            // An own name that has no space is cut in its middle; rows differ all the same.
            let own = name.rsplit("::").next().map_or(0, str::len).max(last.len());
            let mark = row.find(" [cycle ").map_or(0, |at| row.len() - at);
            // Two functions of one name differ by their places.
            let is_shared = functions.iter().filter(|other| other["name"] == *name).count() > 1;
            let place = row.rfind(" (").filter(|_| is_shared).map_or(0, |at| row[at..].chars().count());
            let has_no_space = width == "60" || before + own + place + mark > width.parse().unwrap();
            let is_cut = has_no_space && row.contains('…');
            assert!(
                is_cut || row.contains(&last),
                "{} at {width}: `{row}` has no `{last}`: {name}",
                path.display()
            );
        }
    }
    check_tree(path);
    let hottest = functions.iter().find(|function| function["calls"] != 0).unwrap_or(&functions[0]);
    check_neighbours(path, hottest["name"].as_str().unwrap());
}

/// Nodes of different functions do not read the same, and have the names of their functions.
fn check_tree(path: &Path) {
    let options = ["tree", "--limit", "60", "--min", "0", "--no-chains"];
    let as_json = |more: &[&str]| run(&[&options[..], more, &["--format", "json", text(path)]].concat());
    let tree = as_json(&[]);
    if code(&tree) != 0 {
        return;
    }
    // Text shows the first event type, and only what costs or calls anything of it.
    let all = json(&tree);
    let first = all["event_types"][0].as_str().unwrap();
    let tree = json(&as_json(&["--event", first]));
    let entries = tree["functions"].as_array().unwrap();
    let nodes = tree["nodes"].as_array().unwrap();
    let shown = shown(&options, path, "80");
    let rows: Vec<&str> = last_column(&shown, "Function")
        .into_iter()
        .map(|row| row.trim_start_matches(|it: char| "│├└ ›".contains(it) || it.is_ascii_digit()))
        .collect();
    let number = |node: &Value, member: &str| usize::try_from(node[member].as_u64().unwrap()).unwrap();
    let mut known: HashMap<&str, usize> = HashMap::new();
    // The nodes above, each with its depth, and `true` if a row for what is left out below it comes at its end.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut rows = rows.into_iter().peekable();
    for node in nodes {
        let depth = number(node, "depth");
        while let Some((_, has_rest)) = open.pop_if(|(above, _)| *above >= depth) {
            if has_rest {
                rows.next();
            }
        }
        open.push((depth, number(node, "hidden") > 0));
        let entry = number(node, "function");
        let name = entries[entry]["name"].as_str().unwrap();
        // The program is left out above its only function.
        if depth == 0 && name == "(program)" && rows.peek() != Some(&name) {
            continue;
        }
        let row = rows.next().unwrap_or_else(|| panic!("{}: no row for {name}\n{shown}", path.display()));
        let other = *known.entry(row).or_insert(entry);
        assert!(other == entry, "{}: `{row}` is {name} and {}", path.display(), entries[other]["name"]);
        let last = last_component(name);
        let last = last.trim_start_matches(|it: char| it.is_ascii_digit());
        // A long own name far from the root is cut in its middle.
        let is_cut = own_name(name).len() > 12 && row.contains('…');
        assert!(is_cut || row.contains(last), "{}: `{row}` has no `{last}`: {name}\n{shown}", path.display());
    }
}

/// Callers and callees do not read the same.
fn check_neighbours(path: &Path, name: &str) {
    let output = run(&["show", "--limit", "0", "--width", "80", name, text(path)]);
    if code(&output) != 0 {
        return;
    }
    let shown = stdout(&output);
    for title in ["Callers:", "Callees:"] {
        let Some((_, table)) = shown.split_once(&format!("\n{title}")) else { continue };
        let mut rows = last_column(table, "Function");
        let all = rows.len();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), all, "{}:\n{shown}", path.display());
    }
}

#[test]
fn rows_of_the_corpus_differ() {
    let mut files = corpus();
    // The other corpus has profiles of many producers.
    if let Some(other) = harness::other_corpus() {
        let is_small = |path: &PathBuf| path.metadata().unwrap().len() < 600_000;
        let found = harness::files_below(&other).into_iter().filter(is_small);
        files.extend(found.filter(|file| !file.to_string_lossy().contains("malformed")));
    }
    files.iter().step_by(one_in(3)).for_each(|file| check(file));
}

const CPP: &str = r#"
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>
namespace gen {
struct Stone { int weight; double size; bool operator<(const Stone &o) const { return weight < o.weight; } };
template <class T, class U> struct Pair { T first; U second; };
template <class T> struct Hopper {
  std::vector<T> grains;
  void fill(int count) { for (int i = 0; i < count; i++) grains.push_back(T()); }
  template <class F> auto fold(F f) { auto sum = 0; for (auto &g : grains) sum += f(g); return sum; }
};
__attribute__((noinline)) long collatz(long n, int depth) { return n == 1 || depth > 30 ? depth : collatz(n % 2 ? 3 * n + 1 : n / 2, depth + 1); }
namespace { __attribute__((noinline)) int helper(int x) { return x * 3; } }
}
static __attribute__((noinline)) int helper(int x) { return x * 5; }
int main() {
  gen::Hopper<gen::Stone> stones; stones.fill(40);
  gen::Hopper<gen::Pair<int, gen::Stone>> pairs; pairs.fill(30);
  gen::Hopper<gen::Pair<long, gen::Pair<int, char>>> nested; nested.fill(30);
  std::sort(stones.grains.begin(), stones.grains.end());
  std::map<std::string, std::vector<int>> sieve; std::map<std::string, std::vector<long>> other;
  for (int i = 0; i < 20; i++) { sieve[std::to_string(i)].push_back(i); other[std::to_string(i)].push_back(i); }
  int sum = stones.fold([](auto &s) { return s.weight; }) + pairs.fold([](auto &p) { return p.first; });
  sum += helper(sum) + gen::helper(sum) + gen::collatz(27, 0) + nested.fold([](auto &p) { return p.second.first; });
  return sum == 0;
}
"#;

const RUST: &str = r#"
use std::collections::{BTreeMap, HashMap};
trait Grind { fn grind(&self) -> u64; }
impl Grind for u32 { #[inline(never)] fn grind(&self) -> u64 { u64::from(*self) * 3 } }
impl Grind for u64 { #[inline(never)] fn grind(&self) -> u64 { *self * 5 } }
impl<T: Grind> Grind for Vec<T> { #[inline(never)] fn grind(&self) -> u64 { self.iter().map(|it| it.grind()).sum() } }
mod gen { #[inline(never)] pub fn collatz(n: u64, depth: u32) -> u32 { if n == 1 || depth > 30 { depth } else { collatz(if n % 2 == 0 { n / 2 } else { 3 * n + 1 }, depth + 1) } } }
fn main() {
    let mut words: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for n in 0..50u32 { words.entry(format!("{n}")).or_default().push(n); *counts.entry(u64::from(n % 7)).or_default() += 1; }
    let mut sorted: Vec<Vec<u32>> = words.into_values().collect();
    sorted.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| b.cmp(a)));
    let nested: Vec<Vec<u64>> = vec![vec![1, 2], vec![3]];
    let sum = sorted.grind() + nested.grind() + u64::from(gen::collatz(27, 0)) + counts.values().sum::<u64>();
    std::process::exit(i32::from(sum == 0));
}
"#;

/// Five recordings of this machine: C++ with templates, mangled and not, with levels of recursion and with callers; Rust.
#[test]
fn rows_of_live_recordings_differ() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let folder = folder(&[("mill.cc", CPP.as_bytes()), ("mill.rs", RUST.as_bytes())]);
    let path = |name: &str| folder.path().join(name);
    let succeed = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    succeed(Command::new("g++").args(["-std=c++17", "-g", "-O0", "-o", "cpp", "mill.cc"]));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    succeed(Command::new(rustc).args(["--edition=2021", "-g", "-o", "rust", "mill.rs"]));
    let recordings: [(&str, &[&str]); 5] = [
        ("cpp", &[]),
        ("cpp", &["--demangle=no"]),
        ("cpp", &["--separate-recs=4"]),
        ("cpp", &["--separate-callers=3"]),
        ("rust", &[]),
    ];
    for (nth, (program, options)) in recordings.into_iter().enumerate().step_by(one_in(2)) {
        let profile = path(&format!("callgrind.out.{nth}"));
        let out = format!("--callgrind-out-file={}", text(&profile));
        succeed(
            Command::new("valgrind").args(["-q", "--tool=callgrind", &out]).args(options).arg(path(program)),
        );
        check(&profile);
    }
}

/// Functions that differ only in the hash of Rust's older mangling show digits of it.
#[test]
fn rows_of_equal_names_differ() {
    let profile = "events: Ir\nfl=option.rs\nfn=main\n1 1\n\
        cfn=core::Option<T>::map::h68559c08dd5b1af3\ncalls=1 1\n2 5\n\
        cfn=core::Option<T>::map::h68569c08dd5b1af3\ncalls=1 1\n2 7\n\
        fn=core::Option<T>::map::h68559c08dd5b1af3\n1 5\nfn=core::Option<T>::map::h68569c08dd5b1af3\n1 7\n\
        fn=core::Option<T>::take::h68569c08dd5b1af3\n1 2\n";
    let folder = folder(&[("callgrind.out.1", profile.as_bytes())]);
    let path = folder.path().join("callgrind.out.1");
    check(&path);
    for command in [&["functions"][..], &["show", "main"], &["tree"], &["tree", "--inverted"], &["overview"]]
    {
        let shown = shown(command, &path, "80");
        for name in ["core::Option<T>::map [h6855]", "core::Option<T>::map [h6856]"] {
            assert!(shown.contains(name), "{command:?}: {shown}");
        }
        assert!(!shown.contains("take [h"), "{shown}");
    }
}

/// Into a pipe, names are in full; the width is that of the option, of `COLUMNS`, or of the terminal.
#[test]
fn widths_of_names() {
    let names = root().join("corpus/callgrind/callgrind.out.names");
    let command = |words: &[&str], columns: Option<&str>| {
        let mut command = harness::gristmill(words);
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        let output = command.arg(&names).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let full = "mill::Hopper<mill::Blend<mill::Blend<unsigned long, char>, mill::Blend<int, short> >, 4>::operator<<";
    let short = "mill::Hopper<…>::operator<<(…) (names.cc)";
    assert!(command(&["functions"], None).contains(full));
    for shown in [
        command(&["functions", "--width", "80"], None),
        command(&["functions"], Some("80")),
        command(&["functions", "--width", "80"], Some("200")),
    ] {
        assert!(shown.contains(short) && !shown.contains(full), "{shown}");
    }
    assert!(command(&["functions", "--width", "80", "--full-names"], None).contains(full));
    assert!(command(&["functions", "--full-names"], Some("60")).contains(full));
    assert!(command(&["functions"], Some("nonsense")).contains(full));
    // Documents have the whole name beside the pointer.
    let markdown = command(&["functions", "--format", "markdown"], None);
    assert!(markdown.contains("<span title=\"mill::Hopper&lt;mill::Blend&lt;"), "{markdown}");
    let output = run(&["functions", "--width", "39", text(&names)]);
    assert_eq!(code(&output), 2);
}
