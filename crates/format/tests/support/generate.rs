//! Profiles and records out of thin air.

use std::collections::HashMap;

use gristmill_format::{Cost, CostRole, NameKey, NameSpace, NumbersKey};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::made::{Bytes, Made, MadeName};

/// A name and its spelling, before the meanings of the ids are known.
#[derive(Debug, Clone)]
pub(crate) struct NameUse {
    text: Bytes,
    id: Option<u64>,
    /// The number is used for what it means already, if it means anything.
    refers: bool,
}

/// A few lines that belong together.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    Header(Vec<Made>),
    Name(NameKey, NameUse),
    Own([u64; 4], Vec<Cost>),
    Call {
        object: Option<NameUse>,
        file: Option<(NameKey, NameUse)>,
        callee: NameUse,
        count: Cost,
        target: Vec<u64>,
        between: Vec<Made>,
        positions: [u64; 4],
        costs: Vec<Cost>,
    },
    Jump {
        file: Option<NameUse>,
        function: Option<NameUse>,
        taken: Cost,
        executed: Option<Cost>,
        target: Vec<u64>,
        source: Option<[u64; 4]>,
    },
    Alone(Made),
}

/// Gives statements the columns, event types and meanings of numbers that hold where they stand.
#[derive(Default)]
pub(crate) struct Composer {
    columns: usize,
    event_types: usize,
    meanings: HashMap<(NameSpace, u64), Bytes>,
    made: Vec<Made>,
}

impl Composer {
    pub(crate) fn compose(statements: Vec<Statement>) -> Vec<Made> {
        let mut composer = Composer { columns: 1, ..Composer::default() };
        for statement in statements {
            composer.statement(statement);
        }
        composer.made
    }

    fn statement(&mut self, statement: Statement) {
        match statement {
            Statement::Header(lines) => {
                for line in lines {
                    match &line {
                        Made::Positions(words) => self.columns = words.len(),
                        Made::Events(words) => self.event_types = words.len(),
                        _ => {}
                    }
                    self.made.push(line);
                }
            }
            Statement::Name(key, name) => self.name(key, name),
            Statement::Own(positions, costs) => self.cost_line(CostRole::SelfCost, positions, costs),
            Statement::Call { object, file, callee, count, target, between, positions, costs } => {
                if let Some(object) = object {
                    self.name(NameKey::Cob, object);
                }
                if let Some((key, file)) = file {
                    self.name(key, file);
                }
                self.name(NameKey::Cfn, callee);
                self.made.push(Made::Calls(count, target));
                self.made.extend(between);
                self.cost_line(CostRole::Call, positions, costs);
            }
            Statement::Jump { file, function, taken, executed, target, source } => {
                if let Some(file) = file {
                    self.name(NameKey::Jfi, file);
                }
                if let Some(function) = function {
                    self.name(NameKey::Jfn, function);
                }
                self.made.push(Made::Jump { taken, executed, target });
                match source {
                    Some(positions) => self.cost_line(CostRole::JumpSource, positions, Vec::new()),
                    // The published grammar has no second line; this one shows that there is none.
                    None => self.made.push(Made::Numbers(NumbersKey::Ln, vec![1])),
                }
            }
            Statement::Alone(made) => {
                if matches!(made, Made::NewProfile(_)) {
                    self.meanings.clear();
                    self.made.push(made);
                    self.made.push(Made::Events(vec![b"Ir".to_vec()]));
                    self.event_types = 1;
                } else {
                    self.made.push(made);
                }
            }
        }
    }

    fn name(&mut self, key: NameKey, NameUse { text, id, refers }: NameUse) {
        let Some(id) = id else {
            self.made.push(Made::Name(key, MadeName { id: None, text: Some(text), defines: false }));
            return;
        };
        let place = (key.space(), id);
        let (text, defines) = match self.meanings.get(&place) {
            Some(meaning) if refers => (meaning.clone(), false),
            _ => (text, true),
        };
        self.meanings.insert(place, text.clone());
        self.made.push(Made::Name(key, MadeName { id: Some(id), text: Some(text), defines }));
    }

    fn cost_line(&mut self, role: CostRole, positions: [u64; 4], mut costs: Vec<Cost>) {
        costs.truncate(self.event_types);
        self.made.push(Made::Cost(role, positions[..self.columns].to_vec(), costs));
    }
}

const ODD_NAMES: [&[u8]; 16] = [
    b"main",
    b"f",
    b"f'2",
    b"(below main)",
    b"operator==",
    b"std::map<int, char>::find(int const&) const",
    b"'quoted\"",
    b"a\0b",
    b"\xff\xfe\x80",
    b"a  b\tc ",
    b"fn=(1) x",
    b"key: value",
    b"()",
    b"(-1) x",
    b"#",
    "gr\u{e4}n/\u{6f22}".as_bytes(),
];

/// Names that only a number keeps from being read as something else, or that are nothing.
const NUMBERED_NAMES: [&[u8]; 4] = [b"(1) f", b"(12", b"(0x2)", b"(1)'2'(2)"];

fn name_use() -> impl Strategy<Value = NameUse> {
    let id = select(vec![0, 1, 2, 3, 7, 1023, 1 << 20, u64::MAX]);
    let plain =
        select(ODD_NAMES.to_vec()).prop_map(|text| NameUse { text: text.to_vec(), id: None, refers: false });
    let empty = Just(NameUse { text: Vec::new(), id: None, refers: false });
    let numbered = (select([&ODD_NAMES[..], &NUMBERED_NAMES].concat()), id, any::<bool>())
        .prop_map(|(text, id, refers)| NameUse { text: text.to_vec(), id: Some(id), refers });
    prop_oneof![6 => plain, 1 => empty, 6 => numbered]
}

fn cost() -> impl Strategy<Value = Cost> {
    prop_oneof![
        8 => 0..2000i128,
        1 => select(vec![-1, i128::from(i64::MIN), i128::from(u64::MAX), i128::from(i64::MAX) + 1]),
        1 => i128::from(i64::MIN)..=i128::from(u64::MAX),
    ]
}

fn position() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0..400u64,
        2 => 0x40_0000..0x40_0200u64,
        1 => select(vec![u64::MAX, u64::MAX - 50, 1 << 63, 0]),
        1 => any::<u64>(),
    ]
}

fn positions() -> impl Strategy<Value = [u64; 4]> {
    [position(), position(), position(), position()]
}

fn words(most: usize) -> impl Strategy<Value = Vec<Bytes>> {
    let word =
        select(vec![&b"Ir"[..], b"Dr", b"Time_(10ns)", b"cpu(ms)", b"a=b", b":", b"\xff", b"instr", b"line"]);
    vec(word.prop_map(<[u8]>::to_vec), 1..=most)
}

fn kinds() -> impl Strategy<Value = Vec<Bytes>> {
    let kinds: [&[&[u8]]; 9] = [
        &[b"line"],
        &[b"instr"],
        &[b"instr", b"line"],
        &[b"instr", b"bb", b"line"],
        &[b"bb"],
        &[b"line", b"instr"],
        &[b"addr", b"line"],
        &[b"time"],
        &[b"instr", b"bb", b"line", b"column"],
    ];
    select(kinds.to_vec()).prop_map(|kinds| kinds.iter().map(|kind| kind.to_vec()).collect())
}

fn value() -> impl Strategy<Value = Bytes> {
    let values = vec![
        &b""[..],
        b"1",
        b"./a b\\n",
        b"callgrind-3.19.0",
        b"callgrind-",
        b"x: y",
        b"a\0\xff ",
        b"=",
        b"0.9.6",
    ];
    select(values).prop_map(<[u8]>::to_vec)
}

fn event() -> impl Strategy<Value = Made> {
    let name = select(vec![&b"Ir"[..], b"cpu(ms)", b"A+"]).prop_map(<[u8]>::to_vec);
    let formula = select(vec![&b""[..], b"Ir + Dr", b"10 Ir", b"2*Ir=Dr"]).prop_map(<[u8]>::to_vec);
    let long_name = select(vec![&b""[..], b"Instruction Fetch", b"a : b = c "]).prop_map(<[u8]>::to_vec);
    (name, option::of(formula), option::of(long_name)).prop_map(|(name, formula, long_name)| Made::Event {
        name,
        formula,
        long_name,
    })
}

/// A header of a part, `events:` included.
pub(crate) fn header() -> impl Strategy<Value = Statement> {
    let description =
        (select(vec![&b""[..], b"Trigger", b"I1 cache"]), select(vec![&b""[..], b"x", b"64 B, 2-way"]))
            .prop_map(|(kind, value)| Made::Description(kind.to_vec(), value.to_vec()));
    let line = prop_oneof![
        value().prop_map(Made::Version),
        value().prop_map(Made::Creator),
        Just(Made::Creator(b"callgrind-3.19.0".to_vec())),
        value().prop_map(Made::Command),
        any::<u64>().prop_map(Made::Pid),
        any::<u64>().prop_map(Made::Part),
        any::<u64>().prop_map(Made::Thread),
        description,
        event(),
        Just(Made::Blank),
        vec(cost(), 0..4).prop_map(Made::Summary),
        value().prop_map(|value| Made::OtherHeader(b"timeframe".to_vec(), value)),
    ];
    (vec(line, 0..6), option::of(kinds()), words(3)).prop_map(|(mut lines, kinds, events)| {
        lines.extend(kinds.map(Made::Positions));
        lines.push(Made::Events(events));
        Statement::Header(lines)
    })
}

fn between() -> impl Strategy<Value = Made> {
    prop_oneof![Just(Made::Blank), value().prop_map(Made::Comment)]
}

pub(crate) fn statement() -> impl Strategy<Value = Statement> {
    let key = select(vec![NameKey::Ob, NameKey::Fl, NameKey::Fi, NameKey::Fe, NameKey::Fn, NameKey::Frfn]);
    let numbers_key = select(vec![NumbersKey::Rec, NumbersKey::Bb, NumbersKey::Ln]);
    let callee_file = (select(vec![NameKey::Cfi, NameKey::Cfl]), name_use());
    let call =
        (
            option::of(name_use()),
            option::of(callee_file),
            name_use(),
            cost(),
            vec(position(), 0..=4),
            vec(between(), 0..2),
            positions(),
            vec(cost(), 0..4),
        )
            .prop_map(|(object, file, callee, count, target, between, positions, costs)| {
                Statement::Call { object, file, callee, count, target, between, positions, costs }
            });
    let jump = (
        option::of(name_use()),
        option::of(name_use()),
        cost(),
        option::of(cost()),
        vec(position(), 1..=4),
        option::weighted(0.8, positions()),
    )
        .prop_map(|(file, function, taken, executed, target, source)| Statement::Jump {
            file,
            function,
            taken,
            executed,
            target,
            source,
        });
    prop_oneof![
        2 => header(),
        6 => (key, name_use()).prop_map(|(key, name)| Statement::Name(key, name)),
        8 => (positions(), vec(cost(), 0..4)).prop_map(|(positions, costs)| Statement::Own(positions, costs)),
        5 => call,
        3 => jump,
        1 => between().prop_map(Statement::Alone),
        1 => vec(cost(), 0..4).prop_map(|costs| Statement::Alone(Made::Totals(costs))),
        1 => (numbers_key, vec(cost(), 0..4)).prop_map(|(key, numbers)| Statement::Alone(Made::Numbers(key, numbers))),
        1 => value().prop_map(|value| Statement::Alone(Made::UnknownBody(b"frob".to_vec(), value))),
        1 => value().prop_map(|value| {
            Statement::Alone(Made::NewProfile([b"==== NEW PROFILING FILE ====", value.as_slice()].concat()))
        }),
    ]
}

/// A profile as a program would write it, though an odd one.
pub(crate) fn profile() -> impl Strategy<Value = Vec<Made>> {
    (header(), vec(statement(), 0..25)).prop_map(|(header, mut statements)| {
        statements.insert(0, header);
        Composer::compose(statements)
    })
}

/// Bytes of which many mean something to a reader.
fn garbage() -> impl Strategy<Value = Bytes> {
    let bytes = vec(select(b" \t\n\r\0()'0129x#:=+-*./aF\xff".to_vec()), 0..6);
    let words = select(vec![
        &b"fn"[..],
        b"calls",
        b"Events",
        b"totals",
        b"(1) f",
        b"# x",
        b"==== NEW PROFILING FILE ===",
        b"BZh",
        b"\x1f\x8b",
        b"\xef\xbb\xbf",
    ]);
    prop_oneof![3 => bytes, 1 => value(), 1 => words.prop_map(<[u8]>::to_vec)]
}

fn any_cost() -> impl Strategy<Value = Cost> {
    prop_oneof![4 => cost(), 1 => any::<Cost>()]
}

fn any_name() -> impl Strategy<Value = MadeName> {
    let id = option::of(select(vec![0, 1, 2, 7, u64::MAX]));
    let text = prop_oneof![2 => option::of(garbage()), 1 => name_use().prop_map(|name| Some(name.text))];
    (id, text, any::<bool>()).prop_map(|(id, text, defines)| MadeName { id, text, defines })
}

/// Any record at all.
pub(crate) fn any_record() -> impl Strategy<Value = Made> {
    use NameKey as K;
    let key = select(vec![
        K::Ob,
        K::Cob,
        K::Fl,
        K::Fi,
        K::Fe,
        K::Cfi,
        K::Cfl,
        K::Jfi,
        K::Fn,
        K::Cfn,
        K::Jfn,
        K::Frfn,
    ]);
    let role = select(vec![CostRole::SelfCost, CostRole::Call, CostRole::JumpSource]);
    let header = prop_oneof![
        garbage().prop_map(Made::Version),
        garbage().prop_map(Made::Creator),
        garbage().prop_map(Made::Command),
        any::<u64>().prop_map(Made::Pid),
        any::<u64>().prop_map(Made::Part),
        any::<u64>().prop_map(Made::Thread),
        (garbage(), garbage()).prop_map(|(kind, value)| Made::Description(kind, value)),
        vec(garbage(), 0..6).prop_map(Made::Positions),
        kinds().prop_map(Made::Positions),
        (garbage(), option::of(garbage()), option::of(garbage()))
            .prop_map(|(name, formula, long_name)| Made::Event { name, formula, long_name }),
        event(),
        vec(garbage(), 0..3).prop_map(Made::Events),
        words(3).prop_map(Made::Events),
        vec(any_cost(), 0..3).prop_map(Made::Summary),
        vec(any_cost(), 0..3).prop_map(Made::Totals),
        (garbage(), garbage()).prop_map(|(key, value)| Made::OtherHeader(key, value)),
    ];
    let body = prop_oneof![
        4 => (key, any_name()).prop_map(|(key, name)| Made::Name(key, name)),
        1 => any_name().prop_map(|name| Made::Name(K::Cfn, name)),
        2 => (any_cost(), vec(position(), 0..=4)).prop_map(|(count, target)| Made::Calls(count, target)),
        2 => (any_cost(), option::of(any_cost()), vec(position(), 0..=4))
            .prop_map(|(taken, executed, target)| Made::Jump { taken, executed, target }),
        5 => (role, vec(position(), 0..=4), vec(any_cost(), 0..4))
            .prop_map(|(role, positions, costs)| Made::Cost(role, positions, costs)),
        1 => (select(vec![NumbersKey::Rec, NumbersKey::Bb, NumbersKey::Ln]), vec(any_cost(), 0..3))
            .prop_map(|(key, numbers)| Made::Numbers(key, numbers)),
        1 => (garbage(), garbage()).prop_map(|(key, value)| Made::UnknownBody(key, value)),
    ];
    prop_oneof![
        1 => Just(Made::Blank),
        1 => garbage().prop_map(Made::Comment),
        1 => garbage().prop_map(Made::NewProfile),
        4 => header,
        8 => body,
    ]
}
