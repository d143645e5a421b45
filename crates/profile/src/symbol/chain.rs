//! The callers that names tell, for all functions of a profile.

use std::collections::HashMap;

use gristmill_format::FunctionName;

use crate::id::FunctionId;
use crate::symbol::is_level;

/// Chains of callers from names such as `f'a'main`, with a number for each name that is in one.
///
/// The numbers count these names, and not the functions of the profile: `a` may be there as `a'main` and `a'b` only.
/// They are what [`CallTree::of_chains`](crate::analysis::CallTree::of_chains) takes.
///
/// ```
/// use gristmill_profile::FunctionId;
/// use gristmill_profile::symbol::Chains;
///
/// let chains = Chains::of([&b"f'2'a'main"[..], b"main"]);
/// let names = |function| -> Vec<&[u8]> {
///     chains.of_function(FunctionId::new(function)).iter().map(|&name| chains.name(name)).collect()
/// };
/// assert_eq!(names(0), [&b"main"[..], b"a", b"f'2"]);
/// assert_eq!(names(1), [b"main"]);
/// assert_eq!(chains.longest(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chains {
    names: Vec<Vec<u8>>,
    /// The chains one after the other, and where each ends.
    links: Vec<FunctionId>,
    ends: Vec<usize>,
    longest: usize,
}

impl Chains {
    /// Takes the names of all functions apart, in the order of the functions.
    pub fn of<'a>(functions: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut chains = Chains { names: Vec::new(), links: Vec::new(), ends: Vec::new(), longest: 0 };
        let mut numbers: HashMap<Vec<u8>, FunctionId> = HashMap::new();
        for function in functions {
            let start = chains.links.len();
            let mut link = |name: Vec<u8>| {
                let number = *numbers.entry(name).or_insert_with_key(|name| {
                    chains.names.push(name.clone());
                    FunctionId::new(chains.names.len() - 1)
                });
                chains.links.push(number);
            };
            let parts = FunctionName::parse(function);
            let mut name = parts.base().to_vec();
            if let Some(level) = parts.recursion() {
                name.extend_from_slice(format!("'{level}").as_bytes());
            }
            for piece in parts.callers() {
                // The level of a caller is a piece of its own.
                if is_level(piece) {
                    name.push(b'\'');
                    name.extend_from_slice(piece);
                } else {
                    link(std::mem::replace(&mut name, piece.to_vec()));
                }
            }
            link(name);
            chains.links[start..].reverse();
            chains.longest = chains.longest.max(chains.links.len() - start - 1);
            chains.ends.push(chains.links.len());
        }
        chains
    }

    /// The callers of a function as far as its name tells them, the farthest first, and the function itself at last.
    pub fn of_function(&self, function: FunctionId) -> &[FunctionId] {
        let start = function.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.links[start..self.ends[function.index()]]
    }

    /// The name with this number, with its level of recursion if it has one.
    pub fn name(&self, number: FunctionId) -> &[u8] {
        &self.names[number.index()]
    }

    /// How many callers there are in the name that has most. Without any, names tell nothing of callers.
    pub fn longest(&self) -> usize {
        self.longest
    }
}
