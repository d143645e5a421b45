//! `gristmill annotate --format json`: held to its schema, its numbers against sums and against a file by hand, and what
//! it says of sources.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(test)]

mod harness;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jsonschema::Validator;
use serde_json::{Value, json};

use harness::{
    assert_valid, code, corpus, exactly, folder, malformed, root, run, run_in, schema, stderr, stdout, text,
    whole,
};

/// Two functions in one file and a header, with calls and jumps.
const PROFILE: &[u8] = b"# callgrind format\ncreator: hand\npositions: line\nevents: Ir Dr\n\n\
    ob=(1) /bin/mill\nfl=(1) mill.c\nfn=(1) main\n2 10 2\njcnd=2/5 4\n3\njump=7 2\n5\n\
    cfn=(2) grind\ncalls=3 7\n4 50 10\n\nfn=(2)\n7 20 4\nfi=(2) stone.h\n1 30 6\n0 4 0\nfe=(1)\n9 1\n";

const MILL: &[u8] =
    b"#include \"stone.h\"\nint main(void) {\n    for (;;)\n        grind();\n}\n\nvoid grind(void) {\n";

fn annotated(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let output = run_in(folder, &[&["annotate", "--format", "json"], arguments].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    (harness::json(&output), stderr(&output))
}

fn set_age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_file_by_hand() {
    let folder =
        folder(&[("mill.c", MILL), ("stone.h", b"static int dust;\n"), ("callgrind.out.1", PROFILE)]);
    let (told, warnings) = annotated(folder.path(), &["callgrind.out.1"]);
    assert_eq!(told["totals"], json!({ "Ir": 65, "Dr": 12 }));
    let names: Vec<_> = told["functions"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["grind", "main"]);
    assert_eq!(told["functions"][0]["line"], 7);
    assert_eq!(
        told["functions"][0]["callers"],
        json!([{
            "function": 1, "file": 1, "line": 4, "calls": 3, "cost": { "Ir": 50, "Dr": 10 }
        }])
    );
    let [header, mill] = &told["files"].as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!((&header["name"], &header["self"]), (&json!("stone.h"), &json!({ "Ir": 34, "Dr": 6 })));
    let lines: Vec<_> =
        header["lines"].as_array().unwrap().iter().map(|it| (&it["line"], &it["text"])).collect();
    assert_eq!(lines, [(&Value::Null, &Value::Null), (&json!(1), &json!("static int dust;"))]);
    assert_eq!((&mill["found_at"], &mill["line_count"]), (&json!("mill.c"), &json!(7)));
    let lines: Vec<_> = mill["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].as_u64().unwrap(), it["text"].as_str(), whole(&it["self"]["Ir"])))
        .collect();
    assert_eq!(
        lines,
        [
            (2, Some("int main(void) {"), 10),
            (3, Some("    for (;;)"), 0),
            (4, Some("        grind();"), 0),
            (5, Some("}"), 0),
            (7, Some("void grind(void) {"), 20),
            (9, None, 1),
        ]
    );
    assert_eq!(mill["lines"][1]["jumps"], json!([{ "file": null, "line": 4, "taken": 2, "executed": 5 }]));
    assert_eq!(mill["lines"][3]["jumps"], json!([{ "file": null, "line": 2, "taken": 7, "executed": null }]));
    assert_eq!(
        mill["lines"][2]["calls"],
        json!([{ "caller": 1, "callee": 0, "calls": 3, "cost": { "Ir": 50, "Dr": 10 } }])
    );
    assert_eq!(mill["remarks"][0]["kind"], "shorter");
    assert_eq!(warnings, "gristmill: warning: mill.c: has 7 lines, and the profile has costs up to line 9\n");
}

#[test]
fn sources_are_judged_once_each() {
    let folder = folder(&[("mill.c", b"int main() {}\n\xff\n\n\n\n\n\n\n\n"), ("callgrind.out.1", PROFILE)]);
    set_age(&folder.path().join("callgrind.out.1"), 60);
    let (told, warnings) = annotated(folder.path(), &["callgrind.out.1"]);
    assert_eq!(
        warnings,
        "gristmill: warning: mill.c: was changed after the profile was written, so lines may not fit\n\
         gristmill: warning: mill.c: is not UTF-8, as line 2 shows\ngristmill: warning: stone.h: not found\n"
    );
    assert_eq!(told["files"][0]["remarks"], json!([{ "kind": "missing", "text": "not found" }]));
    assert_eq!(told["files"][1]["lines"][0]["text"], "\u{fffd}");
    set_age(&folder.path().join("mill.c"), 120);
    let (_, warnings) = annotated(folder.path(), &["callgrind.out.1"]);
    assert!(!warnings.contains("changed"), "{warnings}");
    // Many missing files are reported together.
    std::fs::remove_file(folder.path().join("mill.c")).unwrap();
    let (_, warnings) = annotated(folder.path(), &["callgrind.out.1"]);
    assert_eq!(warnings, "gristmill: warning: 2 source files were not found:\n    stone.h\n    mill.c\n");
}

#[test]
fn sources_are_found_where_they_are_now() {
    let corpus = root().join("corpus");
    let profile = "callgrind/callgrind.out.line-jumps";
    let sieve = std::fs::read_to_string(corpus.join("src/sieve.c")).unwrap();
    for options in [&["--source-map", "/srv/demo=."][..], &["--search", "."], &["--search", "src"]] {
        let (told, _) = annotated(&corpus, &[&[profile], options].concat());
        let files = told["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["name"] == "/srv/demo/src/sieve.c").unwrap();
        let lines = file["lines"].as_array().unwrap();
        assert!(lines.len() > 5, "{options:?}");
        for line in lines {
            let number = usize::try_from(line["line"].as_u64().unwrap()).unwrap();
            assert_eq!(line["text"], sieve.lines().nth(number - 1).unwrap(), "{options:?}");
        }
    }
}

#[test]
fn ambiguity_is_reported() {
    let folder = folder(&[("callgrind.out.1", b"events: Ir\nfl=/build/src/x.c\nfn=f\n1 5\n")]);
    for copy in ["one", "two"] {
        std::fs::create_dir_all(folder.path().join(copy).join("src")).unwrap();
        std::fs::write(folder.path().join(copy).join("src/x.c"), copy).unwrap();
    }
    let (told, warnings) = annotated(folder.path(), &["callgrind.out.1", "--search", "."]);
    assert_eq!(warnings, "gristmill: warning: /build/src/x.c: may be any of ./one/src/x.c, ./two/src/x.c\n");
    assert_eq!(told["files"][0]["remarks"][0]["kind"], "ambiguous");
    assert_eq!(told["files"][0]["lines"][0]["text"], Value::Null);
}

#[test]
fn functions_and_files_can_be_chosen() {
    let folder = folder(&[("callgrind.out.1", PROFILE)]);
    let of = |options: &[&str]| {
        let (told, _) = annotated(folder.path(), &[&["callgrind.out.1"], options].concat());
        let names = |list: &str| -> Vec<String> {
            let list = told[list].as_array().unwrap().iter().filter(|it| it["wanted"] != false);
            list.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
        };
        let cost: i128 =
            told["files"].as_array().unwrap().iter().map(|file| whole(&file["self"]["Ir"])).sum();
        (names("functions"), names("files"), cost)
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(of(&["--function", "^main$"]), (names(&["main"]), names(&["mill.c"]), 10));
    assert_eq!(of(&["--file", "\\.h$"]), (names(&["grind", "main"]), names(&["stone.h"]), 34));
    let (told, _) = annotated(folder.path(), &["callgrind.out.1", "--show", "Dr"]);
    assert_eq!((&told["event_types"], &told["totals"]), (&json!(["Dr"]), &json!({ "Dr": 12 })));
    // As other commands spell it.
    assert_eq!(annotated(folder.path(), &["callgrind.out.1", "-e", "Dr"]).0, told);
    let (told, _) =
        annotated(folder.path(), &["callgrind.out.1", "--derive", "Both = Ir + Dr", "--show", "Both"]);
    assert_eq!(told["totals"], json!({ "Both": 77 }));
    assert_eq!(told["files"][1]["lines"][0]["self"], json!({ "Both": 12 }));
    let derived = ["callgrind.out.1", "--derive", "Both = Ir + Dr"];
    for (more, events) in [
        (&[][..], ["Ir", "Dr", "Both"]),
        (&["--sort", "Both"], ["Both", "Ir", "Dr"]),
        (&["--sort", "Dr"], ["Dr", "Ir", "Both"]),
    ] {
        let (told, _) = annotated(folder.path(), &[&derived[..], more].concat());
        assert_eq!(told["event_types"], json!(events));
    }
    for style in ["callgrind", "cachegrind"] {
        let output = run_in(folder.path(), &[&["annotate", "--style", style], &derived[..]].concat());
        assert!(stdout(&output).contains("Ir Dr Both\n"), "{}", stdout(&output));
    }
}

/// Holds one profile to the schema, and its lines to its totals.
fn judge(path: &Path, schema: &Validator) -> bool {
    let output = run(&["annotate", "--format", "json", text(path)]);
    let file = path.display();
    if code(&output) != 0 {
        return false;
    }
    assert_valid(schema, &harness::json(&output), &file.to_string());
    let told = exactly(&output);
    let list = |of: &Value, name: &str| of[name].as_array().unwrap().clone();
    let (functions, files) = (list(&told, "functions"), list(&told, "files"));
    for event in list(&told, "event_types") {
        let event = event.as_str().unwrap();
        let cost = |of: &Value| whole(&of[event]);
        let total = cost(&told["totals"]);
        let sum = |items: &[Value], of: &str| items.iter().map(|item| cost(&item[of])).sum::<i128>();
        assert_eq!(sum(&files, "self"), total, "{file}: {event}: files");
        assert_eq!(sum(&functions, "self"), total, "{file}: {event}: functions");
        let mut calls = 0;
        let is_function = |place: &Value| usize::try_from(place.as_u64().unwrap()).unwrap() < functions.len();
        for one in &files {
            let lines = list(one, "lines");
            assert_eq!(sum(&lines, "self"), cost(&one["self"]), "{file}: {event}: lines");
            let made = lines.iter().flat_map(|line| line["calls"].as_array().unwrap());
            assert!(
                made.into_iter().all(|it| is_function(&it["caller"]) && is_function(&it["callee"])),
                "{file}"
            );
            calls += lines.iter().map(|line| sum(&list(line, "calls"), "cost")).sum::<i128>();
        }
        let callers: i128 = functions.iter().map(|it| sum(&list(it, "callers"), "cost")).sum();
        assert_eq!(calls, callers, "{file}: {event}: calls");
    }
    true
}

#[test]
fn json_holds_to_its_schema_and_adds_up() {
    let schema = schema("annotate.schema.json");
    assert!(corpus().iter().filter(|path| judge(path, &schema)).count() > 50);
    malformed().iter().for_each(|path| {
        judge(path, &schema);
    });
}

#[test]
fn a_document_goes_to_a_file_or_nowhere() {
    let folder = folder(&[("callgrind.out.1", PROFILE), ("page.html", b"mine")]);
    let arguments = ["annotate", "--format", "html", "callgrind.out.1", "-o", "page.html"];
    let refused = run_in(folder.path(), &arguments);
    assert_eq!(code(&refused), 2, "{}", stdout(&refused));
    assert_eq!(std::fs::read(folder.path().join("page.html")).unwrap(), b"mine");
    let written = run_in(folder.path(), &[&arguments[..], &["--force"]].concat());
    assert_eq!((code(&written), stdout(&written).as_str()), (0, ""));
    assert!(std::fs::read(folder.path().join("page.html")).unwrap().starts_with(b"<!doctype html>"));
}

/// The text has the lines of the chosen functions only, as the document has.
#[test]
fn text_has_the_lines_of_the_function() {
    let profile = "corpus/callgrind/callgrind.out.mill-main";
    let options = [
        "annotate",
        "--function=^swap$",
        "--context=0",
        "--show-percs=no",
        "--source-map=/srv/demo/=corpus/",
    ];
    let output = run_in(&root(), &[&options[..], &[profile]].concat());
    let text = stdout(&output);
    let source = text.split_once("-- Auto-annotated source").unwrap().1;
    let costs: Vec<&str> = source
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        .map(|line| line.split_once(' ').unwrap().0)
        .collect();
    // Lines 15 to 19 of sieve.c, and their sum.
    assert_eq!(costs, ["2,672", "2,004", "2,672", "2,004", "2,004", "11,356"], "{text}");
}

/// The layout of callgrind_annotate refuses what other reports refuse.
#[test]
fn derived_costs_out_of_range_are_refused() {
    let functions: String =
        (0..9).map(|index| format!("fl=a{index}.c\nfn=f{index}\n{index} 17000000000000000000\n")).collect();
    let text = format!("positions: line\nevents: Ir\nevent: X = 9223372036854775807 Ir\n{functions}");
    let folder = folder(&[("callgrind.out.1", text.as_bytes())]);
    for style in ["callgrind", "cachegrind"] {
        for more in [&["-e", "X"][..], &["-e", "Y", "--derive", "Y = 9223372036854775807 Ir"]] {
            let words = [&["annotate", "--style", style, "callgrind.out.1"], more].concat();
            let output = run_in(folder.path(), &words);
            assert_eq!(code(&output), 2, "{words:?}: {}", stdout(&output));
            assert!(
                stderr(&output).contains("a derived cost is out of range"),
                "{words:?}: {}",
                stderr(&output)
            );
        }
    }
}
