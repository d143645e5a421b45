use super::*;
use crate::Reader;
use crate::record::Jump;

fn written(records: &[Record<'_>], names: NameStyle, positions: PositionStyle) -> String {
    let mut writer = Writer::new(Vec::new()).names(names).positions(positions);
    for record in records {
        writer.write(record).unwrap_or_else(|error| panic!("{record:?}: {error}"));
    }
    writer.finish().unwrap().escape_ascii().to_string().replace("\\n", "\n")
}

fn events() -> Record<'static> {
    Record::new(Line::Header(Header::Events(Words::new(&[b"Ir"]))))
}

fn name(key: NameKey, name: Name<'_>) -> Record<'_> {
    Record::new(Line::Name(key, name))
}

fn ended(record: Record<'static>, line_end: LineEnd) -> Record<'static> {
    Record { spelling: Spelling::with_line_end(line_end), ..record }
}

#[test]
fn what_is_refused_leaves_no_trace() {
    let function = |text| Line::Name(NameKey::Fn, Name::plain(text));
    let header = Line::Header;
    let own = |positions: &[u64], costs| {
        Line::Cost(CostLine { role: CostRole::SelfCost, positions: Positions::new(positions), costs })
    };
    let unreadable = ErrorKind::UnreadableText;
    let too_many = [&b"line"[..]; MAX_COLUMNS + 1];
    let cases = [
        (function(b"a\nb"), ErrorKind::LineEndInText),
        (function(b"a\r"), ErrorKind::LineEndInText),
        (function(b" a"), unreadable),
        (function(b"(1) a"), unreadable),
        (Line::Name(NameKey::Fn, Name { id: None, text: None, defines: false }), unreadable),
        (Line::Comment(b"a\nb"), ErrorKind::LineEndInText),
        (Line::NewProfile(b"x"), unreadable),
        (Line::UnknownBody { key: b"fn", value: b"x" }, unreadable),
        (Line::UnknownBody { key: b"Calls", value: b"x" }, unreadable),
        (Line::UnknownBody { key: b"a b", value: b"x" }, unreadable),
        (header(Header::Other { key: b"events", value: b"x" }), unreadable),
        (header(Header::Other { key: b"", value: b"x" }), unreadable),
        (header(Header::Command(b"\tx")), unreadable),
        (header(Header::Events(Words::new(&[]))), ErrorKind::BadHeader),
        (header(Header::Events(Words::new(&[b"a b"]))), unreadable),
        (header(Header::Positions(Words::new(&too_many))), ErrorKind::TooManyPositions),
        (header(Header::Description { kind: b"a:", value: b"b" }), unreadable),
        (header(Header::Totals(Costs::new(&[1 << 64]))), ErrorKind::CostTooLarge),
        (own(&[1], Costs::new(&[1, 2])), ErrorKind::TooManyCosts),
        (own(&[1], Costs::new(&[-1 << 64])), ErrorKind::CostTooLarge),
        (own(&[1, 2], Costs::new(&[])), ErrorKind::MissingPosition),
        (Line::Calls(Calls { count: 1, target: Positions::new(&[1]) }), ErrorKind::CallWithoutCallee),
        (
            Line::Jump(Jump { taken: 1, executed: None, target: Positions::new(&[]) }),
            ErrorKind::MissingPosition,
        ),
    ];
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.events(&["Ir"]).unwrap();
    for (line, expected) in cases {
        let error = writer.write(&Record::new(line)).expect_err("a refusal");
        assert_eq!((error.kind(), error.location().line), (expected, 2), "{line:?}");
    }
    writer.function(b"f").unwrap();
    writer.cost(&[1], &[2]).unwrap();
    writer.finish().unwrap();
    assert_eq!(out.escape_ascii().to_string(), "events: Ir\\nfn=f\\n1 2\\n");
}

#[test]
fn costs_stand_where_they_are_expected() {
    let mut writer = Writer::new(Vec::new());
    assert_eq!(writer.cost(&[1], &[]).unwrap_err().kind(), ErrorKind::CostBeforeEvents);
    writer.events(&["Ir"]).unwrap();
    writer.line(Line::Name(NameKey::Cfn, Name::plain(b"g"))).unwrap();
    writer.line(Line::Calls(Calls { count: 1, target: Positions::new(&[1]) })).unwrap();
    assert_eq!(writer.cost(&[1], &[2]).unwrap_err().kind(), ErrorKind::Misplaced);
    assert_eq!(writer.function(b"f").unwrap_err().kind(), ErrorKind::CallWithoutCost);
    writer.cost_line(CostRole::Call, &[1], &[2]).unwrap();
    writer.cost(&[1], &[2]).unwrap();
    writer.line(Line::Name(NameKey::Cfn, Name::plain(b"g"))).unwrap();
    writer.line(Line::Calls(Calls { count: 1, target: Positions::new(&[1]) })).unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::CallWithoutCost);
}

#[test]
fn no_number_gets_two_meanings_in_one_part() {
    let records = [
        events(),
        name(NameKey::Fn, Name::define(u64::MAX, b"a")),
        name(NameKey::Fn, Name::define(u64::MAX, b"b")),
        name(NameKey::Fn, Name::plain(b"c")),
        name(NameKey::Fn, Name::define(7, b"d")),
        name(NameKey::Fn, Name::plain(b"a")),
        name(NameKey::Fn, Name::plain(b"b")),
    ];
    assert_eq!(
        written(&records, NameStyle::Compressed, PositionStyle::AsGiven),
        "events: Ir\nfn=(18446744073709551615) a\nfn=(1) b\nfn=(2) c\nfn=(7) d\nfn=(18446744073709551615)\nfn=(1)\n"
    );
}

#[test]
fn names_that_look_numbered_get_a_number_in_plain_style() {
    let records =
        [events(), name(NameKey::Fl, Name::define(4, b"a.c")), name(NameKey::Fn, Name::define(9, b"(1) x"))];
    assert_eq!(
        written(&records, NameStyle::Plain, PositionStyle::AsGiven),
        "events: Ir\nfl=a.c\nfn=(9) (1) x\n"
    );
}

#[test]
fn empty_names_need_no_number() {
    let part = Record::new(Line::Header(Header::Part(2)));
    let empty = name(NameKey::Fl, Name::plain(b""));
    assert_eq!(
        written(&[events(), empty, part, events(), empty], NameStyle::Compressed, PositionStyle::AsGiven),
        "events: Ir\nfl=\npart: 2\nevents: Ir\nfl=\n"
    );
}

#[test]
fn a_file_has_one_kind_of_line_end() {
    let blank = Record::new(Line::Blank);
    let file = |line_ends: &[LineEnd]| {
        let lines = [events(), blank, blank, blank];
        let records: Vec<Record<'_>> =
            lines.iter().zip(line_ends).map(|(line, line_end)| ended(*line, *line_end)).collect();
        let mut writer = Writer::new(Vec::new());
        records.iter().for_each(|record| writer.write(record).unwrap());
        String::from_utf8(writer.finish().unwrap()).unwrap()
    };
    use LineEnd::{Cr, CrLf, Lf, Missing};
    assert_eq!(file(&[Lf, CrLf, Lf]), "events: Ir\n\r\n\n");
    assert_eq!(file(&[Cr, Lf, CrLf]), "events: Ir\r\r\r");
    assert_eq!(file(&[Missing, Lf]), "events: Ir\n\n");
    assert_eq!(file(&[Cr, Missing]), "events: Ir\r\r", "an empty line consists of its end");
    assert_eq!(file(&[Lf, Cr]), "events: Ir\n\r");
    assert_eq!(file(&[Lf, Cr, Lf]), "events: Ir\n\r\n\n", "half of a line end is made whole");
}

#[test]
fn carriage_returns_inside_a_line_need_a_line_feed() {
    let comment = |line_end| ended(Record::new(Line::Comment(b"a\rb")), line_end);
    let write = |record: &Record<'_>| Writer::new(Vec::new()).write(record).map_err(|error| error.kind());
    assert_eq!(write(&comment(LineEnd::Lf)), Ok(()));
    assert_eq!(write(&comment(LineEnd::Cr)), Err(ErrorKind::LineEndInText));
    assert_eq!(write(&comment(LineEnd::Missing)), Err(ErrorKind::LineEndInText));
}

#[test]
fn what_begins_with_an_unknown_word_needs_event_types() {
    let unknown = Record::new(Line::UnknownBody { key: b"frob", value: b"1" });
    let mut writer = Writer::new(Vec::new());
    writer.write(&unknown).unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::NotAProfile(Foreign::Text));
    assert_eq!(
        written(&[unknown, events()], NameStyle::AsGiven, PositionStyle::AsGiven),
        "frob=1\nevents: Ir\n"
    );
}

/// As Callgrind does: from 1 on, less than 100 away, and again at each function.
#[test]
fn positions_are_relative_where_callgrind_has_them_so() {
    let mut writer = Writer::new(Vec::new()).positions(PositionStyle::Compressed);
    writer.header("creator", b"callgrind-3.19.0").unwrap();
    writer.position_columns(&[PositionKind::Instr, PositionKind::Line]).unwrap();
    writer.events(&["Ir"]).unwrap();
    writer.function(b"f").unwrap();
    for (address, line) in [(0x1000, 10), (0x1063, 110), (0x10c7, 0), (0x10c7, 1)] {
        writer.cost(&[address, line], &[1]).unwrap();
    }
    writer.call(b"g", 2, &[0x10c8, 3], &[0x10d0, 2], &[5]).unwrap();
    writer.cost(&[0x10d0, 2], &[1]).unwrap();
    writer.function(b"g").unwrap();
    writer.cost(&[0x10d0, 2], &[1]).unwrap();
    let file = String::from_utf8(writer.finish().unwrap()).unwrap();
    let body = &file[file.find("fn=f").unwrap()..];
    assert_eq!(
        body,
        "fn=f\n0x1000 10 1\n+99 110 1\n0x10c7 0 1\n* 1 1\ncfn=g\ncalls=2 +1 +2 \n+9 +1 5\n+9 +1 1\n\
         fn=g\n0x10d0 2 1\n"
    );
}

/// The names of a file in their order, in full.
fn names_of(file: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = Reader::new(file);
    let mut names = Vec::new();
    while let Some(record) = reader.next() {
        // A name that got another meaning in its part is a warning before its line.
        if let Ok(Record { line: Line::Name(key, name), .. }) = record {
            names.push(reader.expand(key.space(), &name).unwrap_or_else(|| name.text.unwrap().to_vec()));
        }
    }
    names
}

/// A path that many parts mention is written once.
#[test]
fn long_name_of_many_parts_is_defined_once() {
    let path = "p".repeat(300);
    let mut names = RecurringNames::default();
    let mut writer = Writer::new(Vec::new()).names(NameStyle::Compressed);
    for part in 1..=3 {
        writer.write(&Record::new(Line::Header(Header::Part(part)))).unwrap();
        writer.write(&events()).unwrap();
        writer.recurring_name(NameKey::Fl, Name::plain(path.as_bytes()), &mut names).unwrap();
        writer.cost(&[1], &[1]).unwrap();
    }
    let body = String::from_utf8(writer.finish().unwrap()).unwrap();
    assert_eq!(
        body,
        format!(
            "part: 1\nevents: Ir\nfl=(1) {path}\n1 1\npart: 2\nevents: Ir\nfl=(1)\n1 1\n\
             part: 3\nevents: Ir\nfl=(1)\n1 1\n"
        )
    );
}

/// Long names that recur are written as `write` would write them: in each style, with ids of the caller, and after their id got
/// another meaning. Only in other parts they can be references where `write` defines a name again: these mean the same name.
#[test]
fn recurring_names_are_written_like_others() {
    let long = |letter: &str| letter.repeat(300);
    let texts = [long("a"), long("b"), long("a"), "short".to_owned(), long("(1) x")];
    let part = Record::new(Line::Header(Header::Part(2)));
    let profile = Record::new(Line::NewProfile(NEW_PROFILE));
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..600 {
        let style = [NameStyle::AsGiven, NameStyle::Compressed, NameStyle::Plain][round % 3];
        let has_parts = round % 2 == 0;
        let [mut plain, mut recurring] = [(); 2].map(|()| Writer::new(Vec::new()).names(style));
        let mut names = RecurringNames::default();
        plain.write(&events()).unwrap();
        recurring.write(&events()).unwrap();
        for _ in 0..30 {
            let text = texts[usize::try_from(random(5)).unwrap()].as_bytes();
            let key =
                [NameKey::Fl, NameKey::Fi, NameKey::Fn, NameKey::Cfn][usize::try_from(random(4)).unwrap()];
            let name = match random(8) {
                0 => Name::define(random(3), text),
                1 => Name::refer(random(3), text),
                2 if has_parts => {
                    let record = [&part, &profile][usize::try_from(random(2)).unwrap()];
                    assert_eq!(plain.write(record).is_ok(), recurring.write(record).is_ok());
                    assert_eq!(plain.write(&events()).is_ok(), recurring.write(&events()).is_ok());
                    continue;
                }
                _ => Name::plain(text),
            };
            let written = plain.write(&Record::new(Line::Name(key, name))).map_err(|error| error.kind());
            let recurs = recurring.recurring_name(key, name, &mut names).map_err(|error| error.kind());
            assert_eq!(written, recurs, "round {round}");
        }
        let [plain, recurring] = [plain, recurring].map(|writer| writer.finish().unwrap());
        if has_parts {
            assert!(recurring.len() <= plain.len(), "round {round}");
            assert_eq!(names_of(&plain), names_of(&recurring), "round {round}");
        } else {
            assert!(plain == recurring, "round {round}");
        }
    }
}
