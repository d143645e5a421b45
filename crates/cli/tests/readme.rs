//! The READMEs of the project and of the program, and the pages in `docs`: their output blocks are output of the program, the Rust
//! example runs, and links lead somewhere.
//! `BLESS=1` writes the output again.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gristmill_format::{CostRole, Line, Reader};

use harness::{gristmill, root, stderr, stdout};

const BEGIN: &str = "```console\n";
const END: &str = "```\n";

/// Returns the text with the output of each `$ gristmill …` in a console block below it.
fn with_output(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let (shown, after) = block.split_once(END).unwrap();
        let command = shown.lines().next().unwrap();
        let words = command.strip_prefix("$ gristmill ").unwrap().split(' ');
        let arguments: Vec<&str> = words.map(|word| word.trim_matches('\'')).collect();
        // As on a terminal of that width.
        let output = gristmill(&arguments).env("COLUMNS", "80").current_dir(root()).output().unwrap();
        assert_eq!(stderr(&output), "", "{command}");
        made.extend([before, BEGIN, command, "\n", &stdout(&output), END]);
        rest = after;
    }
    made.push_str(rest);
    made
}

#[test]
fn output_is_real() {
    let mut blocks = Vec::new();
    for document in documents() {
        let path = root().join(&document);
        let readme = std::fs::read_to_string(&path).unwrap();
        if !readme.contains(BEGIN) {
            continue;
        }
        blocks.push((document.clone(), readme.matches(BEGIN).count()));
        let real = with_output(&readme);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, real).unwrap();
            continue;
        }
        assert!(readme == real, "{document} differs; BLESS=1 accepts this:\n{real}");
    }
    let blocks: Vec<(&str, usize)> = blocks.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    let expected = [
        ("README.md", 2),
        ("crates/cli/README.md", 1),
        ("docs/from-callgrind-annotate.md", 2),
        ("docs/from-kcachegrind.md", 1),
        ("docs/in-ci.md", 1),
        ("docs/tour.md", 13),
        ("docs/view.md", 1),
        ("docs/with-xdebug.md", 4),
    ];
    assert_eq!(blocks, expected);
}

/// Each way of coming to the program leads to an answer in at most four commands.
#[test]
fn the_tour_is_short() {
    let tour = std::fs::read_to_string(root().join("docs/tour.md")).unwrap();
    let ways: Vec<&str> = tour.split("\n## From ").skip(1).collect();
    assert_eq!(ways.len(), 4);
    for way in ways {
        let commands = way.matches("```console\n$ gristmill ").count();
        assert!((1..=4).contains(&commands), "{commands} commands: {way}");
    }
}

/// The example of the README, word for word except for the folder.
#[test]
fn library_example_runs() {
    let example = r#"
    let mut instructions = 0;
    for record in Reader::new(&file) {
        // The cost line of a call has inclusive cost: adding it would count the callee twice.
        if let Line::Cost(line) = record?.line
            && line.role == CostRole::SelfCost
        {
            let mut costs = [0; 1];
            line.costs.decode(&mut costs)?;
            instructions += costs[0];
        }
    }
    assert_eq!(instructions, 85_123);
"#;
    assert!(std::fs::read_to_string(root().join("README.md")).unwrap().contains(example));
    run_example().unwrap();
}

fn run_example() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::fs::read(root().join("corpus/callgrind/callgrind.out.mill-main"))?;
    let mut instructions = 0;
    for record in Reader::new(&file) {
        // The cost line of a call has inclusive cost: adding it would count the callee twice.
        if let Line::Cost(line) = record?.line
            && line.role == CostRole::SelfCost
        {
            let mut costs = [0; 1];
            line.costs.decode(&mut costs)?;
            instructions += costs[0];
        }
    }
    assert_eq!(instructions, 85_123);
    Ok(())
}

/// The documents, by their paths below the root, in order.
fn documents() -> Vec<String> {
    let top = [
        "README",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "CHANGELOG",
        "STYLE",
        "corpus/README",
        "crates/cli/README",
    ];
    let mut documents: Vec<String> = top.iter().map(|name| format!("{name}.md")).collect();
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            documents.push(format!("docs/{name}"));
        }
    }
    assert!(documents.len() > 15);
    documents.sort();
    documents
}

/// The files that a document links to, with the heading behind `#` if there is one.
fn links(document: &Path) -> Vec<(PathBuf, String)> {
    let text = std::fs::read_to_string(document).unwrap();
    // Code is full of brackets.
    let text: String = text.split("```").step_by(2).collect();
    let targets = text.match_indices("](").map(|(at, _)| text[at + 2..].split(')').next().unwrap());
    let files = targets.filter(|target| !target.contains("://")).map(|target| {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = if file.is_empty() { document.to_owned() } else { document.parent().unwrap().join(file) };
        (path, heading.to_owned())
    });
    files.collect()
}

/// The anchors of the headings of a document, as GitHub makes them.
fn anchors(document: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(document).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let kept = |character: char| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ if character.is_alphanumeric() => Some(character.to_ascii_lowercase()),
            _ => None,
        };
        line.trim_start_matches('#').trim().chars().filter_map(kept).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    for document in documents() {
        let path = root().join(&document);
        for (target, heading) in links(&path) {
            assert!(target.exists(), "{document}: {}", target.display());
            assert!(
                heading.is_empty() || anchors(&target).contains(&heading),
                "{document}: {} has no heading #{heading}",
                target.display()
            );
        }
    }
}

/// Each page is found by following links from the README.
#[test]
fn no_page_is_an_orphan() {
    let start = root().join("README.md");
    let mut found = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(document) = open.pop() {
        for (target, _) in links(&document) {
            // Links of documents outside the list are not checked.
            let Ok(target) = target.canonicalize() else { continue };
            if target.extension().is_some_and(|extension| extension == "md") && found.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    for document in documents().into_iter().filter(|document| document.starts_with("docs/")) {
        assert!(found.contains(&root().join(&document)), "{document}");
        // And it leads on.
        assert!(!links(&root().join(&document)).is_empty(), "{document} links to no other page");
    }
}
