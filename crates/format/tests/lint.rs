//! Every rule of lint has a file that breaks it, at a line that is known.
#![cfg(test)]

use std::collections::BTreeSet;

use gristmill_format::{Finding, Lint, RULES};

/// The findings of lint: rule and line, in the order of the file.
fn found(file: &[u8]) -> Vec<(&'static str, u64)> {
    findings(Lint::default(), file).iter().map(|finding| (finding.rule.name, finding.location.line)).collect()
}

fn findings(lint: Lint, file: &[u8]) -> Vec<Finding<'_>> {
    let mut findings = Vec::new();
    lint.run(file, |finding| findings.push(finding));
    findings
}

/// A header that nothing can be said against, up to line 5.
const HEADER: &str = "# callgrind format\nversion: 1\ncreator: test\npositions: line\nevents: Ir\n";

/// A body after that header breaks these rules, and no others.
#[track_caller]
fn body(body: &str, expected: &[(&str, u64)]) {
    bytes(format!("{HEADER}{body}").as_bytes(), expected);
}

#[track_caller]
fn bytes(file: &[u8], expected: &[(&str, u64)]) {
    let expected: BTreeSet<_> = expected.iter().copied().collect();
    let found: BTreeSet<_> = found(file).into_iter().collect();
    assert_eq!(found, expected, "{}", file.escape_ascii());
}

/// A whole file breaks at least this rule, at this line.
#[track_caller]
fn breaks(file: &[u8], rule: &str, line: u64) {
    let found = found(file);
    assert!(found.contains(&(rule, line)), "{rule} at line {line} is missing in {found:?}");
}

/// One file for each rule; the line is where the rule is broken.
const EXAMPLES: &[(&str, &[u8], u64)] = &[
    ("not-a-profile", b"\x7fELF\x02\x01\x01\0", 1),
    ("empty-file", b"", 1),
    ("no-events", b"version: 1\nfn=f\n", 1),
    ("no-body", b"events: Ir\n", 1),
    ("truncated", b"creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 2\n", 4),
    ("no-final-newline", b"events: Ir\nfn=f\n1 2", 3),
    ("byte-order-mark", b"\xef\xbb\xbfevents: Ir\nfn=f\n1 2\n", 1),
    ("several-profiles", b"events: Ir\nfn=f\n1 2\n==== NEW PROFILING FILE ====\nevents: Ir\nfn=f\n1 2\n", 4),
    ("unknown-line", b"events: Ir\nfrob 1 2\n", 2),
    ("unknown-header", b"foo: bar\nevents: Ir\n", 1),
    ("unknown-body-line", b"events: Ir\nzzz=1\n", 2),
    ("hidden-option", b"events: Ir\nrec=1\n", 2),
    ("key-case", b"Events: Ir\nfn=f\n1 2\n", 1),
    ("blank-before-separator", b"events: Ir\nfn =f\n1 2\n", 2),
    ("blank-after-equals", b"events: Ir\nfn= f\n1 2\n", 2),
    ("leading-blank", b"events: Ir\n fn=f\n1 2\n", 2),
    ("trailing-blank", b"events: Ir\nfn=f\n1 2 \n", 3),
    ("extra-blanks", b"events: Ir Dr\nfn=f\n1 2  3\n", 3),
    ("tab-separator", b"events: Ir\nfn=f\n1\t2\n", 3),
    ("line-end-crlf", b"events: Ir\r\nfn=f\r\n1 2\r\n", 1),
    ("line-end-mixed", b"events: Ir\nfn=f\r\n1 2\n", 2),
    ("line-end-cr", b"events: Ir\rfn=f\r1 2\r", 1),
    ("nul-byte", b"events: Ir\nfn=class@anonymous\0/x.php\n1 2\n", 2),
    ("not-utf8", b"events: Ir\nfn=caf\xe9\n1 2\n", 2),
    ("blank-in-block", b"events: Ir\nfn=f\n1 2\n\ncfn=g\ncalls=1 2\n1 3\n", 4),
    ("comment-in-call", b"events: Ir\nfn=f\ncfn=g\ncalls=1 2\n# here\n1 3\n", 5),
    ("no-format-marker", b"events: Ir\n", 1),
    ("no-version", b"events: Ir\n", 1),
    ("no-creator", b"events: Ir\n", 1),
    ("no-positions", b"events: Ir\n", 1),
    ("unknown-version", b"version: 0.9.6\nevents: Ir\n", 1),
    ("late-version", b"version: 1\nevents: Ir\nfn=f\n1 2\nversion: 1\nevents: Ir\nfn=f\n1 2\n", 5),
    ("header-after-events", b"events: Ir\ncmd: x\nfn=f\n1 2\n", 2),
    ("header-in-body", b"events: Ir\nfn=f\n1 2\ncmd: x\n", 4),
    ("summary-in-body", b"events: Ir\nfn=f\nsummary: 2\n1 2\n", 3),
    ("summary-at-end", b"events: Ir\nfn=f\n1 2\nsummary: 2\n", 4),
    ("totals-key", b"events: Ir\nfn=f\n1 2\ntotal: 2\n", 4),
    ("totals-early", b"events: Ir\ntotals: 2\nfn=f\n1 2\n", 2),
    ("body-after-totals", b"events: Ir\nfn=f\n1 2\ntotals: 4\n2 2\n", 5),
    ("duplicate-header", b"events: Ir\nevents: Dr\nfn=f\n1 2\n", 2),
    ("duplicate-part", b"part: 1\nevents: Ir\nfn=f\n1 2\npart: 1\nevents: Ir\nfn=f\n1 2\n", 5),
    ("mixed-recordings", b"pid: 1\nevents: Ir\nfn=f\n1 2\npid: 2\nevents: Ir\nfn=f\n1 2\n", 5),
    ("bad-header-value", b"pid: many\nevents: Ir\n", 1),
    ("desc-without-kind", b"desc: something\nevents: Ir\n", 1),
    ("positions-order", b"positions: line instr\nevents: Ir\n", 1),
    ("positions-bb", b"positions: bb line\nevents: Ir\n", 1),
    ("unknown-position", b"positions: column\nevents: Ir\n", 1),
    (
        "positions-change",
        b"events: Ir\npositions: line\nfn=f\n1 2\npositions: instr line\nevents: Ir\nfn=f\n1 1 2\n",
        5,
    ),
    ("events-change", b"events: Ir\nfn=f\n1 2\nevents: Dr\nfn=f\n1 2\n", 4),
    ("duplicate-event", b"events: Ir Ir\n", 1),
    ("event-name", b"events: Time_(10ns)\n", 1),
    ("event-without-colon", b"event: CPU_0 text\nevents: Ir\n", 1),
    ("event-formula", b"event: A = B\nevent: B = A\nevents: Ir\nfn=f\n1 2\n", 1),
    ("event-formula-syntax", b"event: A = Ir - 5\nevents: Ir\n", 1),
    ("undefined-name", b"events: Ir\nfn=(7)\n1 2\n", 2),
    ("redefined-name", b"events: Ir\nfn=(1) f\n1 2\nfn=(1) g\n1 2\n", 4),
    ("renumbered-names", b"events: Ir\nfn=(1) f\n1 2\nevents: Ir\nfn=(1) g\n1 2\n", 5),
    ("unclosed-name-number", b"events: Ir\nfn=(1 f\n1 2\n", 2),
    ("odd-name-number", b"events: Ir\nfn=(-2) f\n1 2\n", 2),
    ("hexadecimal-name-number", b"events: Ir\nfn=(0x2) f\n1 2\n", 2),
    ("name-number-zero", b"events: Ir\nfn=(0) f\n1 2\n", 2),
    ("ambiguous-name", b"events: Ir\nfl=(3) r.c\nfn=f\n1 2\n", 2),
    ("parenthesis-name", b"events: Ir\nfn=(below main)\n1 2\n", 2),
    ("empty-name", b"events: Ir\nfl=\nfn=f\n1 2\n", 2),
    ("control-in-name", b"events: Ir\nfn=\x1b[31mf\n1 2\n", 2),
    ("markup-in-name", b"events: Ir\nfn=<script>x</script>\n1 2\n", 2),
    ("escape-in-name", b"events: Ir\nfn=a\\nb\n1 2\n", 2),
    ("path-leaves-tree", b"events: Ir\nfl=../../x.c\nfn=f\n1 2\n", 2),
    ("device-path", b"events: Ir\nfl=/dev/zero\nfn=f\n1 2\n", 2),
    ("callee-named-twice", b"events: Ir\nfn=f\ncfn=g\ncfn=h\ncalls=1 2\n1 3\n", 4),
    ("callee-order", b"events: Ir\nfn=f\ncfn=g\ncfi=x.c\ncalls=1 2\n1 3\n", 3),
    ("function-before-file", b"events: Ir\nfn=f\nfl=x.c\n1 2\n", 3),
    ("bare-definitions", b"events: Ir\nfn=(1) f\nfn=(2) g\nfn=(3) h\nfn=(1)\n1 2\n", 4),
    ("bad-position", b"events: Ir\nfn=f\n1 1\n++1 2\n", 4),
    ("missing-position", b"events: Ir\nfn=f\n 123\n", 3),
    ("relative-without-base", b"events: Ir\nfn=f\n+1 2\n", 3),
    ("position-below-zero", b"events: Ir\nfn=f\n1 2\n-5 2\n", 4),
    ("position-too-large", b"events: Ir\nfn=f\n1 2\n+18446744073709551615 2\n", 4),
    ("too-many-positions", b"positions: instr bb line line line\nevents: Ir\n", 1),
    ("position-range", b"events: Ir\nfn=f\n1:3 2\n", 3),
    ("capital-hex", b"positions: instr\nevents: Ir\nfn=f\n0xAB 2\n", 4),
    ("huge-line-number", b"events: Ir\nfn=f\n4294967296 2\n", 3),
    ("target-missing", b"events: Ir\nfn=f\ncfn=g\ncalls=1\n1 2\n", 4),
    ("target-extra", b"events: Ir\nfn=f\ncfn=g\ncalls=1 0 0\n1 2\n", 4),
    ("cost-before-events", b"fn=f\n1 2\n", 2),
    ("cost-without-function", b"events: Ir\n1 2\n", 2),
    ("bad-cost", b"events: Ir\nfn=f\n1 x\n", 3),
    ("fractional-cost", b"events: Ir\nfn=f\n1 2.5\n", 3),
    ("cost-too-large", b"events: Ir\nfn=f\n1 18446744073709551616\n", 3),
    ("too-many-costs", b"events: Ir\nfn=f\n1 2 3\n", 3),
    ("fewer-costs", b"events: Ir Dr\nfn=f\n1 2\n", 3),
    ("no-costs", b"events: Ir\nfn=f\n1\n", 3),
    ("negative-cost", b"events: Ir\nfn=f\n1 -2\n", 3),
    ("wrapped-cost", b"events: Ir\nfn=f\n1 18446744073709551615\n", 3),
    ("sum-overflow", b"events: Ir\nfn=f\n1 18446744073709551615\n1 1\n", 1),
    ("totals-mismatch", b"events: Ir\nfn=f\n1 2\ntotals: 3\n", 4),
    ("totals-length", b"events: Ir\nfn=f\n1 2\ntotals: 2 3\n", 4),
    (
        "call-balance",
        b"creator: xdebug 3\nevents: Time\nfn={main}\n1 2\ncfn=f\ncalls=1 0 0\n1 5\n\nsummary: 9\n",
        1,
    ),
    (
        "counted-twice",
        b"creator: xdebug 3\nevents: Time\nfn={main}\n1 2\n\nfn=php::Fiber->start\n1 9\n\nsummary: 5\n",
        9,
    ),
    ("summary-below-sum", b"events: Ir\nsummary: 1\nfn=f\n1 2\n", 2),
    ("summary-above-sum", b"events: Ir\nsummary: 3\nfn=f\n1 2\n", 2),
    ("summary-wrapped", b"events: Ir\nsummary: 18446744073709423692\nfn=f\n1 2\n", 2),
    ("summary-length", b"events: Ir Dr\nsummary: 2\nfn=f\n1 2 3\n", 2),
    ("bad-count", b"events: Ir\nfn=f\ncfn=g\ncalls=x 2\n1 2\n", 4),
    ("negative-count", b"events: Ir\nfn=f\ncfn=g\ncalls=-1 2\n1 2\n", 4),
    ("zero-count", b"events: Ir\nfn=f\ncfn=g\ncalls=0 2\n1 2\n", 4),
    ("call-without-cost", b"events: Ir\nfn=f\ncfn=g\ncalls=1 2\nfn=g\n1 2\n", 4),
    ("call-without-callee", b"events: Ir\nfn=f\ncalls=1 2\n1 2\n", 3),
    ("jump-without-source", b"events: Ir\nfn=f\njump=1 2\n1 2\n", 3),
    ("callee-without-block", b"events: Ir\nfn=f\ncfn=g\ncalls=1 2\n1 2\n", 4),
    ("inclusive-mismatch", b"events: Ir\nfn=f\n1 2\ncfn=g\ncalls=1 2\n1 5\nfn=g\n2 4\n", 5),
    ("recursion", b"events: Ir\nfn=f\n1 2\ncfn=f\ncalls=1 2\n1 5\n", 5),
    ("call-exceeds-total", b"events: Ir\nfn=f\n1 2\ncfn=g\ncalls=1 2\n1 50\nfn=g\n2 4\n", 5),
    ("no-self-cost", b"events: Ir\nfn=f\ncfn=g\ncalls=1 2\n1 50\n", 4),
];

/// These three rules need more than the bytes of a profile: the program reports them.
const RAISED_ELSEWHERE: [&str; 2] = ["compressed-content", "damaged-compression"];

#[test]
fn every_rule_can_be_broken() {
    for &(rule, file, line) in EXAMPLES {
        breaks(file, rule, line);
    }
    let mut covered: BTreeSet<&str> = EXAMPLES.iter().map(|(rule, ..)| *rule).collect();
    covered.extend(["strict", "practice", "name-with-many-numbers"]);
    covered.extend(RAISED_ELSEWHERE);
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(covered, all);
}

#[test]
fn many_numbers_for_one_name() {
    let mut file = b"events: Ir\n".to_vec();
    for number in 1..=64 {
        file.extend_from_slice(format!("fn=({number}) same\n1 1\n").as_bytes());
    }
    breaks(&file, "name-with-many-numbers", 2 * 64);
}

#[test]
fn grammars_are_asked_for() {
    let file = b"events: Ir\ncmd: x\nfn=f\n1 2\n 3 4\n";
    let lint = Lint { strict: true, practice: true };
    let asked: Vec<_> =
        findings(lint, file).iter().map(|finding| (finding.rule.name, finding.location.line)).collect();
    assert!(asked.contains(&("strict", 5)), "{asked:?}");
    assert!(asked.contains(&("practice", 5)), "{asked:?}");
    assert!(!found(file).iter().any(|(rule, _)| ["strict", "practice"].contains(rule)));
}

#[test]
fn rules_have_names_of_one_kind_and_text() {
    for rule in RULES {
        assert!(
            rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        );
        for text in [rule.summary, rule.help, rule.clause] {
            assert!(!text.is_empty() && text.trim() == text, "{}: {text:?}", rule.name);
        }
        assert!(rule.summary.len() <= 90, "{} is too long for one line", rule.name);
    }
}

#[test]
fn a_clean_file_is_clean() {
    body("fl=a.c\nfn=main\n16 20\ncfn=f\ncalls=1 50\n16 400\n\nfn=f\n50 400\ntotals: 420\n", &[]);
}

#[test]
fn nothing_else_is_said() {
    body("fn=f\n1 2\ntotals: 3\n", &[("totals-mismatch", 8)]);
    body("fn=f\n1 2\n\nfn=(7)\n1 2\n", &[("undefined-name", 9)]);
    body("fn=f\n1 2\n++1 2\ntotals: 4\n", &[("bad-position", 8)]);
    body("fn=f\n1 2\ncfn=g\ncalls=1 2\nfn=g\n1 3\n", &[("call-without-cost", 9)]);
}

#[test]
fn self_cost_of_any_event_type_counts() {
    let body = "fl=a.c\nfn=f\n1 0 5\ncfn=g\ncalls=1 2\n1 0 3\n\nfn=g\n2 0 3\ntotals: 0 8\n";
    bytes(format!("{}{body}", HEADER.replace("Ir", "Ir Dr")).as_bytes(), &[]);
    // The second number has no event type.
    breaks(b"events: Ir\nfn=f\n1 0 5\ncfn=g\ncalls=1 2\n1 0\n", "no-self-cost", 5);
}

#[test]
fn factors_may_be_hexadecimal() {
    let with_formula = |formula: &str| {
        format!("{HEADER}fn=f\n1 2\ntotals: 2\n")
            .replace("events:", &format!("event: H = {formula}\nevents:"))
    };
    bytes(with_formula("0x10 Ir + 0x1f*Ir").as_bytes(), &[]);
    bytes(with_formula("0x10 Ir + Dr").as_bytes(), &[("event-formula", 5)]);
    bytes(with_formula("0x8000000000000000 Ir").as_bytes(), &[("event-formula", 5)]);
    bytes(with_formula("0X10 Ir").as_bytes(), &[("event-formula-syntax", 5)]);
}

#[test]
fn a_bad_cost_is_no_missing_cost() {
    body("fn=f\n1 x\ntotals: 0\n", &[("bad-cost", 7)]);
    let message = |file: &[u8], rule| {
        findings(Lint::default(), file)
            .iter()
            .find(|finding| finding.rule.name == rule)
            .unwrap()
            .message
            .clone()
    };
    assert_eq!(
        message(b"events: A B\nfn=f\n1 2\n", "fewer-costs"),
        "1 cost for 2 event types; the missing ones are 0"
    );
    assert_eq!(
        message(b"events: A B C\nfn=f\n1 2 3\n", "fewer-costs"),
        "2 costs for 3 event types; the missing ones are 0"
    );
    assert_eq!(
        message(b"events: A B\nsummary: 1\nfn=f\n1 1 2\n", "summary-length"),
        "1 value on the `summary:` line for 2 event types"
    );
}

#[test]
fn places_are_marked() {
    let file = b"events: Ir Dr\nfn=f\n1 22 x33 4\n";
    let all = findings(Lint::default(), file);
    let bad = all.iter().find(|finding| finding.rule.name == "bad-cost").unwrap();
    assert_eq!((bad.column, bad.length, bad.text), (6, 3, &b"1 22 x33 4"[..]));
}
