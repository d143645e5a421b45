//! Gristmill's own reader as a contender.

use gristmill_format::{Cost, Header, Line, Positions, Reader};

/// More event types than any producer writes.
const PLACES: usize = 32;

/// Reads all records and decodes all their numbers; gives how many records there are, and a sum over all numbers, so that
/// nothing of the work can be left out.
// One loop over the public interface of the reader, nothing cleverer.
pub(super) fn read_all(bytes: &[u8]) -> (u64, Cost) {
    let mut records = 0;
    let mut positions: u64 = 0;
    let mut counts = 0;
    let mut events = 1;
    let mut totals: [Cost; PLACES] = [0; PLACES];
    for record in Reader::new(bytes) {
        records += 1;
        let Ok(record) = record else { continue };
        match record.line {
            Line::Header(Header::Events(names)) => events = names.len().clamp(1, PLACES),
            Line::Cost(line) => {
                // A fault leaves a repaired cost behind, which is as good here.
                let _ = line.costs.add_to(&mut totals[..events]);
                positions = sum(positions, &line.positions);
            }
            Line::Calls(calls) => {
                counts += calls.count;
                positions = sum(positions, &calls.target);
            }
            Line::Jump(jump) => {
                counts += jump.taken + jump.executed.unwrap_or(0);
                positions = sum(positions, &jump.target);
            }
            _ => {}
        }
    }
    (records, totals.iter().sum::<Cost>() + counts + Cost::from(positions))
}

/// It only has to depend on every position.
fn sum(start: u64, positions: &Positions) -> u64 {
    positions.as_slice().iter().fold(start, |sum, &position| sum.wrapping_add(position))
}
