//! The options of joining.

use super::join_rule::JoinRules;

/// The options of joining functions of two builds: rules, and changes to paths and names before them.
///
/// See the example of [`Comparison`](super::Comparison).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinOptions {
    /// The rules that are used.
    pub rules: JoinRules,
    /// Directories that are removed from the start of paths, before any rule.
    pub strip_prefix: Vec<Vec<u8>>,
    /// Pairs of a start of paths and its replacement; after `strip_prefix`, before any rule.
    pub map: Vec<(Vec<u8>, Vec<u8>)>,
    /// `true` if all levels of a recursion are one function.
    pub fold_recursion: bool,
    /// `true` if functions that differ only in their recorded callers are one.
    pub fold_callers: bool,
}

impl Default for JoinOptions {
    fn default() -> Self {
        JoinOptions {
            rules: JoinRules::all(),
            strip_prefix: Vec::new(),
            map: Vec::new(),
            fold_recursion: false,
            fold_callers: false,
        }
    }
}
