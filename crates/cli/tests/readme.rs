//! The READMEs of the project and of the program, and the tour: their output blocks are output of the program, and the Rust example runs.
//! `BLESS=1` writes the output again.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

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
    for (document, blocks) in [("README.md", 2), ("crates/cli/README.md", 1), ("docs/tour.md", 12)] {
        let path = root().join(document);
        let readme = std::fs::read_to_string(&path).unwrap();
        let real = with_output(&readme);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, real).unwrap();
            continue;
        }
        assert_eq!(readme.matches(BEGIN).count(), blocks);
        assert!(readme == real, "{document} differs; BLESS=1 accepts this:\n{real}");
    }
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

/// The documents that link to files.
const DOCUMENTS: [&str; 16] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "STYLE.md",
    "corpus/README.md",
    "docs/annotate-differences.md",
    "docs/commands.md",
    "docs/diff.md",
    "docs/from-kcachegrind.md",
    "docs/gate-with-gungraun.md",
    "docs/gate.md",
    "docs/limits.md",
    "docs/performance.md",
    "docs/tour.md",
    "docs/stable-counts.md",
];

#[test]
fn links_lead_to_files() {
    for document in DOCUMENTS {
        let path = root().join(document);
        let text = std::fs::read_to_string(&path).unwrap();
        // Code is full of brackets.
        let text: String = text.split("```").step_by(2).collect();
        for (_, rest) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
            let target = rest.split([')', '#']).next().unwrap();
            let is_a_file = !target.contains("://") && !target.is_empty();
            assert!(!is_a_file || path.parent().unwrap().join(target).exists(), "{document}: {target}");
        }
    }
}
