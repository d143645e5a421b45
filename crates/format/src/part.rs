//! The beginning of a part. Reader and writer must agree on it.

use crate::record::Header;

/// The state of the current part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Part {
    /// Number of the part, from 0.
    pub(crate) index: u32,
    pub(crate) event_types: usize,
    pub(crate) has_events: bool,
    pub(crate) has_function: bool,
    has_body: bool,
    has_totals: bool,
    /// One bit for each [`PartHeader`].
    said: u8,
}

/// The header lines that belong at the top of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartHeader {
    Version,
    Creator,
    Pid,
    Part,
    Thread,
    Positions,
    Events,
}

impl PartHeader {
    pub(crate) fn from_header(header: &Header<'_>) -> Option<Self> {
        Some(match header {
            Header::Version(_) => PartHeader::Version,
            Header::Creator(_) => PartHeader::Creator,
            Header::Pid(_) => PartHeader::Pid,
            Header::Part(_) => PartHeader::Part,
            Header::Thread(_) => PartHeader::Thread,
            Header::Positions(_) => PartHeader::Positions,
            Header::Events(_) => PartHeader::Events,
            _ => return None,
        })
    }

    fn bit(self) -> u8 {
        match self {
            PartHeader::Version => 1,
            PartHeader::Pid => 2,
            PartHeader::Part => 4,
            PartHeader::Thread => 8,
            PartHeader::Creator => 16,
            PartHeader::Positions => 32,
            PartHeader::Events => 64,
        }
    }

    /// `true` if it begins another part when it comes a second time, even without a body between.
    /// A thread that did nothing has none.
    fn stands_once(self) -> bool {
        matches!(self, PartHeader::Version | PartHeader::Pid | PartHeader::Part | PartHeader::Thread)
    }
}

impl Part {
    /// Takes note of a header line, and says whether it begins another part.
    pub(crate) fn header(&mut self, header: PartHeader) -> bool {
        let said_already = header.stands_once() && self.said & header.bit() != 0;
        let begins = self.has_body || self.has_totals || said_already && self.has_events;
        if begins {
            self.begin();
        }
        self.said |= header.bit();
        begins
    }

    /// Begins another part, unless this one is still empty.
    pub(crate) fn begin(&mut self) {
        let empty = !(self.has_body || self.has_totals || self.has_events || self.said != 0);
        *self = Part { index: if empty { self.index } else { self.index + 1 }, ..Part::default() };
    }

    pub(crate) fn events(&mut self, count: usize) {
        self.has_events = true;
        self.event_types = count;
    }

    pub(crate) fn body(&mut self) {
        self.has_body = true;
    }

    pub(crate) fn totals(&mut self) {
        self.has_totals = true;
    }
}
