//! Self costs for inlined functions.
//!
//! A profile gives the cost of inlined code to the function that contains it, and names at most the file of the code. The
//! debug information of a program knows more: for each instruction the chain of inlined functions that it came from, with
//! the line of each inlined call. [`Profile::with_inlined`] asks a [`FrameSource`] for these chains and makes another profile.
//!
//! # The rule
//!
//! A cost line of a function `F` whose instruction has the chain `F → A → B` becomes a line of `B`, at the same position.
//! `F` calls `A` from the line of the inlined call, and `A` calls `B`. The inclusive cost of each of these calls is the cost
//! of all lines and recorded calls below it. A recorded call or a jump at that instruction becomes one of `B`. If a
//! function is in a chain several times, each of its calls counts, as in a recording of a recursion.
//!
//! So nothing is lost: the sum of self costs is the same in each part, and what a function has lost of its own, its inlined calls
//! have. Where inlined calls close a cycle, the cycle has that inclusive cost, as it would without inlining.
//!
//! Nothing tells how often inlined code was entered. A call of an inlined function has the count 0 in the text and is known as
//! [inlined](crate::analysis::CallGraph::is_inlined) beside it; a recorded count of 0 is another thing.
//!
//! # Which functions are the same
//!
//! An inlined function and its own compiled code are one function if the source says so, or if they have the same object,
//! name and file. Names are compared demangled. A source spells paths in its own way; the spelling of the profile is
//! learned from the positions where both name a file. An inlined function in `F'2` has the level of `F`, and with
//! recorded callers (`F'main`) it is called by `F`.
//!
//! # What is certain
//!
//! An instruction has one chain. A profile without addresses has lines only: if all instructions of the function on a line have
//! one chain, that is certain as well. Otherwise the cost of the line is divided in proportion to the instructions, which is
//! an estimate; [`InlinedObject`] has its amount. Costs at positions that the source knows nothing about stay where they are.

mod arcs;
mod blocks;
mod calls;
mod names;
mod node_text;
mod nodes;
mod paths;
mod positions;

use std::fmt;

use crate::id::{FunctionId, ObjectId};
use crate::load::Loader;
use crate::profile::Profile;

pub use crate::index::inlined::{InlinedObject, ProgramState};

use blocks::{Writing, add_nonzero};
use calls::inlined_calls;
use nodes::Nodes;
use positions::Asked;

/// A source of inlined frames: debug information of programs. See the example of [`Profile::with_inlined`].
pub trait FrameSource: Sync {
    /// Returns the frames at all positions of an object. Objects are asked for at the same time, on several threads.
    fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames;
}

/// An object of a profile with the positions of its costs, calls and jumps. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone)]
pub struct AskedObject<'p> {
    /// Path of the object, as in the profile.
    pub path: &'p [u8],
    /// The functions with their positions.
    pub functions: Vec<AskedFunction<'p>>,
}

/// A function with the positions of its costs, calls and jumps. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone)]
pub struct AskedFunction<'p> {
    /// The function.
    pub id: FunctionId,
    /// Its name, as in the profile.
    pub name: &'p [u8],
    /// Its file, as in the profile.
    pub file: &'p [u8],
    /// Its positions, sorted, each once.
    pub positions: Vec<AskedPosition<'p>>,
}

/// A position of a function. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedPosition<'p> {
    /// Address of the instruction, if the profile has addresses.
    pub address: Option<u64>,
    /// File of the line, as in the profile.
    pub file: &'p [u8],
    /// Line number, if the profile has lines; 0 is unknown.
    pub line: Option<u64>,
}

/// The answer of a [`FrameSource`] for an object. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectFrames {
    /// The state of the program. If it is not usable, the object stays as it is.
    pub program: ProgramState,
    /// Inlined functions, each once.
    pub functions: Vec<InlinedFunction>,
    /// Paths of source files.
    pub files: Vec<Vec<u8>>,
    /// Chains of inlined calls, the outermost first. Code that is not inlined has an empty chain.
    pub chains: Vec<Vec<InlinedCall>>,
    /// For each function that was asked for, the frames at each of its positions.
    pub positions: Vec<Vec<PositionFrames>>,
}

/// An inlined function. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InlinedFunction {
    /// Name: the mangled one, if it has one.
    pub name: Vec<u8>,
    /// Index of its file in [`ObjectFrames::files`].
    pub file: Option<usize>,
    /// A function of the profile that is its own compiled code, if the source knows one.
    pub compiled: Option<FunctionId>,
}

/// An inlined call. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InlinedCall {
    /// Index of the inlined function in [`ObjectFrames::functions`].
    pub callee: usize,
    /// Index of the file of the call in [`ObjectFrames::files`].
    pub file: Option<usize>,
    /// Line of the call.
    pub line: Option<u64>,
}

/// The frames at a position. See the example of [`Profile::with_inlined`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PositionFrames {
    /// The source knows nothing about the position.
    Unknown,
    /// All instructions at the position have one chain.
    Exact {
        /// Index of the chain in [`ObjectFrames::chains`].
        chain: usize,
        /// Index of the file of the line in [`ObjectFrames::files`].
        file: Option<usize>,
    },
    /// The instructions at the position have several chains.
    Several {
        /// Indices of chains with their counts of instructions, each above 0.
        chains: Vec<(usize, u64)>,
        /// Index of the file of the line in [`ObjectFrames::files`].
        file: Option<usize>,
    },
}

impl PositionFrames {
    fn file(&self) -> Option<usize> {
        match *self {
            PositionFrames::Unknown => None,
            PositionFrames::Exact { file, .. } | PositionFrames::Several { file, .. } => file,
        }
    }
}

/// The error of [`Profile::with_inlined`]. It is an error in this library or in the source, whatever the files contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InliningError {
    /// The totals of a part would change.
    OtherTotals {
        /// The index of the part.
        part: usize,
    },
    /// There would be another count of parts.
    OtherParts,
}

impl fmt::Display for InliningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InliningError::OtherTotals { part } => {
                write!(f, "with inlined functions, the totals of part {} would be other ones", part + 1)
            }
            InliningError::OtherParts => {
                f.write_str("with inlined functions, the profile would have another count of parts")
            }
        }
    }
}

impl std::error::Error for InliningError {}

impl Profile {
    /// Gives self costs to the inlined functions that they came from. See [the module](crate::inlining) for the rule.
    ///
    /// ```
    /// use gristmill_profile::inlining::{
    ///     AskedObject, FrameSource, InlinedCall, InlinedFunction, ObjectFrames, PositionFrames, ProgramState,
    /// };
    /// use gristmill_profile::{Profile, Selection};
    ///
    /// /// The instruction at 0x12 comes from `turn`, inlined into its function at line 17.
    /// struct Turn;
    ///
    /// impl FrameSource for Turn {
    ///     fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames {
    ///         let turn = InlinedFunction { name: b"turn".to_vec(), file: Some(0), compiled: None };
    ///         let call = InlinedCall { callee: 0, file: Some(0), line: Some(17) };
    ///         let chain = |address| usize::from(address == Some(0x12));
    ///         let frames = |address| PositionFrames::Exact { chain: chain(address), file: Some(0) };
    ///         let of_function = |positions: &[_]| positions.iter().map(|&address| frames(address)).collect();
    ///         ObjectFrames {
    ///             program: ProgramState::Usable,
    ///             functions: vec![turn],
    ///             files: vec![b"/src/mill.c".to_vec()],
    ///             chains: vec![vec![], vec![call]],
    ///             positions: (object.functions.iter())
    ///                 .map(|function| {
    ///                     let addresses = function.positions.iter().map(|position| position.address);
    ///                     of_function(&addresses.collect::<Vec<_>>())
    ///                 })
    ///                 .collect(),
    ///         }
    ///     }
    /// }
    ///
    /// let text = "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n0x10 16 4\n0x12 5 9\n";
    /// let profile = Profile::from_bytes(text).with_inlined(&Turn)?;
    /// let graph = profile.call_graph(&Selection::default());
    /// let [main, turn] = profile.functions().collect::<Vec<_>>()[..] else { panic!("two functions") };
    /// assert_eq!(profile.function(turn).name, b"turn");
    /// assert_eq!(profile.file(profile.function(turn).file), b"mill.c");
    /// let [main, turn] = [main, turn].map(|function| graph.node_of(function));
    /// assert_eq!((graph.self_cost(main), graph.self_cost(turn)), (&[4][..], &[9][..]));
    /// let call = graph.arc_between(main, turn).expect("an inlined call");
    /// assert!(graph.is_inlined(call));
    /// let ir = profile.events().next().expect("an event type");
    /// assert_eq!(profile.inlined_objects()[0].moved[&ir], 9);
    /// # Ok::<(), gristmill_profile::inlining::InliningError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a total would change, which is an error in this library.
    pub fn with_inlined(&self, source: &impl FrameSource) -> Result<Profile, InliningError> {
        let asked = Asked::new(self);
        let frames = asked.ask(source);
        let programs: Vec<ProgramState> = frames.iter().map(|frames| frames.program).collect();
        let state = |object| asked.index_of(object).map_or(ProgramState::Missing, |index| programs[index]);
        let mut objects = self.objects_with_costs(state);
        if !programs.contains(&ProgramState::Usable) {
            let mut profile = self.clone();
            profile.index.inlined.objects = objects.into_iter().map(|(_, object)| object).collect();
            return Ok(profile);
        }
        let nodes = Nodes::new(self, &asked, frames);
        let mut written = Writing::new(self, &nodes).write();
        let mut profile = Loader::new().load(written.inputs);
        self.check_same_totals(&profile)?;
        for (id, object) in &mut objects {
            if let Some([unknown, moved, estimated, estimated_calls]) = written.sums.remove(id) {
                let before = std::mem::take(object);
                *object = InlinedObject { unknown, moved, estimated, estimated_calls, ..before };
            }
        }
        profile.index.inlined = inlined_calls(&profile, &nodes, &written.arcs);
        profile.index.inlined.objects = objects.into_iter().map(|(_, object)| object).collect();
        // What was found in the original stays true of its costs.
        profile.index.findings = self.index.findings.clone();
        profile.index.input_errors = self.index.input_errors.clone();
        profile.index.damage = self.index.damage.clone();
        profile.index.producers = self.index.producers.clone();
        profile.tuning = self.tuning;
        Ok(profile)
    }

    /// Returns `true` if some of its calls are inlined, so that their count is unknown.
    pub fn has_inlined_calls(&self) -> bool {
        !self.index.inlined.is_empty()
    }

    /// Returns the objects with self costs of a profile that [`Profile::with_inlined`] made, and none for any other.
    pub fn inlined_objects(&self) -> &[InlinedObject] {
        &self.index.inlined.objects
    }

    fn objects_with_costs(&self, state: impl Fn(ObjectId) -> ProgramState) -> Vec<(ObjectId, InlinedObject)> {
        let mut by_object: Vec<Option<(ObjectId, InlinedObject)>> = vec![None; self.object_count()];
        for part in self.parts() {
            let events = part.event_types();
            self.each_short_self_cost(&part, |function, costs| {
                let id = self.function(function).object;
                let (_, object) = by_object[id.index()].get_or_insert_with(|| {
                    let path = self.object(id).to_vec();
                    (id, InlinedObject { path, program: state(id), ..InlinedObject::default() })
                });
                add_nonzero(&mut object.total, events, costs);
            });
        }
        by_object.into_iter().flatten().collect()
    }

    fn check_same_totals(&self, other: &Profile) -> Result<(), InliningError> {
        if self.part_count() != other.part_count() {
            return Err(InliningError::OtherParts);
        }
        let unequal = self.parts().zip(other.parts()).position(|(part, other)| {
            part.event_types() != other.event_types() || part.totals() != other.totals()
        });
        unequal.map_or(Ok(()), |part| Err(InliningError::OtherTotals { part }))
    }
}
