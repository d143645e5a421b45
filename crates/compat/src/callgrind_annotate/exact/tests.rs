//! The original's way to read single lines, as observed.

use super::*;

struct NoSources;

impl Sources for NoSources {
    fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, gristmill_output::source::SourceError> {
        Err(gristmill_output::source::SourceError::Missing)
    }
}

/// A source file of 20 lines with any name.
struct AnySource;

impl Sources for AnySource {
    fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, gristmill_output::source::SourceError> {
        let text = (1..=20).map(|line| format!("source {line}\n")).collect::<String>().into_bytes();
        Ok(Arc::new(SourceText { text, ..SourceText::default() }))
    }
}

fn options() -> ExactOptions {
    ExactOptions {
        threshold: Threshold { text: "100".to_owned(), percent: 100.0 },
        show_percentages: false,
        context: 0,
        ..ExactOptions::new("p".to_owned())
    }
}

fn printed(body: &str, options: &ExactOptions, sources: &dyn Sources) -> String {
    let profile = format!("events: Ir Dr\n{body}");
    let mut out = Vec::new();
    ExactReport::new(profile.as_bytes(), options).unwrap().write(sources, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The rows of functions, without blanks between columns.
fn functions(body: &str, options: &ExactOptions) -> Vec<String> {
    let text = printed(body, options, &NoSources);
    let rows = text.lines().skip_while(|line| !line.ends_with("file:function")).skip(2);
    let rows = rows.take_while(|line| !line.starts_with("---")).filter(|line| !line.is_empty());
    rows.map(|row| row.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn functions_are_named_where_they_begin_and_where_the_file_ends() {
    for (body, rows) in [
        // Lines before the first function belong to none.
        ("fl=x\n1 2\nfn=q\n1 3\n", &["3 . x:q"][..]),
        ("fl=x\n1 2\n", &[]),
        // `fl=` does not end a function, but the last one has the last file.
        ("fl=x\nfn=q\n1 2\nfl=r\n1 1\nfn=s\n", &["3 . x:q", ". . r:s"]),
        ("fl=x\nfn=q\n1 2\nfl=r\n1 1\n", &["3 . r:q"]),
        // What the function had before, it has twice then.
        ("fl=x\nfn=q\n1 1\nfn=q\n1 2\nfl=y\n1 4\n", &["7 . x:q", "7 . y:q"]),
        ("fl=x\nfn=q\n1 1\nfn=z\n1 2\nfl=y\nfn=q\n1 4\nfl=x\n1 8\n", &["12 . x:q", "2 . x:z"]),
        // An id without a name.
        ("fl=x\nfn=(1)\n1 5\nfn=q\n2 1\n", &["5 . x:", "1 . x:q"]),
        ("fl=(7)\nfn=q\n1 5\nfn=r\n2 1\n", &["5 . :q"]),
        ("fl=x\nfn=(1) q\n1 1\nfn=(01) r\n1 2\nfn=(1)\n1 4\n", &["5 . x:q", "2 . x:r"]),
    ] {
        assert_eq!(functions(body, &options()), rows, "{body}");
    }
}

#[test]
fn calls_belong_to_the_callee_that_was_named_last() {
    let options = ExactOptions { callers: true, callees: true, ..options() };
    for (body, rows) in [
        ("fl=x\nfn=q\ncfi=y\ncfn=a\ncalls=2 1\ncalls=3 1\n5 6\n", &[". . * x:q", "6 . > y:a (3x)"][..]),
        ("fl=x\nfn=q\ncfn=a\ncalls=5 1\ncfn=b\n5 1\n", &[". . * x:q", "1 . > x:b (5x)"]),
        // Calls are listed only for a caller that names the callee.
        ("fl=x\nfn=q\ncfn=a\nfn=s\ncalls=7 1\n5 6\n", &[". . * x:q", ". . * x:s"]),
        // A count of 0 is no call.
        ("fl=x\nfn=q\ncfn=a\ncalls=0 1\n5 6\n", &["6 . * x:q"]),
        ("fl=x\nfn=q\ncfn=a\ncalls=-1 1\n5 6\n", &["6 . * x:q"]),
    ] {
        assert_eq!(functions(body, &options), rows, "{body}");
    }
}

#[test]
fn lines_are_replaced_as_text() {
    for (line, shown) in [
        ("12 5", "5 . source 12"),
        ("+2 5", "5 . source 12"),
        ("-2 5 7", "5 7 source 8"),
        ("* 5", "6 . source 10"),
        ("11", ". . source 11"),
        ("11 .", ". . source 11"),
        ("11 x 3", "0 3 source 11"),
        ("99 5", "5 . <bogus line 99>"),
        ("-11 5", "5 . <bogus line -1>"),
        // The sign of the sum counts again.
        ("-20 5\n+3 7", "7 . <bogus line -17>"),
        ("*2 5", "5 . <bogus line 102>"),
        ("012 5", ". . source 12"),
        ("-10 5", "5 . <counts for unidentified lines in x>"),
    ] {
        let body = format!("fl=x\nfn=q\n10 1\n{line}\n");
        let text = printed(&body, &options(), &AnySource);
        let rows: Vec<String> =
            text.lines().map(|row| row.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(rows.iter().any(|row| row == shown), "{line}: {text}");
    }
}

#[test]
fn what_the_original_refuses_is_refused() {
    let refused = |profile: &str| ExactReport::new(profile.as_bytes(), &options()).unwrap_err();
    assert!(matches!(refused("version: 2\nevents: Ir\n"), ExactError::TooNew(version) if version == b"2"));
    assert!(matches!(refused("fl=x\nfn=q\n1 2\n"), ExactError::NoEvents(3)));
    assert!(matches!(refused("events: Ir\nfl=x\nfn=q\n1 2 3\n"), ExactError::TooManyCosts(4)));
    assert!(matches!(refused("events: Ir\nfl=x\nfi=y\n"), ExactError::UnexpectedFile(3)));
    let profile = b"events: Ir\n";
    let options = ExactOptions { show: vec!["Dr".to_owned()], ..options() };
    let error = ExactReport::new(profile, &options).unwrap_err();
    assert_eq!(error.to_string(), "--show event `Dr' did not appear in input");
}

/// A short name id can stand for a long path, and each function has it in its label.
#[test]
fn long_names_are_refused() {
    let functions: String = (0..5_000).map(|function| format!("fn=f{function}\n1 1\n")).collect();
    let profile = format!("events: Ir\nfl=/{}.c\n{functions}", "p".repeat(20_000));
    let error = ExactReport::new(profile.as_bytes(), &options()).unwrap_err();
    assert!(matches!(error, ExactError::OverBudget(_)), "{error}");
}

#[test]
fn a_stated_total_has_no_control_character() {
    let totals = b"events: Ir\nfl=x\nfn=q\n1 2\ntotals: 5\x1b[2J\x8a\n";
    let mut out = Vec::new();
    ExactReport::new(totals, &options()).unwrap().write(&NoSources, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("5\\x1b[2J\\x8a  PROGRAM TOTALS"), "{text}");
}
