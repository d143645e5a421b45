//! `gristmill view --export` and `--site`: the files that they write.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(test)]

mod harness;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use gristmill_profile::columns;
use harness::*;
use serde_json::Value;

const SITE: [&str; 4] = ["app.js", "index.html", "library.wasm", "style.css"];

/// The text of an inert element of a page.
fn element<'p>(page: &'p str, id: &str) -> &'p str {
    let (_, after) = page.split_once(&format!("id=\"{id}\">")).unwrap_or_else(|| panic!("{id} is missing"));
    after.split_once("</script>").unwrap().0
}

/// The bytes that base64 of gzip stands for.
fn unpacked(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{byte}"),
    };
    let mut packed = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 6 | digit(byte)) << (6 * (4 - group.len()));
        packed.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Exports in a directory, and returns the page and its manifest.
fn export(directory: &Path, words: &[&str]) -> (String, Value) {
    let output = run_in(directory, &[&["view", "--export", "page.html"], words].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = fs::read_to_string(directory.join("page.html")).unwrap();
    let manifest = serde_json::from_str(element(&page, "manifest")).unwrap();
    (page, manifest)
}

/// Costs and calls of all functions, by name, file and object.
fn numbers(directory: &Path, file: &str) -> BTreeMap<String, Value> {
    let output = run_in(directory, &["functions", "--limit=0", "--no-fold-start-up", "--format=json", file]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document = json(&output);
    let key = |row: &Value| format!("{} {} {}", row["name"], row["file"], row["object"]);
    let value = |row: &Value| serde_json::json!([row["self"], row["inclusive"], row["calls"]]);
    document["functions"].as_array().unwrap().iter().map(|row| (key(row), value(row))).collect()
}

#[test]
fn the_site_is_written_whole_and_over_nothing() {
    let directory = folder(&[]);
    let site = directory.path().join("a/viewer");
    let run = |words: &[&str]| run_in(directory.path(), &[&["view", "--site", "a/viewer"], words].concat());
    let output = run(&[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let mut names: Vec<String> = files_below(&site)
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, SITE);
    assert!(fs::read(site.join("library.wasm")).unwrap().starts_with(b"\0asm"));
    let document = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(document.contains("connect-src 'self'") && document.contains("default-src 'none'"));

    // One file is enough to refuse, and the others are not written either.
    for name in SITE {
        fs::remove_file(site.join(name)).unwrap();
    }
    fs::write(site.join("style.css"), "mine").unwrap();
    let output = run(&[]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("style.css: exists already"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(site.join("style.css")).unwrap(), "mine");
    assert!(!site.join("index.html").exists());
    assert_eq!(code(&run(&["--force"])), 0);
    assert_ne!(fs::read_to_string(site.join("style.css")).unwrap(), "mine");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let directory = folder(&[("a", CLEAN)]);
    for words in [
        &["--site", "x", "a"][..],
        &["--site", "x", "--export", "y"],
        &["a", "--embed-sources"],
        &["a", "--export-share", "99"],
        &["a", "--export", "y", "--watch"],
        &["a", "--export", "y", "--answer", "{}"],
        &["a", "--export", "y", "--export-share", "101"],
    ] {
        let output = run_in(directory.path(), &[&["view"], words].concat());
        assert_eq!(code(&output), 2, "{words:?}");
    }
    assert_eq!(files_below(directory.path()).len(), 1);
}

#[test]
fn an_export_overwrites_nothing_unasked() {
    let directory = folder(&[("a", CLEAN), ("page.html", b"mine")]);
    for target in ["page.html", "a"] {
        let output = run_in(directory.path(), &["view", "--export", target, "a"]);
        assert_eq!(code(&output), 2, "{target}");
        assert!(stderr(&output).contains("was not changed"), "{}", stderr(&output));
    }
    assert_eq!(fs::read(directory.path().join("page.html")).unwrap(), b"mine");
    assert_eq!(fs::read(directory.path().join("a")).unwrap(), CLEAN);
    export(directory.path(), &["--force", "a"]);
    // A profile that cannot be read leaves nothing behind.
    let output = run_in(directory.path(), &["view", "--export", "other.html", "missing"]);
    assert_eq!(code(&output), 2);
    assert_eq!(files_below(directory.path()).len(), 2);
}

#[test]
fn the_page_has_the_files_as_they_are() {
    let source = b"int main(void) {\n}\n";
    let base =
        String::from_utf8(CLEAN.to_vec()).unwrap().replace("10 10 2", "10 11 2").replace("60 12", "61 12");
    let packed = gzip(base.as_bytes());
    let directory = folder(&[("new", CLEAN), ("old.gz", &packed), ("mill.c", source)]);
    let (page, manifest) = export(directory.path(), &["--embed-sources", "new", "--base", "old.gz"]);
    let entry = |name: &str, role: &str| serde_json::json!({"name": name, "role": role});
    let roles = manifest["files"].as_array().unwrap();
    assert_eq!(roles[..2], [entry("new", "profile"), entry("old.gz", "base")]);
    assert_eq!(roles[2]["name"], "mill.c");
    assert_eq!(manifest["notes"], serde_json::json!([]));
    assert_eq!(unpacked(element(&page, "file-0")), CLEAN);
    assert_eq!(unpacked(element(&page, "file-1")), base.as_bytes());
    assert_eq!(unpacked(element(&page, "file-2")), source);
    assert!(unpacked(element(&page, "library")).starts_with(b"\0asm"));
    let (page, _) = export(directory.path(), &["--force", "new"]);
    assert!(!page.contains("file-1"), "no source unless asked for");
}

#[test]
fn a_share_keeps_the_numbers_of_functions_and_says_so() {
    let root = root();
    for file in ["corpus/callgrind/callgrind.out.mill", "corpus/callgrind/callgrind.out.full"] {
        let directory = folder(&[]);
        let path = root.join(file);
        let path = text(&path);
        let (page, manifest) = export(directory.path(), &["--export-share", "90%", path]);
        let note = manifest["notes"][0].as_str().unwrap();
        assert!(note.contains("90% of the cost"), "{note}");
        let note = manifest["notes"][1].as_str().unwrap();
        assert!(note.contains("Numbers of functions,") && note.contains("are exact"), "{note}");
        let condensed = unpacked(element(&page, "file-0"));
        assert_ne!(condensed, fs::read(path).unwrap());
        fs::write(directory.path().join("condensed"), &condensed).unwrap();
        assert_eq!(numbers(directory.path(), "condensed"), numbers(directory.path(), path), "{file}");
    }
}

/// A profile of many functions. The first calls them all, and has nearly all of the cost.
fn many_functions(count: usize) -> String {
    let mut text = "positions: line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n1 9990000\n".to_owned();
    for function in 0..count {
        let _ = write!(text, "cfn=f{function}\ncalls=1 2\n1 {}\n", function % 9);
    }
    for function in 0..count {
        let _ = write!(text, "fn=f{function}\n2 {}\n", function % 9);
    }
    text
}

#[test]
fn a_share_leaves_out_cheap_functions_of_large_profiles_only() {
    let few = many_functions(9_999);
    let many = many_functions(20_000);
    let directory = folder(&[("few", few.as_bytes()), ("many", many.as_bytes())]);
    let functions_of = |words: &[&str]| {
        let (page, manifest) = export(directory.path(), &[&["--force"], words].concat());
        let bytes = unpacked(element(&page, "file-0"));
        let is_by_columns = manifest["files"][0]["role"] == "profile-by-columns";
        let text = if is_by_columns { columns::to_text(&bytes).unwrap() } else { bytes };
        fs::write(directory.path().join("condensed"), text).unwrap();
        let notes = manifest["notes"].as_array().unwrap().clone();
        (
            numbers(directory.path(), "condensed"),
            notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect(),
        )
    };
    let (whole, _): (_, Vec<String>) = functions_of(&["many"]);
    assert_eq!(whole.len(), 20_001);
    let (few, notes): (_, Vec<String>) = functions_of(&["--export-share", "99%", "few"]);
    assert_eq!((few.len(), notes.len()), (10_000, 2), "{notes:?}");
    for words in [&["--export-share", "100%", "many"][..], &["--export-share=99%", "many", "--base", "few"]] {
        let (all, _) = functions_of(words);
        assert_eq!(all.len(), 20_001, "{words:?}");
    }

    let (kept, notes) = functions_of(&["--export-share", "99%", "many"]);
    let names: Vec<&String> = kept.keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].contains("(20000 functions left out)") && names[0].contains("(left out)"), "{names:?}");
    assert_eq!(kept[names[1]], whole[names[1]]);
    assert!(
        notes[1].contains("1 of its 20,001 functions. The other 20,000 have no more than 1%"),
        "{notes:?}"
    );
}

#[test]
fn the_share_that_is_said_is_that_of_the_page() {
    // More equal lines than a page may have, and an event type with few lines.
    let mut text = "events: Ir Dr\nfl=a.c\nfn=f\n".to_owned();
    for line in 1..=120_000 {
        let _ = writeln!(text, "{line} 10{}", if line == 7 { " 3" } else { "" });
    }
    // Some functions have cheap lines, and those that are left out cost a little more.
    let mut functions = "events: Ir\nob=mill\nfl=mill.c\n".to_owned();
    for function in 0..10 {
        let cheap = "3 1\n".repeat(1000);
        let _ = write!(functions, "fn=f{function}\n2 99000\n{cheap}");
    }
    for function in 0..10_100 {
        let _ = write!(functions, "fn=g{function}\n4 {}\n", function % 2 * 2);
    }
    let directory = folder(&[("lines", text.as_bytes()), ("functions", functions.as_bytes())]);
    let (_, manifest) = export(directory.path(), &["--export-share", "99%", "lines"]);
    let note = manifest["notes"][0].as_str().unwrap();
    let expected = "Exported with less than 99% of the cost: the lines that stay have 83.3% of Ir. The profile has 100,000 of the 120,000 \
                    cost lines of its file";
    assert!(note.starts_with(expected), "{note}");
    let (_, manifest) = export(directory.path(), &["--force", "--export-share", "99%", "functions"]);
    let note = manifest["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("Exported with less than 99% of the cost: the lines that stay have 98% of Ir. "),
        "{note}"
    );
}

#[test]
fn the_page_says_what_is_damaged() {
    let python =
        b"creator: yappi\nevents: Ticks\nfl=a.py\nfn=f\n1 900\nfn=g\n2 5\ncfl=a.py\ncfn=f\ncalls=1 1\n";
    let callgrind = b"version: 1\ncreator: callgrind-3.19.0\nevents: Ir\nsummary: 900\nfl=a.c\nfn=f\n1 700\n";
    let unreadable = b"events: Ir\nfl=a.c\nfn=f\n1 700\nfoo bar\n2 x\n3 5\n";
    let packed = gzip(CLEAN);
    let cut = &packed[..packed.len() - 12];
    let directory =
        folder(&[("python", python), ("callgrind", callgrind), ("odd", unreadable), ("cut.gz", cut)]);
    let warnings = |words: &[&str]| {
        let (_, manifest) = export(directory.path(), &[&["--force"], words].concat());
        let notes = manifest["notes"].as_array().unwrap().clone();
        let notes = notes.into_iter().map(|note| note.as_str().unwrap().to_owned());
        notes.filter(|note| note.starts_with("Warning: ")).collect::<Vec<_>>()
    };
    let share = ["--export-share", "99%"];
    // The page finds out by itself.
    for words in [&["python"][..], &["callgrind"], &["callgrind", share[0], share[1]], &["odd"]] {
        assert_eq!(warnings(words), Vec::<String>::new(), "{words:?}");
    }
    for (file, said) in [("python", "ends before the costs of a function or call"), ("odd", "odd:")] {
        let found = warnings(&[file, share[0], share[1]]);
        assert!(!found.is_empty() && found.iter().any(|text| text.contains(said)), "{file}: {found:?}");
    }
    for words in [&["cut.gz"][..], &["cut.gz", share[0], share[1]], &["python", "--base", "cut.gz"]] {
        let found = warnings(words);
        assert!(found.len() == 1 && found[0].contains("the gzip data"), "{words:?}: {found:?}");
    }
}

/// The doubt stays that closures of one name may be two.
#[test]
fn a_share_of_a_comparison_keeps_the_lines_of_closures() {
    let text = |line: u32, cost: u32| {
        format!(
            "version: 1\ncreator: callgrind-3.19.0\ncmd: ./m\nevents: Ir\nob=/m/m\nfl=m.rs\nfn=m::main\n1 3\n2 400000\n\
             cfn=m::main::{{{{closure}}}}\ncalls=1 {line}\n3 {all}\ncfn=m::step\ncalls=1 50\n4 300000\n\
             fl=core.rs\nfn=m::main::{{{{closure}}}}\n77 {cost}\nfi=m.rs\n{line} 50\nfl=m.rs\nfn=m::step\n50 2\n51 299998\n",
            all = cost + 50
        )
    };
    let directory = folder(&[("old", text(10, 23_500).as_bytes()), ("new", text(20, 31_000).as_bytes())]);
    let sentence = |base: &str, new: &str| {
        let output = run_in(directory.path(), &["diff", "--width", "300", base, new]);
        let text = stdout(&output);
        text.lines().find(|line| line.contains("by itself")).unwrap_or(&text).to_owned()
    };
    let expected = sentence("old", "new");
    assert!(expected.contains("which has other lines"), "{expected}");
    let (page, _) = export(directory.path(), &["--export-share", "95%", "new", "--base", "old"]);
    for (nth, name) in ["new95", "old95"].into_iter().enumerate() {
        fs::write(directory.path().join(name), unpacked(element(&page, &format!("file-{nth}")))).unwrap();
    }
    assert_eq!(sentence("old95", "new95"), expected);
}

#[cfg(unix)]
#[test]
fn a_hostile_name_of_a_file_ends_no_element() {
    let name = "a<script>alert(1)<!--\u{2028}&lt;";
    let directory = folder(&[(name, CLEAN), ("a", CLEAN)]);
    let (plain, _) = export(directory.path(), &["a"]);
    let (page, manifest) = export(directory.path(), &["--force", name]);
    for mark in ["<script", "</script", "<!--", "\u{2028}"] {
        assert_eq!(page.matches(mark).count(), plain.matches(mark).count(), "{mark:?}");
    }
    // Names are shown like this everywhere.
    assert_eq!(manifest["files"][0]["name"], name.replace('\u{2028}', "\\u{2028}"));
}

/// Lines that cost next to nothing show that a function was inlined.
#[test]
fn a_share_of_a_comparison_has_the_causes_of_the_whole() {
    let directory = folder(&[]);
    let own = |name: &str| fs::read(root().join("corpus/callgrind").join(name)).unwrap();
    for (new, base) in
        [("callgrind.out.mill-fast", "callgrind.out.mill"), ("callgrind.out.mill", "callgrind.out.mill-fast")]
    {
        for (name, file) in [("new", new), ("base", base)] {
            fs::write(directory.path().join(name), own(file)).unwrap();
        }
        let causes = |base: &str, new: &str| {
            let output = run_in(directory.path(), &["diff", "--format", "json", base, new]);
            assert!(code(&output) < 2, "{}", stderr(&output));
            let document = json(&output);
            let text = |cause: &Value| format!("{} {}", cause["effect"], cause["text"]);
            // Small ones that functions of both sides have can differ, and the page says so.
            document["causes"].as_array().unwrap().iter().map(text).take(20).collect::<Vec<_>>()
        };
        let whole = causes("base", "new");
        assert!(whole.iter().any(|cause| cause.contains("inlined")), "{whole:?}");
        for share in ["99%", "60%"] {
            let (page, manifest) =
                export(directory.path(), &["--force", "--export-share", share, "new", "--base", "base"]);
            assert!(
                manifest["notes"].to_string().matches("small causes can differ").count() == 1,
                "{manifest}"
            );
            for (name, element_id) in [("new.share", "file-0"), ("base.share", "file-1")] {
                fs::write(directory.path().join(name), unpacked(element(&page, element_id))).unwrap();
            }
            assert_eq!(causes("base.share", "new.share"), whole, "{share}");
        }
    }
}
