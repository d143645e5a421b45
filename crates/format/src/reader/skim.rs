//! Lines of the usual form, handed out without making records of them.
//!
//! Whoever sums up a file needs of most lines a number or two. Made into records, with all that can be asked of one, they
//! cost several times of what it takes to find those numbers. What a usual line is, [`usual`](super::usual) says.

use super::Reader;
use super::usual::{CostParts, Ends, NameParts, UsualKey, begins_position, name_parts};
use crate::cost::{Cost, Costs};
use crate::lanes::Window;
use crate::location::Location;
use crate::name::NameKey;
use crate::record::{CostRole, Line};

/// Takes lines of the usual form from [`Reader::skim`]. The reader that it is handed has read the line.
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
}

impl<'a> Reader<'a> {
    /// Hands out the lines that come next and begin before this place, as long as they are of the usual form. What
    /// comes then, if there is anything, is for [`Reader::next`](Iterator::next). Blank lines are passed over.
    ///
    /// Only a reader that leaves names to the caller does this; another one hands out nothing.
    ///
    /// ```
    /// use gristmill_format::{Cost, CostRole, Costs, Line, Location, NameKey, Reader, Skim};
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
            while self.at < end && self.skim_line(sink).is_some() {}
        }
    }

    /// One line; None, with nothing changed, where it is not of the usual form.
    #[inline(always)]
    fn skim_line(&mut self, sink: &mut impl Skim<'a>) -> Option<()> {
        let rest = self.input.get(self.at..)?;
        let window: &Window = rest.first_chunk()?;
        if begins_position(window) {
            let ends = Ends::of(window);
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
        if let Some(key) = UsualKey::of(window) {
            let NameParts { id, text, length } = name_parts(rest, window, key)?;
            let location = self.pass(length);
            sink.name(self, location, key.key, id, text);
            return Some(());
        }
        let (line, length) = self.association_parts(window)?;
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
        if role == CostRole::SelfCost || self.calls_move_base {
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
        let ends = Ends::of(window);
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
