//! Records that tests make up: the same as the crate's, but with their own bytes.

use std::fmt;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, EventDefinition, Header, Jump, Line, Name, NameKey, NumbersKey,
    Positions, Words,
};

pub(crate) type Bytes = Vec<u8>;

#[derive(Clone, PartialEq)]
pub(crate) enum Made {
    Blank,
    Comment(Bytes),
    NewProfile(Bytes),
    Version(Bytes),
    Creator(Bytes),
    Command(Bytes),
    Pid(u64),
    Part(u64),
    Thread(u64),
    Description(Bytes, Bytes),
    Positions(Vec<Bytes>),
    Event { name: Bytes, formula: Option<Bytes>, long_name: Option<Bytes> },
    Events(Vec<Bytes>),
    Summary(Vec<Cost>),
    Totals(Vec<Cost>),
    OtherHeader(Bytes, Bytes),
    Name(NameKey, MadeName),
    Calls(Cost, Vec<u64>),
    Jump { taken: Cost, executed: Option<Cost>, target: Vec<u64> },
    Cost(CostRole, Vec<u64>, Vec<Cost>),
    Numbers(NumbersKey, Vec<Cost>),
    UnknownBody(Bytes, Bytes),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MadeName {
    pub(crate) id: Option<u64>,
    pub(crate) text: Option<Bytes>,
    pub(crate) defines: bool,
}

impl MadeName {
    pub(crate) fn name(&self) -> Name<'_> {
        Name { id: self.id, text: self.text.as_deref(), defines: self.defines }
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_line(|line| write!(f, "{line:?}"))
    }
}

impl Made {
    /// Hands out the record's line, which borrows from it.
    pub(crate) fn with_line<R>(&self, take: impl FnOnce(Line<'_>) -> R) -> R {
        let header = Line::Header;
        let words: Vec<&[u8]> = match self {
            Made::Positions(words) | Made::Events(words) => words.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        };
        take(match self {
            Made::Positions(_) => header(Header::Positions(Words::new(&words))),
            Made::Events(_) => header(Header::Events(Words::new(&words))),
            Made::Blank => Line::Blank,
            Made::Comment(text) => Line::Comment(text),
            Made::NewProfile(text) => Line::NewProfile(text),
            Made::Version(text) => header(Header::Version(text)),
            Made::Creator(text) => header(Header::Creator(text)),
            Made::Command(text) => header(Header::Command(text)),
            Made::Pid(number) => header(Header::Pid(*number)),
            Made::Part(number) => header(Header::Part(*number)),
            Made::Thread(number) => header(Header::Thread(*number)),
            Made::Description(kind, value) => header(Header::Description { kind, value }),
            Made::Event { name, formula, long_name } => header(Header::Event(EventDefinition {
                name,
                formula: formula.as_deref(),
                long_name: long_name.as_deref(),
            })),
            Made::Summary(costs) => header(Header::Summary(Costs::new(costs))),
            Made::Totals(costs) => header(Header::Totals(Costs::new(costs))),
            Made::OtherHeader(key, value) => header(Header::Other { key, value }),
            Made::Name(key, name) => Line::Name(*key, name.name()),
            Made::Calls(count, target) => {
                Line::Calls(Calls { count: *count, target: Positions::new(target) })
            }
            Made::Jump { taken, executed, target } => {
                Line::Jump(Jump { taken: *taken, executed: *executed, target: Positions::new(target) })
            }
            Made::Cost(role, positions, costs) => Line::Cost(CostLine {
                role: *role,
                positions: Positions::new(positions),
                costs: Costs::new(costs),
            }),
            Made::Numbers(key, numbers) => Line::Numbers(*key, Costs::new(numbers)),
            Made::UnknownBody(key, value) => Line::UnknownBody { key, value },
        })
    }
}
