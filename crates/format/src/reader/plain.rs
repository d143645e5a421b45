//! Runs of plain cost lines: self costs of the usual form in which no check of lint can find anything.
//!
//! Most lines of a file are such lines. Lint needs no more of them than their count and their sums, which take a fraction of
//! the time of a record and its checks.

use super::Reader;
use super::usual::{BASE_LIMIT, Ends, begins_position, usual_position};
use crate::cost::Cost;
use crate::lanes::{Window, eight, whole_number};
use crate::location::Location;
use crate::position::PositionKind;
use crate::record::CostRole;

/// The event types of a part whose lines are taken as plain ones. Callgrind writes 13 at most, and a few more with options.
pub(crate) const MAX_PLAIN_EVENTS: usize = 20;

/// A run of plain cost lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlainRun {
    /// The count of lines.
    pub(crate) lines: u64,
    /// The location of the last line.
    pub(crate) last: Location,
    /// The sum of the first cost of each line.
    pub(crate) first_costs: Cost,
    /// `true` if a line has a cost other than 0.
    pub(crate) has_cost: bool,
}

impl Reader<'_> {
    /// Reads the self cost lines from here on that are plain, and adds their costs to `sums`. `None`, with nothing changed, if
    /// the next line is another one.
    ///
    /// A plain line has the usual form, at least `least` and at most as many costs as there are sums, all of up to eight
    /// digits, one blank between numbers and none at the end. Its positions have no capital letters and no range, and its
    /// line number has 32 bits.
    pub(crate) fn plain_run(&mut self, least: usize, sums: &mut [Cost]) -> Option<PlainRun> {
        if !self.fast || self.expected != CostRole::SelfCost || sums.len() > MAX_PLAIN_EVENTS {
            return None;
        }
        let column_count = self.columns.len();
        let line_column = self.columns.index(PositionKind::Line);
        let mut base = self.base?;
        let (mut at, mut lines) = (self.at, 0);
        let mut last_at = at;
        // Eight digits of each line of a file do not fill 64 bits.
        let mut added = [0u64; MAX_PLAIN_EVENTS];
        while let Some(line) = PlainLine::read(self.input, at, column_count, base) {
            let line_number = line_column.and_then(|column| line.positions.get(column));
            let is_huge = line_number.is_some_and(|&number| number > u64::from(u32::MAX));
            if line.count < least || line.count > sums.len() || is_huge {
                break;
            }
            for (sum, cost) in added.iter_mut().zip(&line.costs[..line.count]) {
                *sum += cost;
            }
            base[..2].copy_from_slice(&line.positions);
            (last_at, at) = (at, at + line.length + 1);
            lines += 1;
        }
        if lines == 0 {
            return None;
        }
        if self.associated.is_some() {
            self.forget_associated();
        }
        (self.at, self.line) = (at, self.line + lines);
        self.take_cost_line(CostRole::SelfCost, base);
        for (sum, &added) in sums.iter_mut().zip(&added) {
            *sum += Cost::from(added);
        }
        Some(PlainRun {
            lines,
            last: Location { byte: last_at as u64, line: self.line },
            first_costs: Cost::from(added[0]),
            has_cost: added != [0; MAX_PLAIN_EVENTS],
        })
    }
}

/// A plain cost line.
struct PlainLine {
    length: usize,
    /// One or two.
    positions: [u64; 2],
    costs: [u64; size_of::<Window>() / 2],
    count: usize,
}

impl PlainLine {
    #[inline(always)]
    fn read(input: &[u8], at: usize, column_count: usize, base: [u64; 4]) -> Option<Self> {
        let rest = input.get(at..)?;
        let window: &Window = rest.first_chunk()?;
        if !begins_position(window) {
            return None;
        }
        let ends = Ends::find(window);
        let length = ends.line_in_window()?;
        let mut stop = ends.token(0)?;
        let mut positions = [plain_position(window, 0, stop, base[0])?, 0];
        match column_count {
            1 => {}
            2 if stop < length => {
                let start = stop + 1;
                stop = ends.token(start)?;
                positions[1] = plain_position(window, start, stop, base[1])?;
            }
            _ => return None,
        }
        let mut line = PlainLine { length, positions, costs: [0; size_of::<Window>() / 2], count: 0 };
        while stop < length {
            let start = stop + 1;
            stop = ends.token(start)?;
            // A number beyond the window is none that begins in it.
            let eight = eight(rest, start)?;
            // Two blanks, or one at the end, have a number without digits between them.
            *line.costs.get_mut(line.count)? = whole_number(eight, stop - start)?;
            line.count += 1;
        }
        (line.count > 0).then_some(line)
    }
}

/// The position between these offsets, if it has neither capital letters nor a range.
#[inline(always)]
fn plain_position(window: &Window, start: usize, stop: usize, base: u64) -> Option<u64> {
    let position = usual_position(window, start, stop, base)?;
    debug_assert!(position < BASE_LIMIT, "positions of the usual form are below the limit");
    let is_plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'x');
    // The first byte may be a sign.
    window.get(start + 1..stop)?.iter().all(is_plain).then_some(position)
}
