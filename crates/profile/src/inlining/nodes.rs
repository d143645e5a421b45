//! The functions of the new profile: those of the original, and inlined ones.

use gristmill_format::{FunctionName, NameSpace};

use super::names::{ObjectNames, is_unique, writable};
use super::paths::{FilesByEnd, UNKNOWN_FILE, known_files};
use super::positions::{Asked, FunctionPositions, PositionKey};
use super::{InlinedFunction, ObjectFrames, PositionFrames, ProgramState};
use crate::hash::Map;
use crate::id::{FileId, FunctionId, ObjectId, narrow};
use crate::index::functions::FunctionKey;
use crate::profile::Profile;
use crate::symbol::Chains;

/// An index of a function of the new profile. Those of the original come first.
pub(super) type Node = u32;

/// An index of a file of the new profile. Those of the original come first.
pub(super) type NodeFile = u32;

/// A function that the original does not have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct NewFunction {
    object: ObjectId,
    file: NodeFile,
    name: Vec<u8>,
}

/// The functions and files of the new profile, and the frames at all positions of the original.
pub(super) struct Nodes<'p> {
    profile: &'p Profile,
    new_functions: Vec<NewFunction>,
    known_functions: Map<NewFunction, Node>,
    new_files: Vec<Vec<u8>>,
    known_files: Map<Vec<u8>, NodeFile>,
    /// By object that was asked for.
    frames: Vec<ObjectFrames>,
    /// By object that was asked for, by file of the source.
    files: Vec<Vec<NodeFile>>,
    /// By function of the original that has frames.
    functions: Map<FunctionId, FunctionFrames<'p>>,
}

/// A call to an inlined function: its callee, and the line of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) callee: Node,
    pub(super) file: NodeFile,
    pub(super) line: Option<u64>,
}

/// The frames at the positions of a function.
pub(super) struct FunctionFrames<'p> {
    /// Index of its object among those that were asked for.
    object: usize,
    /// Index of the function among those of its object.
    function: usize,
    /// Its own file.
    file: NodeFile,
    positions: &'p [PositionKey],
    /// The inlined functions as functions of the new profile, by their index in the frames; those that it does not have
    /// are `None`.
    callees: Vec<Option<Node>>,
}

impl<'p> Nodes<'p> {
    /// Gives each inlined function a function of the new profile.
    pub(super) fn new(profile: &'p Profile, asked: &'p Asked<'p>, frames: Vec<ObjectFrames>) -> Self {
        let mut nodes = Nodes {
            profile,
            new_functions: Vec::new(),
            known_functions: Map::default(),
            new_files: Vec::new(),
            known_files: Map::default(),
            files: Vec::new(),
            functions: Map::default(),
            frames,
        };
        let chains = Chains::new(profile.functions().map(|id| profile.function(id).name));
        let by_end = FilesByEnd::new(profile);
        let is_usable = |object| {
            asked.index_of(object).is_some_and(|index| nodes.frames[index].program == ProgramState::Usable)
        };
        let names = ObjectNames::of_objects(profile, is_usable);
        for (index, (object, functions)) in asked.objects.iter().enumerate() {
            let known = match nodes.frames[index].program == ProgramState::Usable {
                true => known_files(profile, functions, &nodes.frames[index], &by_end),
                false => Vec::new(),
            };
            let files = (0..known.len()).map(|file| nodes.file_node(index, file, known[file])).collect();
            nodes.files.push(files);
            if let Some(names) =
                names.get(object).filter(|_| nodes.frames[index].program == ProgramState::Usable)
            {
                nodes.add_object(index, *object, functions, names, chains.longest());
            }
        }
        nodes
    }

    fn file_node(&mut self, object: usize, file: usize, known: Option<FileId>) -> NodeFile {
        match known {
            Some(file) => file.to_u32(),
            None => {
                let path = writable(&self.frames[object].files[file]);
                self.file_of_path(&path)
            }
        }
    }

    fn file_of_path(&mut self, path: &[u8]) -> NodeFile {
        let known = self.profile.index.names[NameSpace::File].get(path, &self.profile.texts());
        if let Some(known) = known {
            return known.to_u32();
        }
        let next = narrow(self.profile.file_count() + self.new_files.len());
        let node = *self.known_files.entry(path.to_vec()).or_insert(next);
        if node == next {
            self.new_files.push(path.to_vec());
        }
        node
    }

    fn add_object(
        &mut self,
        index: usize,
        object: ObjectId,
        functions: &'p [FunctionPositions],
        names: &ObjectNames,
        longest: usize,
    ) {
        // Base name and file of each inlined function.
        let inlined = self.frames[index].functions.clone();
        let bases: Vec<(Vec<u8>, NodeFile)> =
            inlined.iter().map(|function| self.base(index, function, names)).collect();
        let mut by_suffix: Map<Vec<u8>, Vec<Option<Node>>> = Map::default();
        for (of_object, function) in functions.iter().enumerate() {
            let suffix = suffix(self.profile.function(function.function).name, longest);
            let mut callees = by_suffix.remove(&suffix).unwrap_or_else(|| vec![None; bases.len()]);
            for callee in self.callees_of(index, of_object) {
                if callees[callee].is_none() {
                    let (base, file) = &bases[callee];
                    let name = [&base[..], &suffix].concat();
                    callees[callee] = Some(self.node(NewFunction { object, file: *file, name }));
                }
            }
            let positions = &function.positions[..];
            by_suffix.insert(suffix, callees.clone());
            let file = self.profile.function(function.function).file.to_u32();
            let frames = FunctionFrames { object: index, function: of_object, file, positions, callees };
            self.functions.insert(function.function, frames);
        }
    }

    /// Returns the inlined functions in the chains of a function.
    fn callees_of(&self, object: usize, function: usize) -> Vec<usize> {
        let frames = &self.frames[object];
        let mut chains: Vec<usize> = Vec::new();
        for position in &frames.positions[function] {
            match position {
                PositionFrames::Unknown => {}
                PositionFrames::Exact { chain, .. } => chains.push(*chain),
                PositionFrames::Several { chains: several, .. } => {
                    chains.extend(several.iter().map(|&(chain, _)| chain));
                }
            }
        }
        chains.sort_unstable();
        chains.dedup();
        let mut callees: Vec<usize> =
            chains.iter().flat_map(|&chain| frames.chains[chain].iter().map(|call| call.callee)).collect();
        callees.sort_unstable();
        callees.dedup();
        callees
    }

    /// Returns the name and the file of an inlined function, without level and callers.
    fn base(
        &mut self,
        object: usize,
        function: &InlinedFunction,
        names: &ObjectNames,
    ) -> (Vec<u8>, NodeFile) {
        let file = function.file.map(|file| self.files[object][file]);
        if let Some(same) = function.compiled.or_else(|| self.same(&function.name, file, names)) {
            let same = self.profile.function(same);
            return (FunctionName::parse(same.name).base().to_vec(), same.file.to_u32());
        }
        let file = file.unwrap_or_else(|| self.file_of_path(UNKNOWN_FILE));
        (names.spell(&function.name), file)
    }

    /// Returns the function of the profile that has the name of an inlined one and is the same.
    fn same(&self, name: &[u8], file: Option<NodeFile>, names: &ObjectNames) -> Option<FunctionId> {
        let found = names.find(name);
        let in_file = |id: &&FunctionId| Some(self.profile.function(**id).file.to_u32()) == file;
        if let Some(same) = found.iter().find(in_file) {
            return Some(*same);
        }
        // A mangled name tells its function, so the file may be another: that of a macro, or one spelled otherwise.
        let first = found.first()?;
        let file_of = |id: &FunctionId| self.profile.function(*id).file;
        let has_one_file = found.iter().all(|id| file_of(id) == file_of(first));
        (is_unique(name) && has_one_file).then_some(*first)
    }

    fn node(&mut self, function: NewFunction) -> Node {
        let profile = self.profile;
        let name = profile.index.names[NameSpace::Function].get(&function.name, &profile.texts());
        let is_known_file = (function.file as usize) < profile.file_count();
        if let Some(name) = name.filter(|_| is_known_file) {
            let key = FunctionKey { object: function.object, file: FileId::from_u32(function.file), name };
            if let Some(known) = profile.index.functions.find(key) {
                return known.to_u32();
            }
        }
        let next = narrow(profile.function_count() + self.new_functions.len());
        let node = *self.known_functions.entry(function.clone()).or_insert(next);
        if node == next {
            self.new_functions.push(function);
        }
        node
    }

    /// Returns how many functions the new profile has.
    pub(super) fn len(&self) -> usize {
        self.profile.function_count() + self.new_functions.len()
    }

    /// Returns how many files the new profile names.
    pub(super) fn file_count(&self) -> usize {
        self.profile.file_count() + self.new_files.len()
    }

    /// Returns object, file and name of a function.
    pub(super) fn key(&self, node: Node) -> (ObjectId, NodeFile, &[u8]) {
        match (node as usize).checked_sub(self.profile.function_count()) {
            None => {
                let function = self.profile.function(FunctionId::from_u32(node));
                (function.object, function.file.to_u32(), function.name)
            }
            Some(new) => {
                let NewFunction { object, file, name } = &self.new_functions[new];
                (*object, *file, name)
            }
        }
    }

    /// Returns the path of an object.
    pub(super) fn object(&self, object: ObjectId) -> &'p [u8] {
        self.profile.object(object)
    }

    /// Returns the path of a file.
    pub(super) fn file(&self, file: NodeFile) -> &[u8] {
        match (file as usize).checked_sub(self.profile.file_count()) {
            None => self.profile.file(FileId::from_u32(file)),
            Some(new) => &self.new_files[new],
        }
    }

    /// Returns the frames of a function. `None` if its object is not usable.
    pub(super) fn of_function(&self, function: FunctionId) -> Option<&FunctionFrames<'p>> {
        self.functions.get(&function)
    }

    /// Returns the frames at a position of a function.
    pub(super) fn at(&self, function: &FunctionFrames<'p>, position: PositionKey) -> Option<&PositionFrames> {
        let index = function.positions.binary_search(&position).ok()?;
        Some(&self.frames[function.object].positions[function.function][index])
    }

    /// Returns the inlined calls of a chain in a function, the outermost first.
    pub(super) fn steps(&self, function: &FunctionFrames<'p>, chain: usize) -> Vec<Step> {
        let files = &self.files[function.object];
        let mut caller_file = function.file;
        let calls = &self.frames[function.object].chains[chain];
        calls
            .iter()
            .filter_map(|call| {
                let callee = function.callees[call.callee]?;
                let file = call.file.map_or(caller_file, |file| files[file]);
                caller_file = self.key(callee).1;
                Some(Step { callee, file, line: call.line })
            })
            .collect()
    }
}

/// Returns what follows the names of the functions that are inlined into a function: the level of its recursion, or with
/// recorded callers the function itself and its callers.
fn suffix(name: &[u8], longest: usize) -> Vec<u8> {
    let parts = FunctionName::parse(name);
    let mut level = Vec::new();
    if let Some(recursion) = parts.recursion() {
        level = format!("'{recursion}").into_bytes();
    }
    if longest == 0 {
        return level;
    }
    let mut suffix = b"'".to_vec();
    suffix.extend_from_slice(parts.base());
    suffix.extend_from_slice(&level);
    let mut count = 1;
    for caller in parts.callers() {
        // The level of a caller is a part of its own.
        let is_level = !caller.is_empty() && caller.iter().all(u8::is_ascii_digit);
        count += usize::from(!is_level);
        if count > longest {
            break;
        }
        suffix.push(b'\'');
        suffix.extend_from_slice(caller);
    }
    suffix
}
