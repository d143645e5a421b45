//! Subjects: functions of a profile, or several folded into one.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use gristmill_profile::analysis::{CallGraph, NodeId, Partition};
use gristmill_profile::ordered::OrderedKey;
use gristmill_profile::symbol::{Symbol, fold_callers, fold_recursion};
use gristmill_profile::{FileId, FunctionId, ObjectId, Profile};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::options::ViewOptions;

/// A subject of a [`View`](crate::View), made by the view alone.
///
/// It is stable: two views of the same profile with the same folding have the same ids, whatever else they show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectId(pub(super) NodeId);

impl Serialize for SubjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.index().serialize(serializer)
    }
}

impl JsonSchema for SubjectId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SubjectId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        u32::json_schema(generator)
    }
}

impl OrderedKey for SubjectId {
    const BITS: u32 = u32::BITS;

    fn ordinal(self) -> u128 {
        self.0.ordinal()
    }
}

impl SubjectId {
    /// Returns the index among the subjects of the view, from 0.
    pub fn index(self) -> usize {
        self.0.index()
    }

    /// Returns the node of the view's call graph.
    pub fn node(self) -> NodeId {
        self.0
    }
}

/// The end of a recorded name that the demangled name leaves out, if there is one. Few names have it, so it is small.
pub(crate) type LeftOut = Option<Box<str>>;

/// A function as a view shows it: one recorded function, or several folded into one. See the example of
/// [`View`](crate::View).
#[derive(Clone, Copy)]
pub struct Subject<'v> {
    id: SubjectId,
    recorded: &'v [u8],
    names: &'v NameCache,
    /// Its source file.
    pub file: FileId,
    /// Its object.
    pub object: ObjectId,
}

impl<'v> Subject<'v> {
    /// Returns the name as the files have it, mangled or not.
    pub(crate) fn recorded(&self) -> &'v [u8] {
        self.recorded
    }

    /// Returns the end of the recorded name that the demangled name leaves out.
    pub(crate) fn left_out(&self) -> LeftOut {
        let left_out = self.left_out_text();
        (!left_out.is_empty()).then(|| left_out.into())
    }

    /// Returns the same as text; empty if there is none.
    pub(crate) fn left_out_text(&self) -> &'v str {
        Symbol::left_out_of(self.recorded)
    }

    /// Returns the demangled name. It may hold any character; see [`printable`](gristmill_output::printable).
    pub fn name(&self) -> &'v str {
        self.names.get(self.id.index()).get_or_init(|| Symbol::parse(self.recorded).shown().into())
    }
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subject").field(&self.id).field(&self.name()).finish()
    }
}

/// All subjects of a view.
#[derive(Debug)]
pub(super) struct Subjects {
    names: NameCache,
    /// `None` if each function is its own subject.
    folding: Option<Folding>,
}

/// Functions folded into subjects.
#[derive(Debug)]
struct Folding {
    partition: Partition,
    /// By subject: the first function, and the folded name if it differs from that function's name.
    subjects: Vec<(FunctionId, Option<Box<[u8]>>)>,
}

impl Subjects {
    /// Folds functions as the options say.
    pub(super) fn new(profile: &Profile, options: &ViewOptions) -> Self {
        let is_folded = options.fold_recursion || options.fold_callers;
        let folding = is_folded.then(|| Folding::new(profile, options));
        let count = folding.as_ref().map_or(profile.function_count(), |folding| folding.subjects.len());
        Subjects { names: NameCache::new(count), folding }
    }

    /// The partition of functions. `None` if each function is its own subject.
    pub(super) fn partition(&self) -> Option<&Partition> {
        self.folding.as_ref().map(|folding| &folding.partition)
    }

    /// The subject that a function was folded into. `graph` is that of the subjects.
    pub(super) fn subject_of(&self, function: FunctionId, graph: &CallGraph) -> SubjectId {
        SubjectId(match self.partition() {
            None => graph.node_of(function),
            Some(partition) => partition.group_at(function.index()),
        })
    }

    /// The functions that a subject stands for.
    pub(super) fn functions_of(
        &self,
        subject: SubjectId,
        profile: &Profile,
        graph: &CallGraph,
    ) -> Vec<FunctionId> {
        match self.partition() {
            None => vec![graph.function_of(subject.node())],
            Some(partition) => {
                let groups = profile.functions().zip(partition.groups());
                groups.filter(|(_, group)| *group == subject.node()).map(|(function, _)| function).collect()
            }
        }
    }

    /// The function of a subject, or the first one that was folded into it.
    fn first_function(&self, graph: &CallGraph, id: SubjectId) -> FunctionId {
        self.folding
            .as_ref()
            .map_or_else(|| graph.function_of(id.node()), |folding| folding.subjects[id.index()].0)
    }

    /// The source file and the object of a subject.
    pub(super) fn paths(&self, profile: &Profile, graph: &CallGraph, id: SubjectId) -> (FileId, ObjectId) {
        profile.paths_of(self.first_function(graph, id))
    }

    pub(super) fn get<'v>(&'v self, profile: &'v Profile, graph: &CallGraph, id: SubjectId) -> Subject<'v> {
        let folding = self.folding.as_ref();
        let folded_name = folding.and_then(|folding| folding.subjects[id.index()].1.as_deref());
        let function = profile.function(self.first_function(graph, id));
        Subject {
            id,
            recorded: folded_name.unwrap_or(function.name),
            names: &self.names,
            file: function.file,
            object: function.object,
        }
    }
}

impl Folding {
    fn new(profile: &Profile, options: &ViewOptions) -> Self {
        let folded_name = |name| -> Cow<'_, [u8]> {
            let name = if options.fold_callers { fold_callers(name) } else { name };
            if options.fold_recursion { fold_recursion(name) } else { Cow::Borrowed(name) }
        };
        let keys = profile.functions().map(|id| {
            let function = profile.function(id);
            (function.object, function.file, folded_name(function.name))
        });
        let partition = Partition::from_keys(keys);
        let mut subjects: Vec<(FunctionId, Option<Box<[u8]>>)> = Vec::with_capacity(partition.group_count());
        for (function, group) in profile.functions().zip(partition.groups()) {
            // Groups are numbered in the order of their first functions.
            if group.index() == subjects.len() {
                let recorded = profile.function(function).name;
                let name = folded_name(recorded);
                subjects.push((function, (*name != *recorded).then(|| name.into())));
            }
        }
        Folding { partition, subjects }
    }
}

/// Names, each made when first asked for: most are never shown, and to demangle one takes longer than to load it.
struct NameCache {
    /// Slots are made in chunks, so that those of a large profile take no time when the view is made.
    chunks: Vec<OnceLock<Box<[NameSlot; CHUNK_NAMES]>>>,
}

type NameSlot = OnceLock<Box<str>>;

const CHUNK_NAMES: usize = 64;

impl NameCache {
    fn new(count: usize) -> Self {
        let mut chunks = Vec::new();
        chunks.resize_with(count.div_ceil(CHUNK_NAMES), OnceLock::new);
        NameCache { chunks }
    }

    fn get(&self, index: usize) -> &NameSlot {
        let chunk = &self.chunks[index / CHUNK_NAMES];
        &chunk.get_or_init(|| Box::new([const { OnceLock::new() }; CHUNK_NAMES]))[index % CHUNK_NAMES]
    }
}

impl fmt::Debug for NameCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameCache").finish_non_exhaustive()
    }
}
