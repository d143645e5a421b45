//! Skimming: lines of the usual form are passed to a sink and never become records.
//!
//! A program that sums up a file needs one or two numbers of most lines. Making a complete record of a line takes several
//! times as long as finding those numbers. [`usual`](super::usual) defines the usual form.

use super::Reader;
use super::usual::{
    CostParts, Ends, NameParts, UsualKey, begins_position, key_bytes, key_mask, name_parts, short_position,
};
use crate::cost::{Cost, Costs};
use crate::lanes::{HalfWindow, Window, eight, find_others_than_digits, number_of_digits};
use crate::location::Location;
use crate::name::NameKey;
use crate::position::Positions;
use crate::record::{Calls, CostRole, Line};

/// A sink for lines of the usual form. See the example of [`Reader::skim`]. The reader that it gets has read the line.
pub trait Skim<'a> {
    /// A name with a number. The text is what the number is to stand for; none where it is only used.
    fn name(
        &mut self,
        reader: &Reader<'a>,
        location: Location,
        key: NameKey,
        number: u64,
        text: Option<&'a [u8]>,
    );

    /// A `calls=` line; `text` is the whole line.
    fn calls(&mut self, reader: &Reader<'a>, location: Location, count: Cost, text: &'a [u8]);

    /// A `jump=` or `jcnd=` line; `text` is the whole line.
    fn jump(&mut self, reader: &Reader<'a>, location: Location, text: &'a [u8]);

    /// A cost line; `text` is the whole line.
    fn cost(
        &mut self,
        reader: &Reader<'a>,
        location: Location,
        role: CostRole,
        costs: Costs<'a>,
        text: &'a [u8],
    );

    /// `true` if the next cost lines of this role that have a single cost may be passed on as a sum. Asked before each run of
    /// such lines.
    fn takes_sums(&self, _role: CostRole) -> bool {
        false
    }

    /// Takes a run of such cost lines: their count and the sum of their costs. For calls it is always one line.
    fn sum(&mut self, _role: CostRole, _lines: u64, _sum: u64) {}
}

impl<'a> Reader<'a> {
    /// Passes the next lines to a sink, as long as they are of the usual form and begin before the offset `end`. The line
    /// after them is for [`Reader::next`](Iterator::next). Blank lines are skipped.
    ///
    /// Only a reader that leaves names to the caller ([`Reader::by_number`]) does this; another one passes no lines.
    ///
    /// ```
    /// use gristmill_format::raw::Skim;
    /// use gristmill_format::{Cost, CostRole, Costs, Line, Location, NameKey, Reader};
    ///
    /// struct Sum(Cost);
    ///
    /// impl<'a> Skim<'a> for Sum {
    ///     fn name(&mut self, _: &Reader<'a>, _: Location, _: NameKey, _: u64, _: Option<&'a [u8]>) {}
    ///     fn calls(&mut self, _: &Reader<'a>, _: Location, _: Cost, _: &'a [u8]) {}
    ///     fn jump(&mut self, _: &Reader<'a>, _: Location, _: &'a [u8]) {}
    ///     fn cost(&mut self, _: &Reader<'a>, _: Location, role: CostRole, costs: Costs<'a>, _: &'a [u8]) {
    ///         if role == CostRole::SelfCost {
    ///             self.0 += costs.iter().next().map_or(0, |cost| cost.unwrap_or(0));
    ///         }
    ///     }
    /// }
    ///
    /// let file = b"events: Ir\nfn=(1) main\n16 20\n+1 3\n";
    /// let mut sum = Sum(0);
    /// let mut reader = Reader::new(file).by_number();
    /// loop {
    ///     reader.skim(file.len(), &mut sum);
    ///     match reader.next() {
    ///         Some(Ok(record)) => {
    ///             if let Line::Cost(line) = record.line {
    ///                 let location = record.location;
    ///                 sum.cost(&reader, location, line.role, line.costs, b"");
    ///             }
    ///         }
    ///         Some(Err(_)) => {}
    ///         None => break,
    ///     }
    /// }
    /// assert_eq!(sum.0, 23);
    /// ```
    #[inline]
    pub fn skim(&mut self, end: usize, sink: &mut impl Skim<'a>) {
        if self.fast && self.leaves_names {
            while self.at < end && self.skim_lines(end, sink).is_some() {}
        }
    }

    /// One line or several short ones; None, with nothing changed, where the first is not of the usual form.
    #[inline(always)]
    fn skim_lines(&mut self, end: usize, sink: &mut impl Skim<'a>) -> Option<()> {
        let rest = self.input.get(self.at..)?;
        let window: &Window = rest.first_chunk()?;
        if begins_position(window) {
            if self.skim_short_cost_lines(window, end, sink).is_some() {
                return Some(());
            }
            let ends = Ends::find(window);
            return match ends.line_in_window() {
                Some(length) => self.skim_cost_line(rest, window, ends, length, sink),
                None => self.skim_long_cost_line(rest, sink),
            };
        }
        if window[0] == b'\n' {
            self.pass(0);
            return Some(());
        }
        // A call or jump line without its second line is an error.
        if self.expected != CostRole::SelfCost {
            return None;
        }
        if let Some(key) = UsualKey::find(window) {
            let NameParts { id, text, length } = name_parts(rest, window, key)?;
            let location = self.pass(length);
            sink.name(self, location, key.key, id, text);
            return Some(());
        }
        let (line, length) = match self.short_calls(window) {
            Some((calls, length)) => (Line::Calls(calls), length),
            None => self.association_parts(window)?,
        };
        let text = rest.get(..length)?;
        let location = self.pass(length);
        self.announced = (location, length);
        if let Line::Calls(calls) = line {
            self.expected = CostRole::Call;
            sink.calls(self, location, calls.count, text);
        } else {
            self.expected = CostRole::JumpSource;
            sink.jump(self, location, text);
        }
        Some(())
    }

    /// Cost lines that are short, have one position and one cost, and of which no more than the sum is asked for; None, with
    /// nothing changed, if the first is no such line.
    #[inline(always)]
    fn skim_short_cost_lines(&mut self, window: &Window, end: usize, sink: &mut impl Skim<'a>) -> Option<()> {
        let role = self.expected;
        let [base, ..] = self.base?;
        if self.columns.len() != 1 || !sink.takes_sums(role) {
            return None;
        }
        let lines = match role {
            CostRole::SelfCost => ShortLines::read(self.input, self.at, end, base)?,
            CostRole::Call => ShortLine::read(window.first_chunk()?, base)?.alone(self.at),
            CostRole::JumpSource => return None,
        };
        self.at = lines.at;
        self.line += lines.count;
        if self.base_rule().is_moved_by(role) {
            self.base = Some([lines.position, 0, 0, 0]);
        }
        self.expected = CostRole::SelfCost;
        sink.sum(role, lines.count, lines.sum);
        Some(())
    }

    /// `calls=1 +3` or `calls=1 +3 ` with short numbers and one position, and how long the line is.
    #[inline(always)]
    fn short_calls(&self, window: &Window) -> Option<(Calls, usize)> {
        const COUNT: usize = b"calls=".len();
        let [base, ..] = self.base?;
        if eight(window, 0)? & key_mask(COUNT) != key_bytes(b"calls=") || self.columns.len() != 1 {
            return None;
        }
        let others = find_others_than_digits(window[COUNT..].first_chunk()?);
        let digits = others.trailing_zeros() as usize % size_of::<HalfWindow>();
        if !(1..=8).contains(&digits) || window[COUNT + digits] != b' ' {
            return None;
        }
        let start = COUNT + digits + 1;
        // The first byte may be a sign.
        let others = others >> (digits + 1) & !1;
        let length = others.trailing_zeros() as usize % size_of::<HalfWindow>();
        let stop = start + length;
        let line_end = if *window.get(stop)? == b' ' { stop + 1 } else { stop };
        if *window.get(line_end)? != b'\n' {
            return None;
        }
        let count = Cost::from(number_of_digits(eight(window, COUNT)?, digits));
        let target = [short_position(eight(window, start)?, length, base)?, 0, 0, 0];
        Some((Calls { count, target: Positions::from_array(target, 1) }, line_end))
    }

    #[inline(always)]
    fn skim_cost_line(
        &mut self,
        rest: &'a [u8],
        window: &Window,
        ends: Ends,
        length: usize,
        sink: &mut impl Skim<'a>,
    ) -> Option<()> {
        let text = rest.get(..length)?;
        let CostParts { values, costs_at } = self.cost_parts(rest, window, ends, length)?;
        let costs = Costs::within(rest, costs_at, length, ends.stops(costs_at, length));
        let role = self.expected;
        if self.base_rule().is_moved_by(role) {
            self.base = Some(values);
        }
        self.expected = CostRole::SelfCost;
        let location = self.pass(length);
        sink.cost(self, location, role, costs, text);
        Some(())
    }

    /// A line that goes on beyond the window. Apart from the others, which then need nothing kept for it.
    #[inline(never)]
    fn skim_long_cost_line(&mut self, rest: &'a [u8], sink: &mut impl Skim<'a>) -> Option<()> {
        let window: &Window = rest.first_chunk()?;
        let ends = Ends::find(window);
        self.skim_cost_line(rest, window, ends, ends.line(rest)?, sink)
    }

    /// Goes on behind a line of this length.
    #[inline(always)]
    fn pass(&mut self, length: usize) -> Location {
        self.line += 1;
        let location = Location { byte: self.at as u64, line: self.line };
        self.at += length + 1;
        location
    }
}

/// A run of short cost lines.
struct ShortLines {
    /// The offset of their end.
    at: usize,
    count: u64,
    /// The position of the last.
    position: u64,
    sum: u64,
}

impl ShortLines {
    /// Those from here on that begin before the end. Apart from what else is skimmed, so that all of it is kept in registers.
    #[inline(never)]
    fn read(input: &[u8], at: usize, end: usize, base: u64) -> Option<Self> {
        let mut lines = ShortLines { at, count: 0, position: base, sum: 0 };
        while lines.at < end
            && let Some(piece) = input.get(lines.at..).and_then(<[u8]>::first_chunk)
            && let Some(line) = ShortLine::read(piece, lines.position)
        {
            lines.at += line.length + 1;
            lines.count += 1;
            lines.position = line.position;
            // No file is so long that eight digits of each line would be too much.
            lines.sum += line.cost;
        }
        (lines.count > 0).then_some(lines)
    }
}

/// A cost line with a single position and a single cost, both short.
struct ShortLine {
    length: usize,
    position: u64,
    cost: u64,
}

impl ShortLine {
    #[inline(always)]
    fn read(piece: &Piece, base: u64) -> Option<Self> {
        const HALF: usize = size_of::<HalfWindow>();
        // The first byte may be a sign.
        let others = find_others_than_digits(piece.first_chunk()?) & !1;
        let blank = others.trailing_zeros() as usize % HALF;
        let length = (others & others.wrapping_sub(1)).trailing_zeros() as usize % HALF;
        if piece[blank] != b' ' || piece[length] != b'\n' {
            return None;
        }
        let position = short_position(eight(piece, 0)?, blank, base)?;
        let digits = length.wrapping_sub(blank + 1);
        if !(1..=8).contains(&digits) {
            return None;
        }
        Some(ShortLine { length, position, cost: number_of_digits(eight(piece, blank + 1)?, digits) })
    }

    /// As the only one, which begins here.
    #[inline(always)]
    fn alone(self, at: usize) -> ShortLines {
        ShortLines { at: at + self.length + 1, count: 1, position: self.position, sum: self.cost }
    }
}

/// The bytes that a short line is looked for in, and those that reading a number may look at.
type Piece = [u8; size_of::<HalfWindow>() + size_of::<u64>()];
