//! Costs that wrapped at their producer: a number below 0 that was written without its sign.
//!
//! Callgrind writes the cost of a call that way when its counters were set to 0 during the call, or when a dump was written
//! during a call that a signal handler interrupts or `longjmp` leaves: the rest of its cost is in the dump before, so the sum
//! over all parts is right. Xdebug does when the clock went back: it divides the number afterwards, so the result is far below 2^63. Such a number is restored in a copy of
//! the text, at the same place and in as many bytes, and the copy is loaded. The rest of the library sees
//! only the copy, and profiles without such costs pay nothing.

use std::collections::HashMap;

use gristmill_format::{Cost, Header, Line, ProducerKind, Reader, Words};

use crate::index::restored::RestoredCost;
use crate::input::Input;
use crate::profile::Profile;

/// The divisors of producers: Xdebug writes nanoseconds as tens of them, and older versions as microseconds.
const DIVISORS: [Cost; 3] = [1, 10, 1000];

/// No sum of honest costs comes near a wrapped one: this many times the sum of all others is not enough to be one.
const MIN_RATIO: Cost = 1000;

/// The smallest number that can be a wrapped one.
pub(crate) const MIN_WRAPPED: Cost = (1 << 64) / 1000 - (1 << 64) / 1_000_000;

/// Returns the inputs with restored costs, and these costs; nothing if there are none.
pub(super) fn restored(profile: &Profile) -> Option<(Vec<Input>, Vec<RestoredCost>)> {
    let mut all = Vec::new();
    let mut inputs = profile.inputs().to_vec();
    for (index, input) in inputs.iter_mut().enumerate() {
        let producer = profile.producers().nth(index).unwrap_or(ProducerKind::Unknown);
        let found = find(index, &input.bytes, producer);
        if found.is_empty() {
            continue;
        }
        let mut bytes = input.bytes.to_vec();
        for wrapped in &found {
            wrapped.restore(&mut bytes);
        }
        input.bytes = bytes.into();
        all.extend(found);
    }
    (!all.is_empty()).then_some((inputs, all))
}

/// `true` if a file has a number that may be a cost below 0 without its sign. A search for its first digits; the loader
/// judges.
///
/// ```
/// use gristmill_profile::may_have_wrapped_costs;
///
/// assert!(may_have_wrapped_costs(b"events: Time_(10ns)\nfn=f\n1 1844674407370955100\n"));
/// assert!(!may_have_wrapped_costs(b"events: Ir\nfn=f\n1 18446744\n"));
/// ```
pub fn may_have_wrapped_costs(bytes: &[u8]) -> bool {
    // Of 2^64, of a tenth and of a thousandth of it.
    memchr::memmem::find(bytes, b" 184467440737").is_some()
}

/// Finds the wrapped costs of an input.
fn find(input: usize, bytes: &[u8], producer: ProducerKind) -> Vec<RestoredCost> {
    let divisors = match producer {
        ProducerKind::Xdebug => &DIVISORS[..],
        ProducerKind::Callgrind => &DIVISORS[..1],
        _ => return Vec::new(),
    };
    let mut events = Words::new(&[]);
    let mut sums: HashMap<&[u8], Cost> = HashMap::new();
    let mut found = Vec::new();
    for record in Reader::new(bytes).flatten() {
        let line = match record.line {
            Line::Header(Header::Events(words)) => {
                events = words;
                continue;
            }
            Line::Cost(line) => line,
            _ => continue,
        };
        let mut numbers = Tokens::new(record.text());
        for (event, cost) in events.iter().zip(line.costs.iter()) {
            let Ok(written) = cost else { continue };
            let restored = if written < MIN_WRAPPED { None } else { restore(written, divisors) };
            let Some(restored) = restored else {
                if line.role == gristmill_format::CostRole::SelfCost {
                    *sums.entry(event).or_default() += written;
                }
                continue;
            };
            let digits = written.to_string();
            let Some(offset) = numbers.find(digits.as_bytes()) else { continue };
            found.push(RestoredCost {
                input,
                location: record.location,
                event: event.to_vec(),
                written,
                restored,
                byte: usize::try_from(record.location.byte).unwrap_or(usize::MAX) + offset,
                length: digits.len(),
            });
        }
    }
    let others = |event: &Vec<u8>| sums.get(&event[..]).copied().unwrap_or(0).max(1);
    found.retain(|wrapped| wrapped.written / MIN_RATIO > others(&wrapped.event));
    found
}

/// The numbers of a cost line behind its first position.
struct Tokens<'t> {
    text: &'t [u8],
    /// Offset behind the last number that was found.
    next: usize,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t [u8]) -> Self {
        let position = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let next = text[position..].iter().position(u8::is_ascii_whitespace);
        Tokens { text, next: next.map_or(text.len(), |length| position + length) }
    }

    /// Returns the offset of the next number that has these digits.
    fn find(&mut self, digits: &[u8]) -> Option<usize> {
        let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let offset = memchr::memmem::find_iter(&self.text[self.next..], digits)
            .map(|offset| self.next + offset)
            .find(|&at| is_end(self.text[..at].last()) && is_end(self.text.get(at + digits.len())))?;
        self.next = offset + digits.len();
        Some(offset)
    }
}

/// Returns the number below 0 that was written, if it is small beside the number that stands for it.
fn restore(written: Cost, divisors: &[Cost]) -> Option<Cost> {
    divisors.iter().find_map(|divisor| {
        let zero = (1 << 64) / divisor;
        (written <= zero && zero - written < zero / MIN_RATIO).then_some(written - zero)
    })
}
