//! One rule at a time.

use super::*;
use ChangeKind as K;

const TOP: &str = "# callgrind format\nversion: 1\n";

fn repaired(input: &[u8], options: &Rewrite) -> (String, Vec<ChangeKind>) {
    let first = repair(input, options, Vec::new()).unwrap();
    let is_sound = first.changes.is_empty() && options.keeps_spelling();
    if is_sound {
        assert_eq!(first.sink, input, "a sound file stays as it is");
    } else {
        let error = Reader::with_mode(&first.sink, ReadingMode::Strict).find_map(Result::err);
        assert!(error.is_none(), "{error:?}");
    }
    let second = repair(&first.sink, options, Vec::new()).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let output = text(first.sink);
    assert_eq!(text(second.sink), output, "repaired twice");
    assert_eq!(second.changes, [], "{output}");
    (output, first.changes.iter().map(|change| change.kind).collect())
}

/// Repairs lines after those at the top.
fn check(input: &str, expected: &str, changes: &[ChangeKind]) {
    let (output, kinds) = repaired(format!("{TOP}{input}").as_bytes(), &Rewrite::default());
    assert_eq!(output, format!("{TOP}{expected}"), "{input}");
    assert_eq!(kinds, changes, "{input}");
}

#[test]
fn what_is_in_order_stays() {
    let file = "creator: mill-3.22.0\npid: 7\n\ncmd: ./a b\npart: 1\n\ndesc: Trigger: end\n\npositions: instr line\n\
                event: X = Ir + 2 Bm : Ex\nevents: Ir Bm\nsummary: 9\n\n# note\nob=(1) /a\nfl=(1) a.c\nfn=(1) main\n\
                0x1040 16 4\n+3 * 5\ncfn=(2) f\ncalls=1 0x2000 +34\n* * 3 1\n";
    check(file, file, &[]);
    let totals = format!("{file}\ntotals: 9\n\npart: 2\nevents: Ir\nfn=(2)\n0x2000 50 7\n");
    check(&totals, &totals, &[]);
}

#[test]
fn the_top_comes_first() {
    let file = b"\xef\xbb\xbfcmd: a\r\ncreator: x\r\nversion: 0.9.6\r\nevents: Ir\r\n\r\nfn=a\r\n1 2";
    let (output, kinds) = repaired(file, &Rewrite::default());
    assert_eq!(output, format!("{TOP}creator: x\ncmd: a\nevents: Ir\n\nfn=a\n1 2\n"));
    assert_eq!(kinds, [K::ByteOrderMark, K::LineEnd, K::FirstLines, K::Version, K::UnendedLine]);
    check("events: Ir\nversion: 2\n", "events: Ir\n", &[K::Version, K::LaterVersion]);
    let old_mac = TOP.replace('\n', "\r") + "events: Ir\rfn=a\r1 2\r";
    assert_eq!(repaired(old_mac.as_bytes(), &Rewrite::default()).0, format!("{TOP}events: Ir\nfn=a\n1 2\n"));
}

#[test]
fn appended_profiles_become_parts() {
    check(
        "creator: mill 3\ncmd: a\npart: 1\npositions: line\nevents: Time_(10ns)\n\nfn=(1) x\n1 5\n\n\
         ==== NEW PROFILING FILE ====\nversion: 1\ncreator: mill 3\ncmd: b\npart: 1\nevents: Time_(10ns)\n\
         fn=(1) y\n1 6\n",
        "creator: mill 3\ncmd: a\npart: 1\npositions: line\nevent: Time10ns : Time_(10ns)\nevents: Time10ns\n\n\
         fn=(1) x\n1 5\n\npart: 1\ncmd: b\nevent: Time10ns : Time_(10ns)\nevents: Time10ns\nfn=(1) y\n1 6\n",
        &[K::EventName, K::Separator, K::LaterVersion],
    );
    // What has no object in the second has none of the first.
    check(
        "events: Ir\nob=o\nfl=f\nfn=x\n1 5\n==== NEW PROFILING FILE ====\nevents: Ir\nfn=y\n1 6\n",
        "events: Ir\nob=o\nfl=f\nfn=x\n1 5\nevents: Ir\nob=???\nfl=???\nfn=y\n1 6\n\
         # cut off here: it lacks the `summary:` line that Xdebug writes at the end\ntotals: 6\n",
        &[K::Separator, K::PlaceAdded, K::CutOff],
    );
}

#[test]
fn late_header_lines_move() {
    check(
        "events: Ir\nfn=a\n1 2\nsummary: 2\ncmd: x\ndesc: text\n",
        "cmd: x\ndesc: Note: text\nevents: Ir\nsummary: 2\nfn=a\n1 2\n",
        &[K::MovedHeader, K::DescriptionKind],
    );
    // Those before the header of another part are that part's.
    check(
        "creator: mill\nevents: Ir\nfn=a\n1 2\ncmd: x\nthread: 2\nevents: Ir\n",
        "creator: mill\nevents: Ir\nfn=a\n1 2\nthread: 2\ncmd: x\nevents: Ir\n",
        &[K::MovedHeader],
    );
    check("totals: 5\nevents: Ir\nfn=a\n1 5\n", "events: Ir\nfn=a\n1 5\ntotals: 5\n", &[K::MovedHeader]);
}

#[test]
fn a_cut_is_ended_once() {
    // The line that ends a part of Cachegrind cannot be kept.
    check(
        "desc: I1 cache: \nfn=a\n6\nevents: Ir\nsummary:",
        "desc: I1 cache: \nevents: Ir\nfn=a\n6\nevents: Ir\n# summary:\n\
         # cut off here: it lacks the `summary:` line that Cachegrind writes at the end\ntotals: 0\n",
        &[K::EventsTakenOver, K::CutOff, K::UnendedLine, K::Header],
    );
    // Nothing of the part behind it is kept.
    check(
        "creator: xdebug 3.3.1\nevents: Ir\nfn=a\n1 6\n\nversion: 1\ncreator: xdebug 3.3.1\n",
        "creator: xdebug 3.3.1\nevents: Ir\nfn=a\n1 6\n\n\
         # cut off here: it lacks the `summary:` line that Xdebug writes at the end\ntotals: 6\n",
        &[K::CutOff, K::LaterVersion],
    );
    // The grammar cannot hold the totals.
    check(
        "creator: callgrind-3.19.0\nevents: Ir\nfn=a\n1 6\n3 1E78\n",
        "creator: callgrind-3.19.0\nevents: Ir\nfn=a\n1 6\n+2 18446744073709551615\n",
        &[K::Fraction],
    );
    check(
        "events: Ir\nfn=a\n1 6\n2 1E78\ntotals: 5\nfn=\n",
        "events: Ir\nfn=a\n1 6\n+1 18446744073709551615\nfn=\n",
        &[K::Fraction, K::MovedHeader, K::TotalsLeftOut],
    );
    // Nor a `summary:` of them, so it keeps what it stated.
    check(
        "events: Ir\nfn=a\n2 7E47\n 4\nfl=\nsummary: 8\n",
        "events: Ir\nsummary: 8\nfn=a\n2 18446744073709551615\n-2 4\nfl=\n",
        &[K::Fraction, K::MissingPosition, K::MovedHeader],
    );
    // The part that was cut has the event types of another.
    check(
        "events: Ir\ntotals: 0\npositions: line\nsummary: 3\n0",
        "events: Ir\ntotals: 0\npositions: line\nsummary: 0\nevents: Ir\nfn=???\n0\n\
         # cut off here: its last line has no end\ntotals: 0\n",
        &[K::CutOff, K::UnendedLine, K::EventsTakenOver, K::FunctionAdded],
    );
}

#[test]
fn header_lines_are_said_once() {
    check(
        "events: Dr\npositions: instr\nevents: Ir Dw\npositions: line\nfn=a\n1 5 6\n",
        "events: Ir Dw\npositions: line\nfn=a\n1 5 6\n",
        &[K::RepeatedHeader],
    );
    check("thread: 1\nthread: 2\nevents: Ir\n", "thread: 2\nevents: Ir\n", &[K::RepeatedHeader]);
}

#[test]
fn each_part_gets_events() {
    check(
        "events: Ir\nfn=a\n1 5\nthread: 2\nfn=b\n1 6\n",
        "events: Ir\nfn=a\n1 5\nthread: 2\nevents: Ir\nfn=b\n1 6\n",
        &[K::EventsTakenOver],
    );
    let error = repair(b"version: 1\nfn=a\n1 5\n", &Rewrite::default(), Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 1 (byte 16): expected an `events:` line");
    let error = repair(b"{}", &Rewrite::default(), Vec::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotAProfile(_)));
}

#[test]
fn parts_without_a_body_stay_apart() {
    check(
        "events: Ir\nversion: 1\nevents: Dr\nfn=a\n1 2\n",
        "events: Ir\ntotals: 0\nevents: Dr\nfn=a\n1 2\n",
        &[K::LaterVersion, K::TotalsAdded],
    );
}

#[test]
fn sums_are_computed() {
    let file = |totals| format!("events: Ir Dr\nfn=a\n1 5\n+1 6 1\n\n{totals}\n# end\n");
    for (given, expected, changes) in [
        ("totals: 11 1", "totals: 11 1", &[][..]),
        ("totals: 12 1", "totals: 11 1", &[K::Totals]),
        ("totals: x", "totals: 11 1", &[K::Totals]),
        ("totals= 11 1", "totals: 11 1", &[K::Spelling]),
    ] {
        check(&file(given), &file(expected), changes);
    }
    check(
        "events: Ir\nfn=a\n1 18446744073709551615\n+1 1\ntotals: 0\n",
        "events: Ir\nfn=a\n1 18446744073709551615\n+1 1\n",
        &[K::TotalsLeftOut],
    );
    check("events: Ir\nsummary: 5 6\n", "events: Ir\nsummary: 5\n", &[K::Summary]);
    check("events: Ir\nsummary: -5\n", "events: Ir\n# summary: -5\n", &[K::Header]);
}

#[test]
fn what_is_not_known_becomes_a_comment() {
    check(
        "events: Ir\nfoo: bar\npid: x\nfn=a\nrec=2\nbb=0x10 1\nln=3\nfrfn=main\nfrob=1\nsome junk\n1 5\n",
        "events: Ir\n# foo: bar\n# pid: x\nfn=a\n# rec=2\n# bb=0x10 1\n# ln=3\n# frfn=main\n# frob=1\n# some junk\n1 5\n",
        &[K::Header, K::Body, K::Unreadable],
    );
    check(
        "events: Ir\n# gristmill names 1\n# gristmill fn 0:3\nfn=a\n",
        "events: Ir\nfn=a\n",
        &[K::NumberComment],
    );
}

#[test]
fn event_types_are_renamed() {
    check(
        "event: a(b) = Ir + 2 c(d)\nevent: c(d) long name\nevent: X = Ir - Bm : Ex\nevents: Ir c(d) e/f\n",
        "event: ab = Ir + 2 cd : a(b)\nevent: cd : long name\nevent: X : Ex\nevent: ef : e/f\nevents: Ir cd ef\n",
        &[K::EventName, K::EventColon, K::Formula],
    );
}

#[test]
fn columns_come_into_order() {
    check(
        "positions: line addr what\nevents: Ir\nfn=a\n16 0x10 1 5\ncfn=b\ncalls=1 50 0x20 2\n+1 +4 1 7\n",
        "positions: instr line\nevents: Ir\nfn=a\n0x10 16 5\ncfn=b\ncalls=1 +16 +34\n+4 +1 7\n",
        &[K::Columns],
    );
    check(
        "positions: what\nevents: Ir\nfn=a\n7 5\n",
        "positions: line\nevents: Ir\nfn=a\n0 5\n",
        &[K::Columns],
    );
}

#[test]
fn costs_are_made_legal() {
    check(
        "events: Ir Dr\nfn=a\n10-15 1 2\n20 1.5 .\n+ 1 -3\n30 x 1 9\n* 0x1f\n99999999999999999999 1\n",
        "events: Ir Dr\nfn=a\n10 1 2\n+10 1 0\n* 1 0\n+10 0 1\n* 31\n18446744073709551615 1\n",
        &[K::Range, K::Dot, K::Fraction, K::BadPosition, K::NegativeCost, K::BadCost, K::ExtraCost],
    );
}

#[test]
fn costs_get_a_function() {
    check(
        "events: Ir\nfl=a.c\n1 5\ncfn=b\ncalls=1 2\n1 7\n",
        "events: Ir\nfl=a.c\nfn=???\n1 5\ncfn=b\ncalls=1 +1\n* 7\n",
        &[K::FunctionAdded],
    );
    check(
        "events: Ir\nfl=(1) a.c\nfn=(1) x\nfi=(2) b.c\n1 5\nthread: 2\nevents: Ir\n1 6\n",
        "events: Ir\nfl=(1) a.c\nfn=(1) x\nfi=(2) b.c\n1 5\nthread: 2\nevents: Ir\nfn=(2) ???\nfi=(2)\n1 6\n",
        &[K::FunctionAdded],
    );
}

#[test]
fn each_part_that_is_cut_off_gets_its_totals() {
    check(
        "creator: callgrind-3.19.0\npid: 1\npart: 1\nevents: Ir\nsummary: 30\nfn=f\n1 20\n\n\
         part: 2\nevents: Ir\nsummary: 7\nfn=f\n1 7\ntotals: 7\n\n\
         part: 3\nevents: Ir\nsummary: 9\nfn=f\n1 4\n",
        "creator: callgrind-3.19.0\npid: 1\npart: 1\nevents: Ir\nsummary: 20\nfn=f\n1 20\n\n\
         # cut off here: it stated 30 Ir, its lines have 20\ntotals: 20\n\
         part: 2\nevents: Ir\nsummary: 7\nfn=f\n1 7\ntotals: 7\n\n\
         part: 3\nevents: Ir\nsummary: 4\nfn=f\n1 4\n\
         # cut off here: it stated 9 Ir, its lines have 4\ntotals: 4\n",
        &[K::CutOff],
    );
    // Without its `events:` line, the first part has no costs that could be missing.
    check(
        "creator: xdebug 3.2.0\nfl=a.php\nfn=f\n4 310\n\npart: 2\nevents: Time\nsummary: 7\n\nfn=g\n5 7\n\n",
        "creator: xdebug 3.2.0\nevents: Time\nfl=a.php\nfn=f\n4 310\n\n\
         # cut off here: it lacks the `summary:` line that Xdebug writes at the end\ntotals: 310\n\
         part: 2\nevents: Time\nsummary: 7\n\nfn=g\n5 7\n\n",
        &[K::EventsTakenOver, K::CutOff],
    );
}

#[test]
fn calls_are_completed() {
    check(
        "events: Ir\nfn=a\ncfn=b\ncalls=1 0 0\n1 7\ncalls=-2\n# note\n\n2 8\n",
        "events: Ir\nfn=a\ncfn=b\ncalls=1 0\n1 7\ncfn=b\n# note\n\ncalls=0 -1\n+1 8\n",
        &[K::Target, K::CallWithoutCallee, K::NegativeCount],
    );
    // The callee's object must not go over to the next call.
    check(
        "events: Ir\nfn=a\ncob=o\ncfn=b\ncalls=1 5\ncfn=c\ncalls=1 6\n1 7\ncfn=d\n",
        "events: Ir\nfn=a\n# cob=o\n# cfn=b\n# calls=1 5\ncfn=c\ncalls=1 6\n1 7\n# cfn=d\n",
        &[K::CallWithoutCost, K::CalleeWithoutCall],
    );
    // `fn=` forgets callee lines before it.
    check(
        "events: Ir\nfn=a\n1 3\ncob=o\ncfi=b.c\nfn=k\ncfn=g\ncalls=1 1\n1 5\nfn=g\n1 5\n",
        "events: Ir\nfn=a\n1 3\n# cob=o\n# cfi=b.c\nfn=k\ncfn=g\ncalls=1 1\n1 5\nfn=g\n1 5\n",
        &[K::CalleeWithoutCall],
    );
    check(
        "events: Ir\nfn=a\n3 1\ncalls=1 +5\n+1 7\n",
        "events: Ir\nfn=a\n3 1\n# calls=1 8\n# 4 7\n",
        &[K::CallWithoutCallee],
    );
}

#[test]
fn undamaged_jumps_stay() {
    for body in [
        "fl=(1) a\nfn=(1) x\n3 1\njfi=(1)\njcnd=2/3 +5 \n4 \njump=7 9 \n5 2\n",
        "fl=(1) a\nfn=(1) x\njfi=(2) b\njfn=(3) z\njump=1 5 \n4 \nfi=(2)\n6 2\n",
        "fn=x\n3 1\njcnd=3 2 +5\n+1\ncfn=y\ncalls=1 7 \n5 2\n",
    ] {
        let file = format!("cmd:  ./a b\nevents: Ir\n{body}");
        check(&file, &file, &[]);
    }
}

#[test]
fn jumps_of_damaged_files_have_the_published_form() {
    check(
        "events: Ir\nfl=(1) a\nfn=(1) x\n3 -1\njfi=(1)\njcnd=2/3 +5\n4\njump=7 9\n5 2\n",
        "events: Ir\nfl=(1) a\nfn=(1) x\n3 0\njcnd=3 2 +5\n+1\njump=7 +5\n+1 2\n",
        &[K::NegativeCost, K::JumpName, K::JumpForm],
    );
    // A name that was first said for a jump is said again.
    check(
        "events: Ir\nfl=(1) a\nfn=(1) x\n3 -1\njfi=(2) b\njfn=(3) z\njump=1 5\n4\nfi=(2)\n6 2\n",
        "events: Ir\nfl=(1) a\nfn=(1) x\n3 0\n# jfi=b\n# jfn=z\n# jump=1 5\n# 4\nfi=(2) b\n+3 2\n",
        &[K::NegativeCost, K::JumpName, K::JumpAway],
    );
    check(
        "events: Ir\nfl=a\nfn=x\n3 -1\njump=1 5\njfi=b\njump=2 6\n7\n8\n",
        "events: Ir\nfl=a\nfn=x\n3 0\njump=1 +2\n# jfi=b\n# jfn=x\n# jump=2 6\n# 7\n+5 0\n",
        &[K::NegativeCost, K::JumpName, K::JumpAway],
    );
    // Without its cost the last line would be where the jump starts.
    check("events: Ir\nfn=x\njump=1 5\nrec=1\n4\n", "events: Ir\nfn=x\njump=1 5\n# rec=1\n4 0\n", &[K::Body]);
}

#[test]
fn published_jumps_mean_the_same() {
    let jumps = |file: &[u8]| -> Vec<String> {
        Reader::new(file)
            .filter_map(|record| match record.unwrap().line {
                Line::Jump(jump) => Some(format!("{jump:?}")),
                Line::Cost(line) => Some(format!("{line:?}")),
                _ => None,
            })
            .collect()
    };
    let file = format!(
        "{TOP}positions: instr line\nevents: Ir\nfn=x\n0x9 3 1\njcnd=2/3 0x5 8\n+2 *\njump=1 0x7 1\n0x9 7\n"
    );
    let plain = Rewrite { names: NameStyle::Plain, ..Rewrite::default() };
    let (output, _) = repaired(file.as_bytes(), &plain);
    assert_eq!(jumps(output.as_bytes()), jumps(file.as_bytes()));
}

#[test]
fn name_numbers_have_one_meaning() {
    check(
        "events: Ir\nfn=(1) a\n1 1\nfn=(7)\n1 2\nfn=(8)\n1 3\nfn=(1) b\n1 4\nfn=(1)\n1 5\nfn=(2 c\n1 6\n",
        "events: Ir\nfn=(1) a\n1 1\nfn=(7) ??? (7)\n1 2\nfn=(8) ??? (8)\n1 3\nfn=(9) b\n1 4\nfn=(9)\n1 5\nfn=(10) (2 c\n1 6\n",
        &[K::UndefinedName, K::NameNumber],
    );
    check(
        "events: Ir\nfn=(1) a\nfn=(2) b\nfn=(3) (1)'2'(2)\nfn=(3)\n",
        "events: Ir\nfn=(1) a\nfn=(2) b\nfn=(3) a'2'b\nfn=(3)\n",
        &[K::ComposedName],
    );
}

#[test]
fn options_hold() {
    let file = format!(
        "{TOP}positions: instr line\nevents: Ir\n# note\nob=(1) /usr/bin/x\nfl=(1) /src/a.c\nfn=(1) (1x) m\n0x10 16 5\n\
         jump=1 0x20 7\n0x10 16\nfn=(2) n\n0x10 17 -5\nrec=1\n"
    );
    let options = Rewrite {
        explicit_files: false,
        names: NameStyle::Plain,
        positions: PositionStyle::Absolute,
        drop_jumps: true,
        drop_instr: true,
        drop_comments: true,
        strip_prefix: vec![b"/src".to_vec(), b"/usr/".to_vec()],
    };
    let (output, kinds) = repaired(file.as_bytes(), &options);
    assert_eq!(
        output,
        format!("{TOP}positions: line\nevents: Ir\nob=bin/x\nfl=a.c\nfn=(1) (1x) m\n16 5\nfn=n\n17 0\n")
    );
    assert_eq!(kinds, [K::NegativeCost, K::Body]);
}

#[test]
fn a_failing_sink_is_an_error() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = repair(b"events: Ir\n", &Rewrite::default(), Full).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn references_to_nothing_are_named_once() {
    for (file, name) in [
        (&b"events: I\nfn=(462)7\nfn=(462)(462)\n1 1\n"[..], &b"fn=(463) ??? (462)\n"[..]),
        (b"events: I\nfn=(1) a\nfn=(2) (1)'(9)\n1 1\n", b"fn=(2) a'??? (9)\n"),
        (b"events: I\nfn=(1) a\nfn=(2) (1)'2\nfn=(3) (2)'(1)\n1 1\n", b"fn=(3) a'2'a\n"),
    ] {
        let once = repair(file, &Rewrite::default(), Vec::new()).unwrap().sink;
        assert!(memchr::memmem::find(&once, name).is_some(), "{}", once.escape_ascii());
        let again = repair(&once, &Rewrite::default(), Vec::new()).unwrap();
        assert_eq!(again.sink, once);
    }
}

#[test]
fn long_names_are_written_as_short_ones_are() {
    let file = |path: &str| {
        format!(
            "version: 1\nevents: Ir\nfl=(1) a.c\nfn=(1) f\nfi=(2) {path}\n1 1\nfe=(1)\n1 1\nfi=(2)\n2 1\n\
             fi=(2) other\n3 1\nfi=(2) {path}\n4 1\nfi=(2)\n5 1\nfi=(3) {path}\n6 1\nfi=(2)\n7 1\n"
        )
    };
    let long = "p".repeat(1000);
    for names in [NameStyle::AsGiven, NameStyle::Compressed, NameStyle::Plain] {
        let options = Rewrite { names, ..Rewrite::default() };
        let [of_long, of_short] =
            [&long[..], "short"].map(|path| repaired(file(path).as_bytes(), &options).0);
        assert_eq!(of_long.replace(&long, "short"), of_short, "{names:?}");
        let written = |path: &str| {
            options.run(file(path).as_bytes(), Vec::new()).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(written(&long).map(|text| text.replace(&long, "short")).ok(), written("short").ok());
    }
}
