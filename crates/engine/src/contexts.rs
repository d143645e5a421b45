//! Functions, the contexts that code runs in, and calls from one context to another.
//!
//! A context is what the last call entered: a function on a level of recursion, as called by others, and whether its costs are collected.
//! Code is translated once for each context that it runs in, so the owner of every count is known. The stubs of calls between objects are
//! skipped: a context of theirs stands for the call.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use gristmill_profile::hash::Map;

use crate::arena::{Arena, CallCells, Depth};
use crate::choices::{Choices, Traits};
use crate::objects::{ObjectId, Objects};
use crate::symbols::{Section, shown_name};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub(crate) struct $name(pub(crate) u32);

            impl $name {
                pub(crate) fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// The number of a function.
    FunctionId;
    /// The number of a context.
    ContextId;
    /// The number of an edge.
    EdgeId;
    /// The number of a chain of callers.
    ChainId;
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) object: Option<ObjectId>,
    /// Its first address; for code without a symbol that at which it was entered first.
    pub(crate) start: u64,
    /// The name that Callgrind shows. `None` for code without a symbol.
    pub(crate) name: Option<Vec<u8>>,
    /// The count of calls that have not returned. Those on the last level are not in it, unless the engine makes the calls.
    pub(crate) active: Depth,
    /// `true` for the routine of the dynamic linker that finds a function and jumps to it.
    pub(crate) is_resolver: bool,
    /// The options that hold for it.
    pub(crate) traits: Traits,
}

/// A function as it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Running {
    pub(crate) function: FunctionId,
    /// The level of recursion, from 1.
    pub(crate) level: u32,
    pub(crate) callers: ChainId,
    /// `true` if costs are collected.
    pub(crate) collects: bool,
}

/// The kind of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Function(Running),
    /// Stubs that a context calls from an instruction, or other functions that are skipped.
    Stubs(ContextId, u64),
    /// Any code while nothing is counted and calls are not followed.
    Uncounted,
}

/// The instruction of a call, or of another branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallSite {
    pub(crate) address: u64,
    /// The start of the block that it ends; 0 if its calls from all blocks are one.
    pub(crate) block: u64,
}

impl From<u64> for CallSite {
    fn from(address: u64) -> CallSite {
        CallSite { address, block: 0 }
    }
}

/// A call, or a jump that counts as one.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) from: ContextId,
    pub(crate) site: CallSite,
    pub(crate) to: ContextId,
    /// The address that is called.
    pub(crate) target: u64,
    /// The address that it returns to. `None` for a jump.
    pub(crate) return_address: Option<u64>,
    /// `None` for calls of stubs.
    pub(crate) cells: Option<CallCells>,
    /// The code that a return goes on with.
    pub(crate) continuation: Option<u64>,
}

/// A call by what tells it from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct EdgeKey {
    from: ContextId,
    site: CallSite,
    to: ContextId,
    target: u64,
    return_address: Option<u64>,
}

/// Functions of an object that have one shown name. Those of one file are one function.
#[derive(Debug)]
struct Namesakes {
    first: FunctionId,
    /// Empty until there is a second one: to find a file takes its time.
    by_file: Map<Option<Arc<str>>, FunctionId>,
}

/// All functions, contexts and edges.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    functions: Vec<Function>,
    by_start: BTreeMap<u64, FunctionId>,
    /// Functions by their object and shown name.
    by_name: Map<(ObjectId, Vec<u8>), Namesakes>,
    kinds: Vec<Kind>,
    /// The context that each is written as.
    shown: Vec<ContextId>,
    by_kind: Map<Kind, ContextId>,
    /// Callers, the last one first. The first chain is empty.
    chains: Vec<Vec<FunctionId>>,
    by_chain: Map<Vec<FunctionId>, ChainId>,
    /// The greatest length of a chain.
    max_callers: usize,
    edges: Vec<Edge>,
    by_key: Map<EdgeKey, EdgeId>,
}

/// The callee at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callee {
    Function(FunctionId),
    Skipped(FunctionId),
    Stubs,
}

impl Contexts {
    pub(crate) fn new(max_callers: usize) -> Contexts {
        let mut contexts = Contexts { max_callers, ..Contexts::default() };
        contexts.chain(Vec::new());
        contexts
    }

    /// Returns the number of a chain of callers.
    fn chain(&mut self, callers: Vec<FunctionId>) -> ChainId {
        if let Some(known) = self.by_chain.get(&callers) {
            return *known;
        }
        let id = ChainId(self.chains.len() as u32);
        self.chains.push(callers.clone());
        self.by_chain.insert(callers, id);
        id
    }

    /// Returns the callers of a chain, the last one first.
    pub(crate) fn callers(&self, chain: ChainId) -> &[FunctionId] {
        &self.chains[chain.index()]
    }

    /// Returns the callers of what a context calls. Callgrind leaves a function out that calls itself.
    pub(crate) fn chain_below(&mut self, caller: ContextId, callee: FunctionId) -> ChainId {
        let (owner, _) = self.owner(caller);
        match self.kind(owner) {
            Kind::Function(running) if self.max_callers > 0 => {
                if running.function == callee {
                    return running.callers;
                }
                let above = self.callers(running.callers).iter().copied();
                let callers = std::iter::once(running.function).chain(above).take(self.max_callers);
                let callers = callers.collect();
                self.chain(callers)
            }
            _ => ChainId(0),
        }
    }

    /// Returns the context that a context is written as: with as many callers as options say.
    pub(crate) fn shown(&self, context: ContextId) -> ContextId {
        self.shown[context.index()]
    }

    /// Returns the same context with costs collected or not.
    pub(crate) fn with_collecting(&mut self, context: ContextId, collects: bool) -> ContextId {
        match self.kind(context) {
            Kind::Function(running) if running.collects != collects => {
                self.context(Kind::Function(Running { collects, ..running }))
            }
            Kind::Stubs(owner, site) => {
                let owner = self.with_collecting(owner, collects);
                self.context(Kind::Stubs(owner, site))
            }
            _ => context,
        }
    }

    /// Returns the function of a context, and `None` if it has none of its own.
    pub(crate) fn function_of(&self, context: ContextId) -> Option<FunctionId> {
        match self.kind(context) {
            Kind::Function(running) => Some(running.function),
            Kind::Stubs(..) | Kind::Uncounted => None,
        }
    }

    /// Notes that a thread runs the function of a context.
    pub(crate) fn enter(&self, context: ContextId, thread: u64) {
        self.set_active(context, thread, true);
    }

    /// Notes that a thread has left the function of a context.
    pub(crate) fn leave(&self, context: ContextId, thread: u64) {
        self.set_active(context, thread, false);
    }

    /// Sets the count of calls that have not returned: from the one before if the engine makes the calls, else from the level of the context.
    fn set_active(&self, context: ContextId, thread: u64, is_entered: bool) {
        let Kind::Function(Running { function, level, .. }) = self.kind(context) else { return };
        let Function { traits, active, .. } = self.function(function);
        if traits.is_watched() {
            let before = active.of(thread);
            active.set(thread, if is_entered { before + 1 } else { before.saturating_sub(1) });
        } else if !traits.is_last(level) {
            active.set(thread, u64::from(level) - u64::from(!is_entered));
        }
    }

    /// `true` if code in a context is counted.
    pub(crate) fn collects(&self, context: ContextId) -> bool {
        match self.kind(self.owner(context).0) {
            Kind::Function(running) => running.collects,
            Kind::Stubs(..) | Kind::Uncounted => false,
        }
    }

    /// Returns what is called at an address. `None` if there is no memory for another counter.
    pub(crate) fn callee(
        &mut self,
        address: u64,
        objects: &Objects,
        arena: &mut Arena,
        choices: &Choices,
    ) -> Option<Callee> {
        let place = objects.at(address);
        if choices.skips_stubs && matches!(place, Some((_, Section::Stubs))) {
            return Some(Callee::Stubs);
        }
        let symbol = objects.symbol(address);
        let start = symbol.map_or(address, |(id, symbol)| symbol.start + objects.get(id).bias);
        if let Some(known) = self.by_start.get(&start) {
            return Some(self.as_callee(*known));
        }
        let is_stub = matches!(place, Some((_, Section::Stubs)));
        let shown = symbol.map(|(id, symbol)| (id, shown_name(&symbol.name, choices.demangles)));
        let mut own_file = None;
        if let Some((namesakes, object)) =
            shown.as_ref().and_then(|shown| Some((self.by_name.get_mut(shown)?, objects.get(shown.0))))
        {
            let file = |start: u64| object.file_of_function(start - object.bias);
            if namesakes.by_file.is_empty() {
                let first = &self.functions[namesakes.first.index()];
                namesakes.by_file.insert(file(first.start), namesakes.first);
            }
            own_file = file(start);
            if let Some(known) = namesakes.by_file.get(&own_file).copied() {
                self.by_start.insert(start, known);
                return Some(self.as_callee(known));
            }
        }
        // As Callgrind, a stub is a function of no object.
        let stub_name = is_stub.then(|| format!("{address:#018x} [PLT]").into_bytes());
        let name = shown.as_ref().map(|(_, name)| name.clone()).or(stub_name);
        let is_resolver = name.as_ref().is_some_and(|name| name.starts_with(b"_dl_runtime_resolve"));
        let active = arena.depth()?;
        let object = place.filter(|_| !is_stub).map(|(id, _)| id);
        let traits = match &name {
            Some(name) if choices.has_functions() => choices.traits(name),
            _ => choices.traits(b""),
        };
        self.functions.push(Function { object, start, name, active, is_resolver, traits });
        let id = FunctionId(self.functions.len() as u32 - 1);
        self.by_start.insert(start, id);
        if let Some(shown) = shown {
            match self.by_name.entry(shown) {
                Entry::Occupied(namesakes) => drop(namesakes.into_mut().by_file.insert(own_file, id)),
                Entry::Vacant(place) => drop(place.insert(Namesakes { first: id, by_file: Map::default() })),
            }
        }
        Some(self.as_callee(id))
    }

    fn as_callee(&self, id: FunctionId) -> Callee {
        if self.function(id).traits.is_skipped { Callee::Skipped(id) } else { Callee::Function(id) }
    }

    pub(crate) fn function_count(&self) -> usize {
        self.functions.len()
    }

    pub(crate) fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub(crate) fn kind(&self, id: ContextId) -> Kind {
        self.kinds[id.index()]
    }

    /// Forgets which functions start in a range: another object may be mapped there.
    pub(crate) fn forget(&mut self, start: u64, length: u64) {
        while let Some((function, _)) = self.by_start.range(start..start + length).next() {
            let function = *function;
            self.by_start.remove(&function);
        }
    }

    /// Returns for each context its place in the order of functions and levels.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let key = |id: &u32| match self.kinds[*id as usize] {
            Kind::Function(running) => {
                let Function { object, start, .. } = self.function(running.function);
                Some((*object, *start, running.level, running.callers))
            }
            Kind::Stubs(..) | Kind::Uncounted => None,
        };
        let mut order: Vec<u32> = (0..self.kinds.len() as u32).collect();
        order.sort_by_key(key);
        let mut ranks = vec![0; order.len()];
        for (rank, id) in order.into_iter().enumerate() {
            ranks[id as usize] = rank as u32;
        }
        ranks
    }

    /// Returns the context of a kind.
    pub(crate) fn context(&mut self, kind: Kind) -> ContextId {
        if let Some(known) = self.by_kind.get(&kind) {
            return *known;
        }
        let id = ContextId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.shown.push(id);
        self.by_kind.insert(kind, id);
        if let Kind::Function(running) = kind {
            let count = self.function(running.function).traits.callers;
            let callers: Vec<FunctionId> =
                self.callers(running.callers).iter().copied().take(count).collect();
            let callers = self.chain(callers);
            // One of these is written as itself.
            self.shown[id.index()] =
                self.context(Kind::Function(Running { callers, collects: true, ..running }));
        }
        id
    }

    /// Returns the context whose costs those of a context are, and the instruction if they are all its.
    pub(crate) fn owner(&self, mut context: ContextId) -> (ContextId, Option<u64>) {
        let mut site = None;
        while let Kind::Stubs(caller, address) = self.kind(context) {
            (context, site) = (caller, Some(address));
        }
        (context, site)
    }

    /// Returns the edge of a call. `None` if there is no memory for another counter.
    pub(crate) fn edge(
        &mut self,
        from: ContextId,
        site: CallSite,
        to: ContextId,
        target: u64,
        return_address: Option<u64>,
        arena: &mut Arena,
    ) -> Option<EdgeId> {
        let key = EdgeKey { from, site, to, target, return_address };
        if let Some(known) = self.by_key.get(&key) {
            return Some(*known);
        }
        let cells = match self.kind(to) {
            Kind::Function(..) => Some(arena.call_cells()?),
            Kind::Stubs(..) | Kind::Uncounted => None,
        };
        self.edges.push(Edge { from, site, to, target, return_address, cells, continuation: None });
        let id = EdgeId(self.edges.len() as u32 - 1);
        self.by_key.insert(key, id);
        Some(id)
    }

    pub(crate) fn get(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    pub(crate) fn get_mut(&mut self, id: EdgeId) -> &mut Edge {
        &mut self.edges[id.index()]
    }

    /// Forgets the code that returns go on with.
    pub(crate) fn forget_continuations(&mut self) {
        for edge in &mut self.edges {
            edge.continuation = None;
        }
    }

    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }
}
