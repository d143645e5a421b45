//! The callers in the names of functions.

use std::collections::HashMap;

use gristmill_format::FunctionName;

use crate::id::{FunctionId, narrow};
use crate::symbol::is_level;

/// `true` if a name contains callers.
pub(crate) fn has_callers(name: &[u8]) -> bool {
    // Most names have no quote, and this is the quicker look.
    name.contains(&b'\'') && FunctionName::parse(name).callers().any(|part| !is_level(part))
}

/// A name in [`Chains`]: that of a function, or of a caller in the name of one. See the example of [`Chains`].
///
/// Such a name need not be a function of the profile: `a` may be there as `a'main` and `a'b` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainName(u32);

impl ChainName {
    /// Returns the index of the name, from 0 in the order in which the names first come.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The chains of callers in names such as `f'a'main`, for all functions of a profile.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::symbol::Chains;
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=f'2'a'main\n1 1\nfn=main\n1 1\n".to_vec());
/// let chains = Chains::new(profile.functions().map(|id| profile.function(id).name));
/// let names = |function| -> Vec<&[u8]> {
///     chains.of_function(function).iter().map(|&name| chains.name(name)).collect()
/// };
/// let functions: Vec<_> = profile.functions().collect();
/// assert_eq!(names(functions[0]), [&b"main"[..], b"a", b"f'2"]);
/// assert_eq!(names(functions[1]), [b"main"]);
/// assert_eq!(chains.longest(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chains {
    names: Vec<Vec<u8>>,
    /// The chains one after the other.
    links: Vec<ChainName>,
    /// By function: the end of its chain among the links.
    ends: Vec<usize>,
    longest: usize,
}

impl Chains {
    /// Takes the names of all functions apart, in the order of the functions.
    pub fn new<'a>(functions: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut chains = Chains { names: Vec::new(), links: Vec::new(), ends: Vec::new(), longest: 0 };
        let mut known: HashMap<Vec<u8>, ChainName> = HashMap::new();
        for function in functions {
            let start = chains.links.len();
            let mut link = |name: Vec<u8>| {
                let name = *known.entry(name).or_insert_with_key(|name| {
                    chains.names.push(name.clone());
                    ChainName(narrow(chains.names.len() - 1))
                });
                chains.links.push(name);
            };
            let parts = FunctionName::parse(function);
            let mut name = parts.base().to_vec();
            if let Some(level) = parts.recursion() {
                name.extend_from_slice(format!("'{level}").as_bytes());
            }
            for part in parts.callers() {
                // The level of a caller is a part of its own.
                if is_level(part) {
                    name.push(b'\'');
                    name.extend_from_slice(part);
                } else {
                    link(std::mem::replace(&mut name, part.to_vec()));
                }
            }
            link(name);
            chains.links[start..].reverse();
            chains.longest = chains.longest.max(chains.links.len() - start - 1);
            chains.ends.push(chains.links.len());
        }
        chains
    }

    /// Returns the callers in the name of a function, the farthest first, and the function itself as the last one.
    pub fn of_function(&self, function: FunctionId) -> &[ChainName] {
        let start = function.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.links[start..self.ends[function.index()]]
    }

    /// Returns a name, with its level of recursion if it has one.
    pub fn name(&self, name: ChainName) -> &[u8] {
        &self.names[name.index()]
    }

    /// Returns the greatest count of callers in a name. It is 0 if names have no callers.
    pub fn longest(&self) -> usize {
        self.longest
    }
}
