//! Body lines: names, costs, calls and jumps.

use std::io;

use super::Run;
use super::change::ChangeKind;
use super::names::Held;
use crate::context::NameContext;
use crate::cost::{Cost, Costs};
use crate::error::{Error, ErrorKind};
use crate::location::Location;
use crate::name::{Name, NameKey};
use crate::position::{MAX_COLUMNS, Positions};
use crate::reader::Reader;
use crate::record::{Calls, CostLine, CostRole, Jump, Line, Record};
use crate::scan::{Tokens, trim_end};
use crate::spell::{PositionState, spell};
use crate::style::PositionStyle;

/// A `calls=` line before its cost line.
#[derive(Debug, Clone, Copy)]
pub(super) enum PendingCall {
    None,
    /// To be written with it: between them the grammar has nothing.
    Held(Calls, Location),
    /// Has become a comment.
    Comment,
}

/// A jump line before the line it starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingJump {
    None,
    Written,
    Comment,
    Dropped,
}

impl<'a, W: io::Write> Run<'_, 'a, W> {
    pub(super) fn body(&mut self, reader: &Reader<'a>, record: &Record<'a>) -> Result<(), Error> {
        self.is_settled = true;
        self.enter_body(reader, record)?;
        let location = record.location;
        let is_source = matches!(record.line, Line::Cost(CostLine { role: CostRole::JumpSource, .. }));
        if !is_source {
            self.jump = PendingJump::None;
        }
        match record.line {
            Line::Name(key, name) => self.name(reader, key, &name, location),
            Line::Calls(calls) => self.calls(reader, record, calls),
            Line::Jump(jump) => self.jump(reader, record, jump),
            Line::Cost(line) => self.cost_line(record, line),
            _ => {
                self.changes.note(ChangeKind::Body, location);
                self.comment_out(record)
            }
        }
    }

    /// Writes the lines that the body of a part needs before its first line, or before its first function.
    fn enter_body(&mut self, reader: &Reader<'a>, record: &Record<'a>) -> Result<(), Error> {
        let plan = self.plan();
        let location = record.location;
        if !std::mem::replace(&mut self.group.in_body, true) {
            self.open()?;
            self.events()?;
            if plan.lacks_object && self.has_object {
                self.changes.note(ChangeKind::PlaceAdded, location);
                self.write_body(Line::Name(NameKey::Ob, Name::plain(b"???")), None)?;
            }
            if plan.lacks_file && self.has_file {
                self.changes.note(ChangeKind::PlaceAdded, location);
                self.write_body(Line::Name(NameKey::Fl, Name::plain(b"???")), None)?;
            }
        }
        if plan.needs_function
            && !self.group.has_function
            && !matches!(record.line, Line::Name(NameKey::Ob | NameKey::Fl, _))
        {
            self.group.has_function = true;
            self.changes.note(ChangeKind::FunctionAdded, location);
            self.write_body(Line::Name(NameKey::Fn, Name::plain(b"???")), None)?;
            // A function goes back to the file of the last `fl=`; without one, an earlier `fi=` still held.
            if let Some(file) = reader.context().file()
                && self.last_fl != Some(file)
            {
                let file = Name { defines: false, ..file };
                let chosen = self.chosen(reader, NameKey::Fi, &file, location);
                self.write_name(&chosen)?;
            }
        }
        Ok(())
    }

    fn name(
        &mut self,
        reader: &Reader<'a>,
        key: NameKey,
        name: &Name<'a>,
        location: Location,
    ) -> Result<(), Error> {
        let chosen = self.chosen(reader, key, name, location);
        match key {
            NameKey::Cob | NameKey::Cfi | NameKey::Cfl | NameKey::Cfn => {
                self.held.push(Held::Name(chosen));
                return Ok(());
            }
            NameKey::Jfi | NameKey::Jfn => {
                if !self.options.drop_jumps {
                    self.changes.note(ChangeKind::JumpName, location);
                }
                return Ok(());
            }
            NameKey::Frfn => {
                self.changes.note(ChangeKind::Body, location);
                return self.comment_name(&chosen);
            }
            NameKey::Ob => self.has_object = true,
            NameKey::Fl => {
                self.has_file = true;
                self.last_fl = Some(*name);
            }
            NameKey::Fi | NameKey::Fe => self.has_file = true,
            // It forgets them.
            NameKey::Fn => self.callee_without_call()?,
        }
        self.write_name(&chosen)
    }

    fn calls(&mut self, reader: &Reader<'a>, record: &Record<'a>, given: Calls) -> Result<(), Error> {
        let location = record.location;
        if reader.context().callee().is_none() {
            // Said already, by the reader.
            self.comment_held()?;
            self.call = PendingCall::Comment;
            return self.comment_absolute(&Line::Calls(given), location);
        }
        self.complete_held(reader, location);
        let text = record.text();
        if text.starts_with(b"rcalls") {
            self.changes.note(ChangeKind::Spelling, location);
        }
        self.targets(&given.target, text, location);
        let count = self.count(given.count, location);
        self.call = PendingCall::Held(Calls { count, ..given }, location);
        Ok(())
    }

    /// Takes note of a target that does not fit the columns.
    fn targets(&mut self, target: &Positions, text: &[u8], location: Location) {
        if target.as_slice().len() != self.layout.given().len() {
            self.changes.note(ChangeKind::Target, location);
        }
        self.ranges(text, target.as_slice().len() + 3, location);
    }

    /// Takes note of ranges among the first words of a line.
    fn ranges(&mut self, text: &[u8], words: usize, location: Location) {
        let is_range = |word: &[u8]| word.iter().skip(1).any(|byte| matches!(byte, b'+' | b'-' | b':'));
        if Tokens::new(text).take(words).any(|token| token.text[0].is_ascii_digit() && is_range(token.text)) {
            self.changes.note(ChangeKind::Range, location);
        }
    }

    fn count(&mut self, count: Cost, location: Location) -> Cost {
        if count < 0 {
            self.changes.note(ChangeKind::NegativeCount, location);
        }
        count.max(0)
    }

    pub(super) fn call_without_cost(&mut self, location: Location) -> Result<(), Error> {
        self.changes.note(ChangeKind::CallWithoutCost, location);
        if let PendingCall::Held(calls, location) = std::mem::replace(&mut self.call, PendingCall::None) {
            self.comment_held()?;
            self.comment_absolute(&Line::Calls(calls), location)?;
        }
        Ok(())
    }

    fn jump(&mut self, reader: &Reader<'a>, record: &Record<'a>, given: Jump) -> Result<(), Error> {
        let location = record.location;
        if self.options.drop_jumps {
            self.jump = PendingJump::Dropped;
            return Ok(());
        }
        let text = record.text();
        self.targets(&given.target, text, location);
        let jump = Jump {
            taken: self.count(given.taken, location),
            executed: given.executed.map(|executed| self.count(executed, location)),
            target: self.layout.positions(&given.target),
        };
        let context = reader.context();
        if leads_away(context) {
            self.changes.note(ChangeKind::JumpAway, location);
            for (key, name) in [(NameKey::Jfi, context.jump_file()), (NameKey::Jfn, context.jump_function())]
            {
                if let Some(name) = name {
                    let chosen = self.chosen(reader, key, &name, location);
                    self.comment_name(&chosen)?;
                }
            }
            self.jump = PendingJump::Comment;
            return self.comment_absolute(&Line::Jump(Jump { target: given.target, ..jump }), location);
        }
        if memchr::memchr(b'/', text).is_some() {
            self.changes.note(ChangeKind::JumpForm, location);
        }
        // Callgrind ends these lines with a blank, and has a form of its own for the counts.
        let like = if jump.executed.is_some() { &b"jcnd=1 1"[..] } else { b"jump=1" };
        self.write_body(Line::Jump(jump), Some(like))?;
        self.jump = PendingJump::Written;
        Ok(())
    }

    fn cost_line(&mut self, record: &Record<'a>, given: CostLine<'a>) -> Result<(), Error> {
        let location = record.location;
        let pending = match given.role {
            CostRole::Call => std::mem::replace(&mut self.call, PendingCall::None),
            _ => PendingCall::None,
        };
        let as_comment = match given.role {
            CostRole::JumpSource => match std::mem::replace(&mut self.jump, PendingJump::None) {
                PendingJump::Dropped => return Ok(()),
                jump => jump != PendingJump::Written,
            },
            CostRole::Call => !matches!(pending, PendingCall::Held(..)),
            CostRole::SelfCost => false,
        };
        let text = record.text();
        self.ranges(text, self.layout.given().len(), location);
        let mut costs = std::mem::take(&mut self.costs);
        self.legal_costs(given.costs, text, location, &mut costs);
        if as_comment {
            let line = CostLine { costs: Costs::new(&costs), ..given };
            self.comment_absolute(&Line::Cost(line), location)?;
        } else {
            if let PendingCall::Held(calls, _) = pending {
                self.flush_held()?;
                let target = self.layout.positions(&calls.target);
                self.write_body(Line::Calls(Calls { target, ..calls }), Some(b"calls=1"))?;
            }
            if given.role == CostRole::SelfCost {
                self.group.add(&costs);
                if costs.is_empty() && self.after_jump {
                    // Without a cost it would be taken for where the jump starts.
                    costs.push(0);
                }
            }
            // Callgrind ends this line too with a blank.
            let like = if given.role == CostRole::JumpSource { Some(&b"*"[..]) } else { None };
            let positions = self.layout.positions(&given.positions);
            let costs = Costs::new(&costs);
            self.write_body(Line::Cost(CostLine { positions, costs, ..given }), like)?;
        }
        self.costs = costs;
        Ok(())
    }

    /// The costs as the grammar can have them.
    fn legal_costs(&mut self, given: Costs<'_>, text: &[u8], location: Location, legal: &mut Vec<Cost>) {
        legal.clear();
        for cost in &given {
            if legal.len() == self.group.types {
                self.changes.note(ChangeKind::ExtraCost, location);
                break;
            }
            let cost = match cost {
                Ok(cost) => cost,
                Err(fault) => {
                    if let Some(kind) = ChangeKind::from_error(fault.kind) {
                        self.changes.note(kind, location);
                    }
                    debug_assert_ne!(fault.kind, ErrorKind::TooManyCosts);
                    fault.repaired
                }
            };
            if cost < 0 {
                self.changes.note(ChangeKind::NegativeCost, location);
            }
            legal.push(cost.max(0));
        }
        if memchr::memchr(b'.', text).is_some() && Tokens::new(text).any(|token| token.text == b".") {
            self.changes.note(ChangeKind::Dot, location);
        }
    }

    /// The line as a comment, with positions that need nothing before them to be understood.
    fn comment_absolute(&mut self, line: &Line<'_>, location: Location) -> Result<(), Error> {
        let columns = self.layout.given();
        let (base, last) = ([0; MAX_COLUMNS], [0; MAX_COLUMNS]);
        let state = PositionState { style: PositionStyle::Absolute, columns, has_base: true, base, last };
        let mut text = vec![b' '];
        spell(line, None, &state, &mut text);
        self.comment(trim_end(&text), location)
    }
}

/// `true` if the jump leads to another file or function.
fn leads_away(context: &NameContext<Name<'_>>) -> bool {
    let same = |one: Option<Name<'_>>, other: Option<Name<'_>>| match (one, other) {
        (Some(one), Some(other)) => one.text == other.text && (one.text.is_some() || one.id == other.id),
        (one, other) => one.is_none() && other.is_none(),
    };
    !same(context.jump_file(), context.file()) || !same(context.jump_function(), context.function())
}
