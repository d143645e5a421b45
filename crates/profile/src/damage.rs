//! Damage: reasons why the numbers of an input are not those of the recording.
//!
//! Judged once, when an input is loaded, from what the loader has seen: the claims of each part, its sums, the text at its
//! end, and the lines that could not be read. Reports show it, and whatever decides by a profile can refuse.

use gristmill_format::{CallFault, Cost, CutSign, JoinSign, Location, ProducerKind};

use crate::finding::Finding;
use crate::id::EventId;

/// A reason why the numbers of an input are not those of the recording. Found by [`Profile::damage`](crate::Profile::damage).
///
/// ```
/// use gristmill_profile::{DamageKind, Profile};
///
/// let cut = b"creator: callgrind-3.19.0\nevents: Ir\nsummary: 50\nfn=main\n1 20\n2 3";
/// let profile = Profile::from_bytes(cut);
/// let [damage] = profile.damage() else { panic!("one reason") };
/// let DamageKind::CutOff { claim: Some(claim), .. } = &damage.kind else { panic!("it is cut off") };
/// assert_eq!((claim.claimed, claim.computed), (50, 23));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Index of the input.
    pub input: usize,
    /// The line, or where the part begins.
    pub location: Location,
    /// The reason.
    pub kind: DamageKind,
}

/// The kinds of [`Damage`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DamageKind {
    /// A part was cut off.
    CutOff {
        /// The sign that tells.
        sign: CutSign,
        /// The producer of the part.
        producer: ProducerKind,
        /// The cost that the part states in excess of its lines.
        claim: Option<ClaimedCost>,
    },
    /// The compressed file is cut off or damaged: a sentence.
    Packing(String),
    /// The line with the totals of a part does not state the sum of its lines.
    Totals(ClaimedCost),
    /// Calls and blocks of a part do not agree.
    Calls(CallFault),
    /// Time that counts twice: Xdebug counts it for the functions of a suspended fiber, too. The stated cost is the true one.
    CountedTwice(ClaimedCost),
    /// A part does not belong to those before: the file was joined from several.
    Joined(JoinSign),
    /// Lines could not be read, or count with an estimate.
    Errors {
        /// The count of such lines.
        count: u64,
        /// The first of them.
        first: Finding,
    },
    /// Two columns of a part have the same event type.
    DuplicateEvent(EventId),
    /// Costs below 0 that the producer wrote without their sign. They count as what they were, so nothing is missing.
    Wrapped {
        /// The count of such costs.
        count: u64,
        /// The event type of the first.
        event: Vec<u8>,
        /// The number that is written.
        written: Cost,
        /// The cost that it stands for.
        restored: Cost,
    },
}

/// A cost that a part states, beside the sum of its lines. See the example of [`Damage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedCost {
    /// The event type.
    pub event: EventId,
    /// The cost that the part states.
    pub claimed: Cost,
    /// The sum of its self costs.
    pub computed: Cost,
}
