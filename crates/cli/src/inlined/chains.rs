//! The chains of inlined calls, each once, in the order in which they first came.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use gristmill_code::{Binary, Frame, SourceLine};
use gristmill_profile::FunctionId;
use gristmill_profile::inlining::{InlinedCall, InlinedFunction, ObjectFrames, PositionFrames, ProgramState};

/// The identity of an inlined function: the name, and the file if the name alone does not tell.
type FunctionKey = (Arc<str>, Option<usize>);

/// Chains with their functions and files.
#[derive(Debug, Default)]
pub(super) struct Chains {
    files: Vec<Arc<str>>,
    file_of: HashMap<Arc<str>, usize>,
    functions: Vec<FunctionKey>,
    function_of: HashMap<FunctionKey, usize>,
    /// By function: how often each file was that of its code.
    votes: Vec<BTreeMap<usize, u64>>,
    chains: Vec<Arc<[InlinedCall]>>,
    chain_of: HashMap<Arc<[InlinedCall]>, usize>,
    /// Files and functions by the address of their text, which is kept: a long one is not read again for each position.
    file_by_address: HashMap<usize, (usize, Arc<str>)>,
    function_by_address: HashMap<(usize, Option<usize>), (usize, Arc<str>)>,
}

/// Returns the frames at an address, the innermost first, and its line. Damaged debug information says nothing about the address.
pub(super) fn frames_at(binary: &Binary, address: u64) -> (Vec<Frame>, Option<SourceLine>) {
    let frames = binary.frames(address).unwrap_or_default();
    let known =
        frames.first().map(Frame::source).filter(|source| source.file.is_some() || source.line.is_some());
    let line = known.cloned().or_else(|| binary.line(address).unwrap_or_default());
    (frames, line)
}

/// A chain, and the file of the line at its innermost end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) chain: usize,
    pub(super) file: Option<usize>,
}

impl Chains {
    /// Takes the frames at an address, the innermost first, and its line. `None` if the debug information does not cover the
    /// address. Code of an assembler has lines, but no functions.
    pub(super) fn add(&mut self, frames: &[Frame], line: Option<&SourceLine>) -> Option<Found> {
        let file = line?.file.as_ref().map(|file| self.file(file));
        if frames.is_empty() {
            return Some(Found { chain: self.chain(Vec::new()), file });
        }
        let mut calls = Vec::with_capacity(frames.len() - 1);
        // A pair of a function and the one that it was inlined into, the outermost first.
        for pair in frames.windows(2).rev() {
            let [inlined, into] = pair else { continue };
            // Code without a name stays with what it is inlined into.
            let Some(name) = inlined.shared_function() else { continue };
            let of_code = inlined.source().file.as_ref().map(|file| self.file(file));
            let callee = self.function(name, of_code);
            if let Some(file) = of_code {
                *self.votes[callee].entry(file).or_default() += 1;
            }
            let file = into.source().file.as_ref().map(|file| self.file(file));
            calls.push(InlinedCall { callee, file, line: into.source().line.map(u64::from) });
        }
        Some(Found { chain: self.chain(calls), file })
    }

    fn file(&mut self, path: &Arc<str>) -> usize {
        let by_address = Arc::as_ptr(path).addr();
        if let Some((file, _)) = self.file_by_address.get(&by_address) {
            return *file;
        }
        // Units of one program spell a path in several ways: `./elf/./rtld.c` and `./elf/rtld.c`.
        let mut folded = Arc::clone(path);
        while folded.contains("/./") {
            folded = folded.replace("/./", "/").into();
        }
        let next = self.files.len();
        let file = *self.file_of.entry(Arc::clone(&folded)).or_insert(next);
        if file == next {
            self.files.push(folded);
        }
        self.file_by_address.insert(by_address, (file, Arc::clone(path)));
        file
    }

    fn function(&mut self, name: &Arc<str>, file: Option<usize>) -> usize {
        let by_address = (Arc::as_ptr(name).addr(), file);
        if let Some((function, _)) = self.function_by_address.get(&by_address) {
            return *function;
        }
        let key = (Arc::clone(name), file.filter(|_| !is_unique(name)));
        let next = self.functions.len();
        let function = *self.function_of.entry(key.clone()).or_insert(next);
        if function == next {
            self.functions.push(key);
            self.votes.push(BTreeMap::new());
        }
        self.function_by_address.insert(by_address, (function, Arc::clone(name)));
        function
    }

    fn chain(&mut self, calls: Vec<InlinedCall>) -> usize {
        if let Some(&known) = self.chain_of.get(&calls[..]) {
            return known;
        }
        let calls: Arc<[InlinedCall]> = calls.into();
        self.chains.push(Arc::clone(&calls));
        self.chain_of.insert(calls, self.chains.len() - 1);
        self.chains.len() - 1
    }

    /// Adds other chains after its own. Returns a map from what was found in the others.
    pub(super) fn append(&mut self, other: Chains) -> impl Fn(Found) -> Found + use<> {
        let files: Vec<usize> = other.files.iter().map(|file| self.file(file)).collect();
        let renumbered = |file: Option<usize>| file.map(|file| files[file]);
        let functions: Vec<usize> =
            other.functions.iter().map(|(name, file)| self.function(name, renumbered(*file))).collect();
        for (&function, votes) in functions.iter().zip(other.votes) {
            for (file, count) in votes {
                *self.votes[function].entry(files[file]).or_default() += count;
            }
        }
        let call = |call: InlinedCall| InlinedCall {
            callee: functions[call.callee],
            file: renumbered(call.file),
            line: call.line,
        };
        let chains: Vec<usize> =
            other.chains.iter().map(|calls| self.chain(calls.iter().cloned().map(call).collect())).collect();
        move |found| Found { chain: chains[found.chain], file: found.file.map(|file| files[file]) }
    }

    /// Makes the answer. `compiled` has the functions of the profile by the name in the program.
    pub(super) fn finish(
        self,
        compiled: &HashMap<Vec<u8>, FunctionId>,
        positions: Vec<Vec<PositionFrames>>,
    ) -> ObjectFrames {
        let file_of = |votes: &BTreeMap<usize, u64>| {
            // The first of those with the most votes.
            votes.iter().rev().max_by_key(|&(_, votes)| votes).map(|(&file, _)| file)
        };
        let functions = self.functions.iter().zip(&self.votes).map(|((name, file), votes)| InlinedFunction {
            name: name.as_bytes().to_vec(),
            file: file.or_else(|| file_of(votes)),
            compiled: compiled.get(name.as_bytes()).copied().filter(|_| is_unique(name)),
        });
        ObjectFrames {
            program: ProgramState::Usable,
            functions: functions.collect(),
            files: self.files.iter().map(|file| file.as_bytes().to_vec()).collect(),
            chains: self.chains.iter().map(|calls| calls.to_vec()).collect(),
            positions,
        }
    }
}

/// Returns `true` if a name tells a function without its file: a mangled one that is not local to its file.
fn is_unique(name: &str) -> bool {
    let is_mangled = name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("__Z");
    is_mangled && !name.starts_with("_ZL") && !name.contains("12_GLOBAL__N_1")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Chains, is_unique};

    #[test]
    fn one_file_has_several_spellings() {
        let mut chains = Chains::default();
        let of = ["./elf/rtld.c", "./elf/./rtld.c", "./elf/././rtld.c", "elf.c"]
            .map(|path| chains.file(&Arc::from(path)));
        assert_eq!(of, [0, 0, 0, 1]);
    }

    #[test]
    fn local_names_do_not_tell_a_function() {
        assert!(is_unique("_ZN5Wheel4turnEv") && is_unique("_RNvC4mill4main"));
        for local in ["turn", "_ZL4turnv", "_ZN12_GLOBAL__N_14turnEv"] {
            assert!(!is_unique(local), "{local}");
        }
    }
}
