//! Options about functions by their names: how they are distinguished, and the effects of entering and leaving them.

/// An option about some functions. See the example of [`Choices`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Collecting begins or ends when the function is entered, and again when it is left.
    ToggleCollect,
    /// A part of the profile is written before the function is entered.
    DumpBefore,
    /// A part of the profile is written when the function was left.
    DumpAfter,
    /// All costs are 0 when the function was entered.
    ZeroBefore,
    /// The costs of the function are those of the call.
    Skip,
    /// The function is distinguished by this many callers.
    Callers(u32),
    /// The function is distinguished by this many levels of recursion.
    Levels(u32),
}

/// Options about functions.
///
/// ```
/// use gristmill_engine::{Choice, Choices};
///
/// // One caller tells functions apart, two of them `malloc`, and a part ends behind each `step`.
/// let functions = vec![(b"malloc".to_vec(), Choice::Callers(2)), (b"step*".to_vec(), Choice::DumpAfter)];
/// let choices = Choices { callers: 1, functions, ..Choices::default() };
/// assert!(choices.skips_stubs);
/// ```
#[derive(Debug, Clone)]
pub struct Choices {
    /// `true` if the costs of stubs for calls between objects are those of the call.
    pub skips_stubs: bool,
    /// `true` if names are demangled.
    pub demangles: bool,
    /// The count of callers that functions are distinguished by.
    pub callers: u32,
    /// The count of levels of recursion that functions are distinguished by.
    pub levels: u32,
    /// Options about functions by their shown names, where `*` is any text and `?` any byte. The last one holds.
    pub functions: Vec<(Vec<u8>, Choice)>,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices { skips_stubs: true, demangles: true, callers: 0, levels: 2, functions: Vec::new() }
    }
}

impl Choices {
    /// `true` if names of functions matter.
    pub(crate) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// `true` if entering a function switches collecting.
    pub(crate) fn toggles(&self) -> bool {
        self.functions.iter().any(|(_, choice)| *choice == Choice::ToggleCollect)
    }

    /// Returns the longest chain of callers that is shown.
    pub(crate) fn max_callers(&self) -> usize {
        let of_functions = self.functions.iter().filter_map(|(_, choice)| match choice {
            Choice::Callers(count) => Some(*count),
            _ => None,
        });
        of_functions.fold(self.callers, u32::max) as usize
    }

    /// Returns what is said of a function.
    pub(crate) fn traits(&self, name: &[u8]) -> Traits {
        let mut traits = Traits {
            levels: self.levels.max(1),
            callers: self.callers as usize,
            is_skipped: false,
            toggles: false,
            dumps_before: false,
            dumps_after: false,
            zeroes: false,
        };
        for (_, choice) in self.functions.iter().filter(|(pattern, _)| matches(pattern, name)) {
            match choice {
                Choice::ToggleCollect => traits.toggles = true,
                Choice::DumpBefore => traits.dumps_before = true,
                Choice::DumpAfter => traits.dumps_after = true,
                Choice::ZeroBefore => traits.zeroes = true,
                Choice::Skip => traits.is_skipped = true,
                Choice::Callers(count) => traits.callers = *count as usize,
                Choice::Levels(count) => traits.levels = (*count).max(1),
            }
        }
        traits
    }
}

/// The choices that hold for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits {
    pub(crate) levels: u32,
    /// The count of callers that it is shown with.
    pub(crate) callers: usize,
    pub(crate) is_skipped: bool,
    pub(crate) toggles: bool,
    pub(crate) dumps_before: bool,
    pub(crate) dumps_after: bool,
    pub(crate) zeroes: bool,
}

/// Levels of recursion that translated code distinguishes by itself.
const MAX_FAST_LEVELS: u32 = 8;

impl Traits {
    /// `true` if the engine enters and leaves the function, and not translated code.
    pub(crate) fn is_watched(&self) -> bool {
        self.toggles || self.dumps_before || self.dumps_after || self.zeroes || self.levels > MAX_FAST_LEVELS
    }

    /// `true` if all deeper calls are on the same level.
    pub(crate) fn is_last(&self, level: u32) -> bool {
        level >= self.levels
    }
}

/// `true` if a pattern matches a whole name.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // The last `*`, and where it ends to match.
    let (mut at, mut index, mut star) = (0, 0, None);
    while index < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, index));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[index] => {
                at += 1;
                index += 1;
            }
            _ => match star {
                Some((behind, taken)) => {
                    star = Some((behind, taken + 1));
                    (at, index) = (behind, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("main", "main", true),
            ("main", "main2", false),
            ("mai", "main", false),
            ("ma?n", "main", true),
            ("*::f(*)", "a::b::f(int)", true),
            ("*::f(*)", "a::b::g(int)", false),
            ("*aab", "aaaab", true),
            ("*", "", true),
            ("?", "", false),
            ("a*b*", "axxbyy", true),
            ("a*b*c", "axxbyy", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_last_choice_holds() {
        let functions = vec![
            (b"f*".to_vec(), Choice::Callers(3)),
            (b"fib".to_vec(), Choice::Callers(1)),
            (b"f*".to_vec(), Choice::Levels(20)),
        ];
        let choices = Choices { functions, ..Choices::default() };
        assert_eq!((choices.traits(b"fib").callers, choices.traits(b"foo").callers), (1, 3));
        assert_eq!((choices.traits(b"g").callers, choices.max_callers()), (0, 3));
        assert!(choices.traits(b"fib").is_watched() && !choices.traits(b"g").is_watched());
    }
}
