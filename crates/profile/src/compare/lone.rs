//! The names of one profile alone, as a comparison would take them.

use super::names::normal_name;
use super::paths::{normal_path, without_prefix};
use super::rules::RuleSet;

/// The source file and the name of a function without what differs from build to build, for whoever keeps them to
/// compare later. Paths below one of the directories begin there.
///
/// ```
/// use gristmill_profile::compare::{RuleSet, normal_function};
///
/// let directories = [b"/home/me/mill".to_vec()];
/// let function = (&b"/home/me/mill/src/./grind.rs"[..], &b"mill::grind::h0123456789abcdef"[..]);
/// let (file, name) = normal_function(function.0, function.1, &directories, RuleSet::all());
/// assert_eq!((file.as_str(), name.as_str()), ("src/grind.rs", "mill::grind"));
/// ```
pub fn normal_function(
    file: &[u8],
    name: &[u8],
    directories: &[Vec<u8>],
    rules: RuleSet,
) -> (String, String) {
    let file = String::from_utf8_lossy(without_prefix(file, directories).unwrap_or(file));
    let (file, _) = normal_path(&file, rules, &[]);
    let name = normal_name(name, rules, &[]);
    (file, String::from_utf8_lossy(&name.text).into_owned())
}
