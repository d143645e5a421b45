//! The choice of rows to show: instructions with costs, calls or jumps and those around them, and the lines and inlined
//! functions that they come from.

use std::ops::Range;

use super::listing::Listing;
use crate::program::Frame;

/// The limit of instructions without cost that are shown instead of a line that counts them.
const MIN_FOLDED: usize = 3;

/// A row to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// Instructions that are left out, by their rows.
    Folded(Range<usize>),
    /// An inlined function begins: the row, and the index of the frame.
    Inlined { row: usize, frame: usize },
    /// A source line begins: the row, and the index of the frame.
    Line { row: usize, frame: usize },
    /// An instruction.
    Instruction(usize),
}

/// Chooses the rows of a listing.
///
/// `context` is the count of instructions to show before and after those with costs, calls or jumps.
pub(super) fn items(listing: &Listing, context: u64, has_lines: bool) -> Vec<Item> {
    let shown = shown_rows(listing, context);
    let mut items = Vec::new();
    let mut last: Option<usize> = None;
    let mut row = 0;
    while row < listing.rows.len() {
        if !shown[row] {
            let end = shown[row..].iter().position(|&is| is).map_or(shown.len(), |next| row + next);
            items.push(Item::Folded(row..end));
            row = end;
            continue;
        }
        if has_lines && last.is_none_or(|last| !listing.has_same_frames(row, last)) {
            let before = last.map(|last| listing.frames(last)).unwrap_or_default();
            let frames = listing.frames(row);
            if frames != before {
                push_frames(&mut items, row, &frames, &before);
            }
            last = Some(row);
        }
        items.push(Item::Instruction(row));
        row += 1;
    }
    items
}

/// Writes the lines and inlined functions of a row that differ from those of the row before.
fn push_frames(items: &mut Vec<Item>, row: usize, frames: &[&Frame], last: &[&Frame]) {
    let equal = frames.iter().zip(last).take_while(|(one, other)| one == other).count();
    for (nth, frame) in frames.iter().enumerate().skip(equal.min(frames.len().saturating_sub(1))) {
        // It goes on with another line.
        let is_continued = nth == equal
            && last
                .get(nth)
                .is_some_and(|other| other.function == frame.function && other.file == frame.file);
        if nth > 0 && !is_continued && nth >= equal {
            items.push(Item::Inlined { row, frame: nth });
        }
        if frame.line.is_some() {
            items.push(Item::Line { row, frame: nth });
        }
    }
}

/// By row, `true` if it is shown.
fn shown_rows(listing: &Listing, context: u64) -> Vec<bool> {
    let count = listing.rows.len();
    let context = usize::try_from(context).unwrap_or(usize::MAX);
    let mut is_of_interest = vec![false; count];
    for (row, is_it) in is_of_interest.iter_mut().enumerate() {
        *is_it = listing.costs(row).is_some() || listing.calls(row).len() > 0;
    }
    for (row, jump) in listing.all_jumps() {
        is_of_interest[row] = true;
        if let Some(target) = jump.target_row.filter(|_| jump.taken != 0) {
            is_of_interest[target] = true;
        }
    }
    let mut shown = vec![false; count];
    let mut done = 0;
    for row in (0..count).filter(|&row| is_of_interest[row]) {
        let end = row.saturating_add(context).saturating_add(1).min(count);
        for near in shown.iter_mut().take(end).skip(row.saturating_sub(context).max(done)) {
            *near = true;
        }
        done = end;
    }
    // Nothing is folded for the sake of a row or two.
    let mut row = 0;
    while row < count {
        let hidden = shown[row..].iter().take_while(|&&is| !is).count();
        if hidden > 0 && hidden < MIN_FOLDED {
            shown[row..row + hidden].fill(true);
        }
        row += hidden.max(1);
    }
    shown
}
