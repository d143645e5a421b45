//! A record that the writer accepts reads back equal, and one that it refuses leaves no trace.

// Without this, clippy takes what is not marked as a test for code that may not panic.
#![cfg(test)]

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use gristmill_format::{
    CostRole, ErrorKind, Header, Line, LineEnd, Name, NameStyle, PositionStyle, Reader, Record, Rewrite,
    Spelling, Writer,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

#[path = "support/generate.rs"]
mod generate;
#[path = "support/made.rs"]
mod made;
#[path = "support/model.rs"]
mod model;

use generate::{Composer, any_record, header, profile, statement};
use made::{Bytes, Made};
use model::Model;

const STYLES: [(NameStyle, PositionStyle); 9] = [
    (NameStyle::AsGiven, PositionStyle::AsGiven),
    (NameStyle::AsGiven, PositionStyle::Compressed),
    (NameStyle::AsGiven, PositionStyle::Absolute),
    (NameStyle::Compressed, PositionStyle::AsGiven),
    (NameStyle::Compressed, PositionStyle::Compressed),
    (NameStyle::Compressed, PositionStyle::Absolute),
    (NameStyle::Plain, PositionStyle::AsGiven),
    (NameStyle::Plain, PositionStyle::Compressed),
    (NameStyle::Plain, PositionStyle::Absolute),
];

/// A sink that the test can read while the writer owns it.
#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Bytes>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn names_of<'a>(reader: &Reader<'a>, role: CostRole) -> Vec<Option<Name<'a>>> {
    let context = reader.context();
    let mut names = vec![context.object(), context.file(), context.function(), context.from()];
    match role {
        CostRole::SelfCost => {}
        CostRole::Call => {
            names.extend([context.callee_object(), context.callee_file(), context.callee()]);
        }
        CostRole::JumpSource => names.extend([context.jump_file(), context.jump_function()]),
    }
    names
}

/// Without the number, which other styles choose again.
fn text_only(name: Name<'_>) -> Name<'_> {
    Name { id: None, defines: false, ..name }
}

/// The part of a record that must read back.
fn kept<'a>(line: Line<'a>, names: NameStyle) -> Line<'a> {
    match line {
        Line::Name(key, name) if names != NameStyle::AsGiven => Line::Name(key, text_only(name)),
        line => line,
    }
}

/// A fault that the reader finds with what it was given to read, and that changes nothing of it.
fn is_harmless(kind: ErrorKind, names: NameStyle) -> bool {
    match kind {
        // A name that was given without a text reads back without one.
        ErrorKind::UndefinedName(..) => true,
        // A number may be given another meaning; in other styles than this it is given another number instead.
        ErrorKind::RedefinedName(..) => names == NameStyle::AsGiven,
        // It was in the spelling that was given.
        ErrorKind::LeadingBlank => true,
        // The order of the body is the caller's.
        ErrorKind::CostWithoutFunction => true,
        // Any word may stand for a kind of position.
        ErrorKind::UnknownPosition => true,
        _ => false,
    }
}

/// Writes the records and reads them again. Gives back how many were taken, and what was written.
fn check(
    records: &[(Made, Spelling<'_>)],
    (names, positions): (NameStyle, PositionStyle),
) -> Result<(usize, Bytes), TestCaseError> {
    let sink = Sink::default();
    let mut writer = Writer::new(sink.clone()).names(names).positions(positions);
    let mut taken = Vec::new();
    for (made, spelling) in records {
        let before = sink.0.borrow().len();
        match made.with_line(|line| writer.write(&Record { spelling: *spelling, ..Record::new(line) })) {
            Ok(()) => taken.push(made),
            Err(_) => prop_assert_eq!(sink.0.borrow().len(), before, "something was written of {:?}", made),
        }
    }
    let finished = writer.finish();
    let file = sink.0.take();
    let mut reader = Reader::new(&file);
    let mut model = Model::default();
    let mut expected = taken.iter();
    while let Some(item) = reader.next() {
        let shown = file.escape_ascii();
        let record = match item {
            Ok(record) => record,
            Err(error) => {
                let kind = error.kind();
                let is_unfinished =
                    kind == ErrorKind::CallWithoutCost || matches!(kind, ErrorKind::NotAProfile(_));
                prop_assert!(
                    is_harmless(kind, names) || is_unfinished && finished.is_err(),
                    "{} in {}",
                    error,
                    shown
                );
                if matches!(kind, ErrorKind::NotAProfile(_)) {
                    return Ok((taken.len(), file));
                }
                continue;
            }
        };
        let Some(made) = expected.next() else {
            return Err(TestCaseError::fail(format!("{record:?} was never written: {shown}")));
        };
        model.line(made);
        made.with_line(|line| {
            prop_assert_eq!(kept(record.line, names), kept(line, names), "in {}", shown);
            Ok(())
        })?;
        prop_assert_eq!(record.part, model.part, "part of {:?} in {}", made, shown);
        prop_assert_eq!(reader.part(), model.part);
        if let Line::Cost(line) = record.line {
            let (mut found, mut wanted) = (names_of(&reader, line.role), model.names(line.role));
            if names != NameStyle::AsGiven {
                for name in found.iter_mut().chain(&mut wanted) {
                    *name = name.map(text_only);
                }
            }
            prop_assert_eq!(found, wanted, "names at {:?} in {}", made, shown);
        }
    }
    prop_assert_eq!(expected.next(), None, "was lost: {}", file.escape_ascii());
    Ok((taken.len(), file))
}

/// The same line end throughout, except for the last line.
fn line_ends() -> impl Strategy<Value = (LineEnd, bool)> {
    (select(vec![LineEnd::Lf, LineEnd::CrLf, LineEnd::Cr]), any::<bool>())
}

/// All of it is taken, in every style, and is read again as it was.
fn check_profile(profile: &[Made], (line_end, is_ended): (LineEnd, bool)) -> TestCaseResult {
    let last = profile.len() - 1;
    let records: Vec<(Made, Spelling<'_>)> = profile
        .iter()
        .enumerate()
        .map(|(index, made)| {
            let line_end = if index == last && !is_ended { LineEnd::Missing } else { line_end };
            (made.clone(), Spelling::with_line_end(line_end))
        })
        .collect();
    for style in STYLES {
        let (taken, file) = check(&records, style)?;
        prop_assert_eq!(taken, records.len(), "{:?} refused a record: {}", style, file.escape_ascii());
    }
    Ok(())
}

/// Lines spelled in every odd way that a reader takes, to lend their spelling to other lines.
const TEMPLATES: &[u8] = b"events: \tIr  Dr\t \n\
    \tversion:1\n\
    creator :\t x \n\
    desc: a b : c\n\
    desc: none\n\
    desc:: x\n\
    event: Ir\n\
    event: Ir long name\n\
    event:Ir=Dr:name\n\
    EVENT: Ir = Dr  :  name \n\
    pid: 0x00fF \n\
    part:\t007\n\
    positions: instr  line \n\
    summary:1\t0x2 . -3 \n\
    total: 7\n\
    totals=  8\n\
    timeframe :\t1\n\
    fn=f\n\
    0x0010 5 1\n\
    0X1F\t+3  0x7 .\n\
    *\t* -1\n\
    +0 -0x2\n\
    12:15 3+4 1\n\
    * *-9 007 \n\
    -0x1-2 +0:5\n\
    5 5 1.5\n\
    ob = (0x01)  name\n\
    cob=(1)\t\n\
    fl=(2)\n\
    fi=(0003)x\n\
    FE=  plain\n\
    fe=(4) \n\
    cfn=f \n\
    calls=0x1 +0 *\n\
    5 5\n\
    cfn=g\n\
    rcalls= 3\n\
    6 6  1\n\
    cfn=h\n\
    calls=1 -1 2 3\t\n\
    \x20 7 7\n\
    jump=1 0x5 *\n\
    1 1\n\
    jump=  . +1 7\n\
    jcnd=0x1/002 5 5 \n\
    *  *\t\n\
    jcnd=10 4 20 1\n\
    3 3 \n\
    bb=0x10 1  2 \n\
    ln=\t007\n\
    frob = x\n\
    # comment\n\
    \x20 # comment\n\
    ==== NEW PROFILING FILE ====\n\
    \x20 \t\n\
    \n\
    fn=x\r\n\
    \x20 fn=y\r\n\
    events:z";

fn templates() -> Vec<Spelling<'static>> {
    let read = Reader::new(TEMPLATES).filter_map(|item| item.ok().map(|record| record.spelling));
    let ends = [LineEnd::Lf, LineEnd::CrLf, LineEnd::Cr, LineEnd::Missing].map(Spelling::with_line_end);
    read.chain(ends).collect()
}

/// Records in any order, some of them between those of a profile, spelled like any others.
fn anything() -> impl Strategy<Value = Vec<(Made, Option<usize>)>> {
    let stretch = prop_oneof![
        3 => vec(any_record(), 1..4),
        2 => profile(),
        2 => vec(statement(), 1..4).prop_map(Composer::compose),
        1 => header().prop_map(|header| Composer::compose(vec![header])),
    ];
    let spelling = option::of(0..templates().len());
    (vec(stretch, 0..8), vec(spelling, 0..30)).prop_map(|(stretches, spellings)| {
        let spellings = spellings.into_iter().chain(std::iter::repeat(None));
        stretches.into_iter().flatten().zip(spellings).collect()
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn profiles_read_back_as_they_were_written(profile in profile(), line_ends in line_ends()) {
        check_profile(&profile, line_ends)?;
    }

    #[test]
    fn what_would_not_read_back_is_refused(records in anything(), style in select(STYLES.to_vec())) {
        let templates = templates();
        let records: Vec<(Made, Spelling<'_>)> = records
            .into_iter()
            .map(|(made, template)| (made, template.map_or(Spelling::default(), |index| templates[index])))
            .collect();
        check(&records, style)?;
    }

    #[test]
    fn lines_come_out_as_they_went_in(lines in vec(0..template_lines().count(), 0..20), is_ended in any::<bool>()) {
        let mut file = b"events: A B C\n".to_vec();
        for index in lines {
            file.extend(template_lines().nth(index).into_iter().flatten());
        }
        if !is_ended {
            file.pop();
        }
        match Rewrite::default().run(&file, Vec::new()) {
            Ok(written) => {
                prop_assert_eq!(written.escape_ascii().to_string(), file.escape_ascii().to_string());
            }
            Err(error) => {
                prop_assert!(has_faults(&file), "{} in {}", error, file.escape_ascii());
            }
        }
    }
}

fn template_lines() -> impl Iterator<Item = &'static [u8]> {
    TEMPLATES.split_inclusive(|&byte| byte == b'\n')
}

fn has_faults(file: &[u8]) -> bool {
    // The template without a line end may swallow what follows, and then be a header of its own.
    let mut event_types = 3;
    Reader::new(file).any(|item| match item.map(|record| record.line) {
        Ok(Line::Cost(line)) => line.costs.decode(&mut vec![0; event_types]).is_err(),
        Ok(Line::Header(Header::Events(names))) => {
            event_types = names.iter().count();
            false
        }
        Ok(_) => false,
        Err(_) => true,
    })
}
