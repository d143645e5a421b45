//! `cargo xtask words`: no retired word in comments, documentation, strings and identifiers.
//!
//! `STYLE.md` says how the project writes. This is the part of it that a program can check: words that readers
//! stumbled on, each with the words to use, and the first word of a doc comment. To quote such a word, from another tool for
//! example, add it to [`QUOTED`].

use std::collections::BTreeSet;
use std::process::Command;

use regex::Regex;

use crate::failure::{Context as _, Failure};
use crate::source::text::{Prose, ProseKind, prose_of_rust, words_of_identifier};
use crate::workspace;

/// A pattern, in which a blank is any white space, and what to say instead. Patterns match whole words, in any case.
type Retired = (&'static str, &'static str);

/// Words that are checked in prose, and in identifiers taken apart into words.
const RETIRED: &[Retired] = &[
    // Private words where the field has one.
    (r"reckon\w*", "calculate, compute"),
    (r"dearest", "most expensive"),
    (r"dearer", "more expensive"),
    (r"mend(s|ed|ing)?", "repair"),
    (r"glance[sd]?", "prefetch"),
    (r"in force", "current, or the name context"),
    (r"stances?", "reading mode"),
    (r"circles?", "cycle"),
    (r"own costs?", "self cost"),
    (r"complain(s|ed|ing|ts?)?( of| about)?", "report, finding"),
    (r"how manieth|manieth", "index"),
    (r"in the round", "callers, callees and lines"),
    (r"given back", "returned"),
    (r"by the call", "per call"),
    (r"runs a side", "runs per side"),
    (r"every how many\w*", "interval"),
    (r"how many (there are|it is|they are)", "count, number"),
    // Figures of speech.
    (r"at hand", "available"),
    (r"at a glance", "quickly"),
    (r"(is|are|be|been|was|were) told", "is shown, gets, learns, is distinguished"),
    (r"(only )?told of", "mentioned"),
    (r"tak(es?|en|ing) (it |them )?up", "accept, resume"),
    (r"so many", "this many, N, or the count"),
    (r"as many (again|times as)", "a number"),
    (r"as it were", "delete it"),
    (r"whatever (it|they|is|was)", "any"),
    (r"(with|of|to|from|by|for|than|in|at|is) all that", "everything that, all the …"),
    (r"all that (it|they|the|is|was|a|were|are)", "everything that, all the …"),
    (r"to the byte", "byte for byte"),
    (r"(is|are|was|were) to be", "must be, will be"),
    (r"to be had", "available"),
    (r"in the manner of|whose manner", "in the style of"),
    (r"what stands|stands? (behind|before|after|below|above|between)", "the text after …, follows, precedes"),
    (r"beside that", "also"),
    (r"comes? of (it|this|that)", "result"),
    (r"what (it|they|all|a \w+|the \w+) comes? to", "total"),
    (r"has (much|more|nothing|anything|something) to say|of a say", "reports"),
    (r"one's own", "own"),
    (r"by chance", "at random"),
    (r"the like|and the likes", "similar"),
    (r"for want of", "without"),
    (r"of no use", "useless"),
    (r"wants (to|a|an|no|two) \w+", "needs, asks for"),
    (r"in common with", "that both have"),
    (r"a longer story", "delete it"),
    // Old forms.
    (r"anew", "again"),
    (r"lest", "so that … not"),
    (r"but for", "except for"),
    (r"save for", "except for"),
    (r"(all|none|nothing|no one|nobody|anything|no other) but", "all except, only"),
    (r"no (\w+) but", "only"),
    (r"be it|come what may", "if, any"),
    (r"lately", "recently"),
    (r"ought", "should"),
    (r"shall|shan't", "must, will"),
    (r"upon", "on"),
    (r"whilst|amongst|betwixt|amidst", "while, among, between"),
    (r"(where|there|here)(of|in|upon|from|to|with|unto|fore)", "of which, in it, …"),
    (r"whence|thence|hence(forth|forward)|whither|thither|hither(to)?", "from where, so far"),
    (r"nought|naught|aught", "nothing, 0"),
    (r"albeit|forthwith|heretofore|ere|unto|oftener|nigh", "although, at once, before, to"),
    (r"such (a one|as are|as is|as have)", "one that"),
    (r"yonder|verily|perchance|mayhap|oft|twain|seldom", "delete it"),
    (
        r"of (which|whom) (it|they|there|the|a|one|he|who) (\w+ )?(is|are|has|have|was|were)",
        "turn the sentence: subject first",
    ),
    (
        r"(passed over|left out|taken|shown|meant|wanted|counted|said|kept|asked) (is|are) (what|all|only|those|the)",
        "turn the sentence: subject first",
    ),
];

/// Patterns that hold for prose only, and not for whole words.
const RETIRED_SPELLINGS: &[Retired] = &[
    (r"[0-9}] %([^A-Za-z0-9]|$)", "no blank before %"),
    // Headings in help.
    (r"^(What|How|Which) (to|is) [a-z ]+$", "a noun phrase"),
];

/// Identifiers that are retired as they are spelled.
const RETIRED_NAMES: &[Retired] = &[
    (r"^(MOST|LEAST)_", "MAX_, MIN_"),
    (r"^PATIENCE$|^DIFFERENT$|^[Ii]n_?[Ff]orce", "a noun that says what it is"),
];

/// A doc comment says what the thing is.
const FIRST_WORDS: &[&str] =
    &["What", "How", "Whether", "Where", "Who", "Whom", "Whose", "Which", "Why", "When"];

/// Quotes: a part of a path, and the text in it that stays.
const QUOTED: &[(&str, &str)] = &[
    // A budget may be written with a blank.
    ("crates/gate/src/amount.rs", "0.25 %"),
];

/// Files that quote retired words to retire them.
const EXEMPT: [&str; 2] = ["STYLE.md", "xtask/src/words.rs"];

pub(crate) fn run() -> Result<(), Failure> {
    let patterns = Patterns::new()?;
    let (mut hits, mut files) = (0, 0);
    for path in files_with_prose()? {
        let Ok(text) = std::fs::read_to_string(workspace::root().join(&path)) else { continue };
        files += 1;
        for hit in patterns.hits(&path, &text) {
            println!("{path}:{}: `{}`: {}", hit.line, hit.text, hit.say);
            hits += 1;
        }
    }
    if hits == 0 {
        println!("words: {files} files, no retired word");
        return Ok(());
    }
    Err(Failure::new(format!("words: {hits} retired words or beginnings; STYLE.md says how to write")))
}

/// Returns the paths of all files that people wrote, from the root of the project.
fn files_with_prose() -> Result<Vec<String>, Failure> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(workspace::root());
    let output = git.output().context(|| "cannot run git".to_owned())?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let mut paths: Vec<String> = listed.lines().filter(|path| has_prose(path)).map(str::to_owned).collect();
    paths.dedup();
    Ok(paths)
}

fn has_prose(path: &str) -> bool {
    let written = [".rs", ".md", ".toml", ".js", ".css", ".html", ".sh", ".tsv", ".schema.json", ".ci/run"];
    let data = path.starts_with("corpus/") && !matches!(path, "corpus/README.md" | "corpus/MANIFEST.tsv");
    written.iter().any(|end| path.ends_with(end))
        && !data
        && !path.contains("/goldens/")
        && !EXEMPT.contains(&path)
}

#[derive(Debug, PartialEq, Eq)]
struct Hit {
    line: usize,
    text: String,
    say: String,
}

struct Patterns {
    /// All words in one pattern: most prose has none, and one search is enough for it.
    any_word: Regex,
    words: Vec<(Regex, &'static str)>,
    spellings: Vec<(Regex, &'static str)>,
    names: Vec<(Regex, &'static str)>,
}

impl Patterns {
    fn new() -> Result<Self, Failure> {
        let compile = |table: &[Retired], whole_words: bool| {
            let rows = table.iter().map(|(pattern, say)| {
                let pattern = if whole_words {
                    format!(r"(?i-u)\b(?:{})\b", pattern.replace(' ', r"\s+"))
                } else {
                    (*pattern).to_owned()
                };
                let regex = Regex::new(&pattern).context(|| pattern.clone())?;
                Ok((regex, *say))
            });
            rows.collect::<Result<Vec<_>, Failure>>()
        };
        let all: Vec<String> = RETIRED.iter().map(|(pattern, _)| pattern.replace(' ', r"\s+")).collect();
        let all = format!(r"(?i-u)\b(?:{})\b", all.join("|"));
        Ok(Self {
            any_word: Regex::new(&all).context(|| "the pattern of all words".to_owned())?,
            words: compile(RETIRED, true)?,
            spellings: compile(RETIRED_SPELLINGS, false)?,
            names: compile(RETIRED_NAMES, false)?,
        })
    }

    /// Returns the retired words of a file.
    fn hits(&self, path: &str, text: &str) -> Vec<Hit> {
        let is_rust = path.ends_with(".rs");
        let prose = if is_rust {
            prose_of_rust(text)
        } else {
            vec![Prose { kind: ProseKind::File, text: text.to_owned(), line: 1 }]
        };
        let mut hits = Vec::new();
        let mut clean_names = BTreeSet::new();
        for prose in prose {
            if prose.kind != ProseKind::Identifier {
                self.find_words(&prose, &mut hits);
                find(&self.spellings, &prose, &mut hits);
                hits.extend(first_word(&prose));
            } else if !clean_names.contains(&prose.text) {
                let before = hits.len();
                find(&self.names, &prose, &mut hits);
                let words = Prose { text: words_of_identifier(&prose.text), ..prose.clone() };
                self.find_words(&words, &mut hits);
                if hits.len() == before {
                    clean_names.insert(prose.text);
                }
            }
        }
        hits.retain(|hit| !is_quoted(path, text, hit));
        hits.sort_by_key(|hit| hit.line);
        hits
    }

    fn find_words(&self, prose: &Prose, hits: &mut Vec<Hit>) {
        if self.any_word.is_match(&prose.text) {
            find(&self.words, prose, hits);
        }
    }
}

fn find(patterns: &[(Regex, &'static str)], prose: &Prose, hits: &mut Vec<Hit>) {
    for (pattern, say) in patterns {
        for found in pattern.find_iter(&prose.text) {
            let line = prose.line + prose.text[..found.start()].matches('\n').count();
            let text = found.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
            hits.push(Hit { line, text, say: format!("say {say}") });
        }
    }
}

/// Returns a hit if a doc comment begins with a question word.
fn first_word(prose: &Prose) -> Option<Hit> {
    if prose.kind != ProseKind::Doc {
        return None;
    }
    let first = prose.text.split_whitespace().next()?.trim_end_matches([',', ':', '.']);
    let say = "the first sentence says what the thing is".to_owned();
    FIRST_WORDS.contains(&first).then(|| Hit { line: prose.line, text: first.to_owned(), say })
}

fn is_quoted(path: &str, text: &str, hit: &Hit) -> bool {
    let line = text.lines().nth(hit.line - 1).unwrap_or_default();
    QUOTED
        .iter()
        .any(|(part, quote)| path.contains(part) && line.contains(quote) && quote.contains(&hit.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(path: &str, text: &str) -> Vec<(usize, String)> {
        let hits = Patterns::new().unwrap().hits(path, text).into_iter();
        hits.map(|hit| (hit.line, hit.text)).collect()
    }

    #[test]
    fn retired_words_are_found_in_all_prose() {
        for text in [
            "/// Reckons costs.",
            "fn f() {} // reckoned",
            "const HELP: &str = \"Costs are reckoned\";",
            "fn reckon_costs() {}",
            "struct CostReckoner;",
        ] {
            assert_eq!(hits("a.rs", text).len(), 1, "{text}");
        }
        assert_eq!(hits("a.md", "# Costs\n\nAll of it is reckoned."), [(3, "reckoned".to_owned())]);
    }

    #[test]
    fn phrases_are_found_across_lines() {
        let text = "/// Shows a function in the\n/// round.\nfn f() {}";
        assert_eq!(hits("a.rs", text), [(1, "in the round".to_owned())]);
    }

    #[test]
    fn words_within_words_and_data_are_left_alone() {
        for text in ["// recommended amendments", "const DATA: &[u8] = b\"mended\";", "fn largest() {}"] {
            assert!(hits("a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn percentages_have_no_blank() {
        assert_eq!(hits("a.rs", "const TEXT: &str = \"{share:.1} %\";").len(), 1);
        assert_eq!(hits("a.md", "It was 70.5 % faster.").len(), 1);
        assert!(hits("a.md", "It was 70.5% faster.").is_empty());
    }

    #[test]
    fn headings_are_noun_phrases() {
        assert_eq!(hits("a.rs", "#[arg(help_heading = \"How to sort\")]").len(), 1);
        assert!(hits("a.rs", "#[arg(help_heading = \"Order\")]").is_empty());
    }

    #[test]
    fn a_doc_comment_begins_with_what_the_thing_is() {
        assert_eq!(hits("a.rs", "//! How it works."), [(1, "How".to_owned())]);
        assert_eq!(hits("a.rs", "\n/// Whether it is so.\nfn f() {}"), [(2, "Whether".to_owned())]);
        assert!(hits("a.rs", "// How it works.\n/// The cost.\n/// What else there is.").is_empty());
    }

    #[test]
    fn goldens_and_data_are_not_prose() {
        assert!(has_prose("crates/cli/src/main.rs") && has_prose("corpus/README.md"));
        assert!(!has_prose("crates/cli/tests/goldens/a.md") && !has_prose("corpus/src/build.sh"));
        assert!(!has_prose("STYLE.md"));
    }
}
