use super::*;

/// Returns the line number and offset where a file leaves a grammar; `None` if it never does.
fn deviation(mut grammar: Grammar, file: &str) -> Option<(usize, usize)> {
    for (index, line) in file.split_inclusive('\n').enumerate() {
        let text = line.strip_suffix('\n');
        let line_end = if text.is_some() { LineEnd::Lf } else { LineEnd::Missing };
        if let Some(deviation) = grammar.check(text.unwrap_or(line).as_bytes(), line_end) {
            return Some((index, deviation.offset));
        }
    }
    grammar.end().map(|deviation| (file.lines().count(), deviation.offset))
}

/// Returns the offset at which lines leave each grammar, after a header that both have.
fn verdicts(before: &str, lines: &str, behind: &str) -> [Option<usize>; 2] {
    let file = format!("{before}{lines}\n{behind}");
    let first = before.lines().count();
    [Grammar::published(), Grammar::practised()].map(|grammar| {
        deviation(grammar, &file).map(|(line, offset)| {
            assert_eq!(line, first + lines.matches('\n').count(), "{lines:?} in {file:?}");
            offset
        })
    })
}

type Case = (&'static str, Option<usize>, Option<usize>);

fn check(before: &str, behind: &str, cases: &[Case]) {
    for &(lines, published, practised) in cases {
        assert_eq!(verdicts(before, lines, behind), [published, practised], "{lines:?}");
    }
}

const HEADER: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\n";
const BODY: &str = "creator: callgrind-3.19.0\npositions: instr line\nevents: Ir Dr\n\nfn=f\n";
const CACHEGRIND: &str = "desc: I1 cache:         1 B\ncmd: a\nevents: Ir Dr\nfl=a.c\nfn=f\n";

#[test]
fn header_lines() {
    check(
        HEADER,
        "events: Ir\n",
        &[
            ("pid: 12", None, None),
            ("pid: 0x1F", None, Some(5)),
            ("pid: 0X1F", Some(5), Some(5)),
            ("pid: ", Some(5), Some(5)),
            ("pid:12", None, Some(4)),
            ("thread: one", Some(8), Some(8)),
            ("part: -1", Some(6), Some(6)),
            ("cmd:  ./a b", None, None),
            ("cmd:", None, None),
            ("cmd:   a", None, Some(4)),
            ("desc: Trigger: x", None, None),
            ("desc: I1 cache: ", None, None),
            ("desc: no kind", Some(6), Some(6)),
            ("positions: instr bb line", None, None),
            ("positions: line instr", Some(16), Some(16)),
            ("positions: addr", Some(11), Some(11)),
            ("positions:", Some(10), Some(10)),
            ("event: Ir", None, None),
            ("event: Ir : Instruction Fetch", None, None),
            ("event: Sum = Ir + Dr", None, None),
            ("event: Sum = 10 Ir + 2*Dr : x", None, None),
            ("event: Sum = 0x10 Ir + 0x1f*Dr", None, None),
            ("event: Sum = 2 3 Ir", Some(10), Some(10)),
            ("event: Sum = Ir - Dr", Some(10), Some(10)),
            ("event: Sum = * Ir", Some(10), Some(10)),
            ("event: Ir Dr", Some(9), Some(9)),
            ("event: 1Ir", Some(7), Some(7)),
            ("summary: 1 2", None, None),
            ("summary: 1 -2", Some(11), Some(11)),
            ("arch: arm", Some(0), Some(0)),
            ("pid : 12", Some(3), Some(3)),
            (" pid: 12", Some(0), Some(0)),
            ("version: 1", Some(0), Some(0)),
            ("creator: again", Some(0), Some(0)),
            ("# a comment", None, Some(0)),
            ("", None, None),
            (" ", Some(0), Some(0)),
        ],
    );
    check(
        HEADER,
        "",
        &[
            ("events: Ir Dr", None, None),
            ("events: Ir  Dr ", None, None),
            ("events: Time_(10ns)", Some(8), Some(8)),
            ("events:", Some(7), Some(7)),
            ("events: Ir\nevents: Dr", Some(0), Some(0)),
            ("fn=f", Some(0), Some(0)),
            ("1 2", Some(0), Some(0)),
            ("totals: 1", Some(0), Some(0)),
            ("calls=1 2", Some(0), Some(0)),
        ],
    );
}

#[test]
fn first_lines() {
    check(
        "",
        "events: Ir\n",
        &[
            ("version: 1", None, None),
            ("version: 0.9.6", Some(0), Some(0)),
            ("version:1", Some(0), Some(8)),
            ("creator: x", None, None),
            ("# callgrind format\nversion: 1\ncreator: x", None, None),
            ("# callgrind format\ncreator: x\nversion: 1", Some(0), Some(0)),
            ("cmd: x\ncreator: x", Some(0), Some(0)),
            ("# format callgrind", None, Some(0)),
        ],
    );
}

#[test]
fn cost_lines() {
    check(
        BODY,
        "",
        &[
            ("0x10 5 1 2", None, None),
            ("0x10 5", None, None),
            ("+3 * 5", None, None),
            ("-0x3 +0 5", None, None),
            ("0x10 5 1 2 3", Some(11), Some(11)),
            ("0x10 5 -1", Some(7), Some(7)),
            ("0x10 5 1.5", Some(7), Some(7)),
            ("0x10 5 .", Some(7), Some(7)),
            ("0x10 5 0x1F", None, Some(7)),
            ("0x10 5 18446744073709551616", Some(7), Some(7)),
            ("0x10", Some(4), Some(4)),
            ("0X10 5 1", Some(0), Some(0)),
            ("0x10 5:6 1", Some(5), Some(5)),
            ("0x10 ** 1", Some(5), Some(5)),
            ("0x10  5 1", None, Some(4)),
            ("0x10 5\t1", None, Some(6)),
            ("0x10 5 1 ", None, Some(8)),
            (" 0x10 5 1", Some(0), Some(0)),
        ],
    );
    check(
        CACHEGRIND,
        "",
        &[
            ("1   2 ", None, None),
            ("1 -2 -3", Some(2), None),
            ("1 . 3", Some(2), None),
            ("1 2 3 4", Some(6), Some(6)),
        ],
    );
}

#[test]
fn summaries_and_totals() {
    let both =
        |file: &str| [Grammar::published(), Grammar::practised()].map(|grammar| deviation(grammar, file));
    assert_eq!(both("events: Ir\nfn=f\n1 2\ntotals: 2\n"), [None, None]);
    assert_eq!(both("events: Ir\nfn=f\n1 2\nsummary: 2\n"), [Some((3, 0)), None], "as Cachegrind has it");
    assert_eq!(
        both("creator: callgrind-3\nevents: Ir\nfn=f\n1 2\nsummary: 2\n"),
        [Some((4, 0)), Some((4, 0))],
        "Callgrind has it in the header"
    );
    assert_eq!(both("events: Ir\nfn=f\n1 2\ntotals: 2\ntotals: 2\n"), [Some((4, 0)); 2]);
    assert_eq!(both("events: Ir\nfn=f\n1 2\ntotals: 2\nfn=g\n"), [Some((4, 0)); 2]);
    assert_eq!(both("events: Ir\nfn=f\n1 2\ntotals: 2\n\npart: 2\nevents: Ir\n"), [None, None]);
    assert_eq!(both("events: Ir\nfn=f\n1 2\ntotals: 2\n\npart: 2\nfn=f\n"), [Some((6, 0)); 2]);
    let again = "# callgrind format\nversion: 1\ncreator: callgrind-3\n";
    let twice = format!("{again}events: Ir\nfn=f\n1 2\ntotals: 2\n{again}events: Ir\n");
    assert_eq!(both(&twice), [Some((8, 0)), None], "as Callgrind does for each thread");
}

#[test]
fn names() {
    check(
        BODY,
        "",
        &[
            ("fn=(1) f", None, None),
            ("fn=(1)", None, None),
            ("fn=(0)", None, None),
            ("fn=(below main)", None, None),
            ("fn=", None, None),
            ("fn=(0x1) f", None, Some(3)),
            ("fn=(1)f", None, Some(6)),
            ("fn=(1)  f", None, Some(6)),
            ("fn=(1) ", None, Some(6)),
            ("fn=(1 f", Some(3), Some(3)),
            ("fn=(1x) f", Some(3), Some(3)),
            ("fn= f", None, Some(3)),
            ("fn =f", Some(2), Some(2)),
            ("ob=x\nfl=x\nfi=x\nfe=x\ncob=x\ncfi=x\ncfn=x", None, None),
            ("cfl=x", None, Some(0)),
            ("jfi=x", Some(0), None),
            ("jfn=x", Some(0), None),
            ("frfn=(spontaneous)", Some(0), None),
            ("rec=1", Some(0), None),
            ("rec=-1", Some(0), Some(4)),
            ("ln=12", Some(0), None),
            ("bb=0x10 3 1 2 0", Some(0), None),
            ("bb=0x10 3", Some(0), Some(9)),
            ("bb=0x10", Some(0), Some(7)),
            ("bb=x 3 1", Some(0), Some(3)),
            ("bb=0x10 3 x", Some(0), Some(10)),
            ("FN=f", Some(0), Some(0)),
            ("frob=1", Some(0), Some(0)),
            ("frob", Some(0), Some(0)),
        ],
    );
}

#[test]
fn calls_and_jumps() {
    check(
        BODY,
        "0x10 5 7\n",
        &[
            ("calls=1 0x10 5 ", None, None),
            ("calls=0 +1 *", None, None),
            ("calls=1 0x10", Some(12), Some(12)),
            ("calls=1", Some(7), Some(7)),
            ("calls=", Some(6), Some(6)),
            ("calls=-1 0x10 5", Some(6), Some(6)),
            ("calls=1 0x10 5 6", Some(15), Some(15)),
            ("calls=1 -1x 5", Some(8), Some(8)),
            ("rcalls=1 0x10 5", Some(0), Some(0)),
        ],
    );
    check(
        BODY,
        "",
        &[
            ("calls=1 0x10 5\nfn=f", Some(0), Some(0)),
            ("calls=1 0x10 5\n", Some(0), Some(0)),
            ("calls=1 0x10 5\n# x", Some(0), Some(0)),
            ("jump=3 0x10 5 \n0x20 6 ", None, None),
            ("jump=3 0x10 5 \n0x20 6 7", None, Some(6)),
            ("jump=3 0x10 5\nfn=f", None, Some(0)),
        ],
    );
    check(
        BODY,
        "0x20 6 \n",
        &[
            ("jcnd=1/3 0x10 5", Some(5), None),
            ("jcnd=3 1 0x10 5", None, Some(5)),
            ("jcnd=1/x 0x10 5", Some(5), Some(5)),
            ("jcnd=3 1", Some(8), Some(5)),
            ("jump=x 0x10 5", Some(5), Some(5)),
            ("jump=1 0x10", Some(11), Some(11)),
        ],
    );
}

#[test]
fn ends() {
    for grammar in [Grammar::published, Grammar::practised] {
        assert_eq!(deviation(grammar(), ""), None);
        assert_eq!(deviation(grammar(), "version: 1\n"), Some((1, 0)), "no events");
        assert_eq!(deviation(grammar(), "events: Ir\nfn=f\n1 2"), Some((3, 0)), "no line feed");
        assert_eq!(
            deviation(grammar(), "events: Ir\nfn=f\ncfn=g\ncalls=1 2\n"),
            Some((4, 0)),
            "no cost line"
        );
        for line_end in [LineEnd::CrLf, LineEnd::Cr] {
            assert_eq!(grammar().check(b"events: Ir", line_end).map(|deviation| deviation.offset), Some(10));
        }
    }
    let jump = "events: Ir\nfn=f\njump=1 2\n";
    assert_eq!(deviation(Grammar::published(), jump), None);
    assert_eq!(deviation(Grammar::practised(), jump), Some((3, 0)), "no position line");
}
