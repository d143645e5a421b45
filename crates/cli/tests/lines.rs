//! `gristmill functions --group line`: its numbers against arithmetic by hand, `annotate` and `show`, its formats, its refusals.

#![cfg(test)]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use harness::{assert_valid, code, corpus, json, one_in, run, run_in, schema, stderr, stdout, text, whole};

/// `main` costs 30 on line 2, 20 on line 3, 5 on line 9 and 1 in an inlined line. It calls `grind` on line 3, which calls
/// itself, costs 37 and has the inlined line as well.
const PROFILE: &[u8] =
    b"events: Ir Dr\nob=mill\nfl=src/mill.c\nfn=main\n2 30 4\n3 15\n9 5\nfi=grain.h\n1 1\nfe=src/mill.c\n\
    cfn=grind\ncalls=1 7\n3 40 6\n3 5\nfn=grind\n7 37 6\ncfn=grind\ncalls=1 7\n7 12 2\nfi=grain.h\n1 3\n";

const MILL: &[u8] = b"int main(void) {\n\tint sum\t= `0 | 1`;   \n    grind(\"\x1b[2J\");\n\n\n\n=SUM(x)\n";

/// A directory with the profile and its source.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/mill.c"), MILL).unwrap();
    std::fs::write(folder.path().join("profile"), PROFILE).unwrap();
    folder
}

fn lines_of(folder: &Path, arguments: &[&str]) -> String {
    let output = run_in(folder, &[&["functions", "--group", "line", "profile"], arguments].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    let text = stdout(&output);
    text.split_once("(instructions executed)\n").map_or(text.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn numbers_by_hand() {
    let folder = folder();
    let all = "also there: Dr
6 lines

Self     %  With calls     %  Line          Function  Source
  37  38.5          37  38.5  src/mill.c:7  grind     =SUM(x)
  30  31.3          30  31.3  src/mill.c:2  main      int sum = `0 | 1`;
  20  20.8          60  62.5  src/mill.c:3  main      grind(\"\\x1b[2J\");
   5   5.2           5   5.2  src/mill.c:9  main
   3   3.1           3   3.1  grain.h:1     grind
   1   1.0           1   1.0  grain.h:1     main
";
    assert_eq!(lines_of(folder.path(), &[]), all);
    assert_eq!(lines_of(folder.path(), &["--width", "80"]), all);
    let inclusive = "also there: Dr
2 of 6 lines with 59.4% of the self cost

With calls     %  Self     %  Line          Function  Source
        60  62.5    20  20.8  src/mill.c:3  main      grind(\"\\x1b[2J\");
        37  38.5    37  38.5  src/mill.c:7  grind     =SUM(x)
… and 4 more (--limit 0 shows all)
";
    assert_eq!(lines_of(folder.path(), &["--sort", "inclusive", "-n", "2"]), inclusive);
    let narrow = "also there: Dr
1 of 3 matching lines with 31.3% of the self cost

Self     %  Line          Function  Source
  30  31.3  src/mill.c:2  main      int sum = `0 | 1`;
costs with calls need more columns (--width)
… and 2 more (--limit 0 shows all)
";
    let options = ["--file", "mill.c$", "--filter", "main", "-n", "1", "--width", "60", "--sort", "name"];
    assert_eq!(lines_of(folder.path(), &options), narrow);
}

#[test]
fn every_format_has_the_text() {
    let folder = folder();
    let csv = "inclusive Ir,self Ir,inclusive Dr,self Dr,file,line,address,function,object,text
37,37,6,6,src/mill.c,7,,grind,mill,'=SUM(x)
30,30,4,4,src/mill.c,2,,main,mill,int sum\\t= `0 | 1`;
60,20,6,0,src/mill.c,3,,main,mill,\"grind(\"\"\\x1b[2J\"\");\"
";
    let shown = lines_of(folder.path(), &["--format", "csv", "-n", "3"]);
    assert_eq!(shown, csv);
    let markdown = lines_of(folder.path(), &["--format", "markdown", "-n", "1", "-e", "Dr"]);
    assert!(markdown.contains("| Self | % | With calls | % | Line | Function | Source |"), "{markdown}");
    assert!(markdown.contains("| 6 | 60.0 | 6 | 60.0 | src/mill.c:7 | grind | `=SUM(x)` |"), "{markdown}");
    let output = run_in(folder.path(), &["functions", "--group", "line", "--format", "json", "profile"]);
    let document = json(&output);
    assert_valid(&schema("functions-lines.schema.json"), &document, "lines");
    let first = &document["lines"][0];
    assert_eq!((&first["text"], &first["function"]["name"]), (&json!("=SUM(x)"), &json!("grind")));
    assert_eq!(document["lines"].as_array().unwrap().len(), 6);
}

#[test]
fn instructions_stand_for_unknown_lines() {
    let folder = tempfile::tempdir().unwrap();
    let profile = "positions: instr line\nevents: Ir\nfn=f\n0x10 0 5\n0x12 0 7\n0x14 3 1\n0x10 0 5\n";
    std::fs::write(folder.path().join("profile"), profile).unwrap();
    let shown = lines_of(folder.path(), &[]);
    let expected = "3 lines

Self     %  Line      Function
  10  55.6  ??? 0x10  f
   7  38.9  ??? 0x12  f
   1   5.6  ???:3     f
";
    assert_eq!(shown, expected);
}

#[test]
fn options_without_a_meaning_are_refused() {
    let folder = folder();
    for (options, message) in [
        (&["--hide", "grind"][..], "--focus, --exclude and --hide have no meaning for source lines"),
        (&["--then", "function"], "--then has no meaning for source lines"),
        (&["--per-call"], "--per-call has no meaning for source lines"),
        (&["--rates"], "--rates has no meaning for source lines"),
        (&["--sort", "calls"], "--sort calls has no meaning for source lines"),
    ] {
        let output = run_in(folder.path(), &[&["functions", "--group", "line", "profile"], options].concat());
        assert_eq!(code(&output), 2, "{options:?}");
        assert!(
            stderr(&output).starts_with(&format!("gristmill: {message}\n  hint: ")),
            "{}",
            stderr(&output)
        );
    }
    for (options, warning) in [
        (["--filter", "grnd"], "no function matches `grnd`; the nearest name is grind"),
        (["--object", "nosuch"], "no object file matches `nosuch`"),
        (["--file", "nosuch"], "no source file matches `nosuch`"),
    ] {
        let output =
            run_in(folder.path(), &[&["functions", "--group", "line", "profile"], &options[..]].concat());
        assert_eq!((code(&output), stderr(&output)), (0, format!("gristmill: warning: {warning}\n")));
    }
}

type Costs = Vec<(String, i128)>;

fn costs(of: &Value) -> Costs {
    of.as_object().unwrap().iter().map(|(event, cost)| (event.clone(), whole(cost))).collect()
}

fn answer(path: &Path, arguments: &[&str]) -> Option<Value> {
    let output = run(&[arguments, &["--format", "json", text(path)]].concat());
    (code(&output) == 0).then(|| json(&output))
}

/// The lines of a function are those that `show` has, which reads one function, and the self costs of all lines of a function
/// add up to that of the function.
#[test]
fn lines_are_those_of_show_and_add_up_to_functions() {
    let mut tried = 0;
    for path in corpus().iter().step_by(one_in(7)) {
        let Some(functions) = answer(path, &["functions"]) else { continue };
        let all = answer(path, &["functions", "--group", "line"]).unwrap();
        let mut sums: BTreeMap<i128, BTreeMap<String, i128>> = BTreeMap::new();
        let mut lines: BTreeMap<i128, Vec<(Value, Value, Costs, Costs)>> = BTreeMap::new();
        for line in all["lines"].as_array().unwrap() {
            let id = whole(&line["function"]["id"]);
            for (event, cost) in costs(&line["self"]) {
                *sums.entry(id).or_default().entry(event).or_default() += cost;
            }
            let row =
                (line["file"].clone(), line["line"].clone(), costs(&line["self"]), costs(&line["inclusive"]));
            lines.entry(id).or_default().push(row);
        }
        for (nth, function) in functions["functions"].as_array().unwrap().iter().enumerate() {
            let id = whole(&function["id"]);
            let sum: Costs = sums.get(&id).cloned().unwrap_or_default().into_iter().collect();
            let mut own = costs(&function["self"]);
            own.sort();
            let is_zero = own.iter().all(|(_, cost)| *cost == 0);
            assert!(sum == own || sum.is_empty() && is_zero, "{}: {function}, not {sum:?}", path.display());
            let name = function["name"].as_str().unwrap();
            // `show` finds a function by its name: only the first of several with the same one.
            if nth >= 3 || name.is_empty() {
                continue;
            }
            let Some(shown) = answer(path, &["show", &format!("^{}$", regex::escape(name))]) else {
                continue;
            };
            let id = whole(&shown["function"]["id"]);
            let mut expected: Vec<_> = shown["lines"]["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|line| {
                    (
                        line["file"].clone(),
                        line["line"].clone(),
                        costs(&line["self"]),
                        costs(&line["inclusive"]),
                    )
                })
                .collect();
            let mut found = lines.get(&id).cloned().unwrap_or_default();
            let key = |row: &(Value, Value, Costs, Costs)| format!("{row:?}");
            expected.sort_by_key(key);
            found.sort_by_key(key);
            assert_eq!(found, expected, "{}: {name}", path.display());
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}
