//! The inlined calls of a profile, and the state of its programs.

use std::collections::BTreeMap;

use gristmill_format::Cost;

use crate::id::{EventId, FileId, FunctionId, PartId};

/// The state of the program of an object. See the example of [`Profile::with_inlined`](crate::Profile::with_inlined).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum ProgramState {
    /// It is the program that was recorded, and has debug information.
    Usable,
    /// It was not found.
    #[default]
    Missing,
    /// The profile does not name it.
    Unnamed,
    /// It cannot be read.
    Unreadable,
    /// It is another build.
    OtherBuild,
    /// The profile has no addresses, and too few of its lines are among those of the functions in the program: it is another
    /// build, or its debug information leaves the lines open.
    OtherLines,
    /// It has no debug information.
    NoDebugInformation,
    /// Nothing tells whether it is the program that was recorded.
    Unverified,
    /// In a comparison, its functions are not known on the other side, or not as well.
    OneSide,
}

/// The self costs of an object in all parts together. An event type that is not in a map has the cost 0: a profile can have very many
/// event types and objects. See the example of [`Profile::with_inlined`](crate::Profile::with_inlined).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InlinedObject {
    /// The path of the object, as in the profile. A profile with inlined functions gives objects other ids than the recording.
    pub path: Vec<u8>,
    /// The state of its program. If it is not usable, all of its costs are as they were.
    pub program: ProgramState,
    /// All of its self costs.
    pub total: BTreeMap<EventId, Cost>,
    /// Costs at positions that the source knows nothing about.
    pub unknown: BTreeMap<EventId, Cost>,
    /// Costs that went to inlined functions.
    pub moved: BTreeMap<EventId, Cost>,
    /// Costs whose function is an estimate.
    pub estimated: BTreeMap<EventId, Cost>,
    /// Costs whose function is certain, but not the calls that lead to it.
    pub estimated_calls: BTreeMap<EventId, Cost>,
}

/// A line with inlined calls: its function, its file, its number (0 if it is unknown), and the callee.
pub(crate) type InlinedSite = (FunctionId, FileId, u64, FunctionId);

/// The calls that are inlined, so that their counts are unknown, and the objects that they are in. A profile that was loaded
/// from a file has none.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Inlined {
    /// By part: caller and callee, sorted.
    arcs: Vec<Vec<(FunctionId, FunctionId)>>,
    /// Sorted.
    sites: Vec<InlinedSite>,
    /// The objects that have self costs.
    pub(crate) objects: Vec<InlinedObject>,
}

impl Inlined {
    /// Takes the ends of the calls of each part, and the lines of the calls, in any order.
    pub(crate) fn new(mut arcs: Vec<Vec<(FunctionId, FunctionId)>>, mut sites: Vec<InlinedSite>) -> Self {
        for of_part in &mut arcs {
            of_part.sort_unstable();
            of_part.dedup();
        }
        sites.sort_unstable();
        sites.dedup();
        Inlined { arcs, sites, objects: Vec::new() }
    }

    /// `true` if no call is inlined.
    pub(crate) fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Returns the caller and callee of the inlined calls of a part.
    pub(crate) fn of_part(&self, part: PartId) -> &[(FunctionId, FunctionId)] {
        self.arcs.get(part.index()).map(Vec::as_slice).unwrap_or_default()
    }

    /// `true` if some of the calls from a line to a function are inlined.
    pub(crate) fn has_site(&self, site: InlinedSite) -> bool {
        self.sites.binary_search(&site).is_ok()
    }
}
