//! Programs as reports see them: instructions, source lines and inlined functions by the addresses of a profile.
//!
//! A report asks [`Programs`] for the program of an object. It shows the evidence that the profile has, so that the answer
//! can say whether the program is the one that was recorded.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use gristmill_output::{percent, printable};
use gristmill_profile::{FunctionId, Profile, Selection};

/// A finder of the programs that a profile names.
///
/// ```
/// use std::ops::Range;
/// use std::rc::Rc;
///
/// use gristmill_report::program::{Agreement, Evidence, Frame, Instruction, Program, ProgramError, Programs};
///
/// #[derive(Debug)]
/// struct Mill;
///
/// impl Programs for Mill {
///     fn get(&self, object: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
///         if object == b"mill" { Ok(Rc::new(Mill)) } else { Err(ProgramError::Missing) }
///     }
/// }
///
/// impl Program for Mill {
///     fn found_at(&self) -> &str {
///         "/srv/mill"
///     }
///     fn agreement(&self) -> Agreement {
///         Agreement { checked: 8, agreeing: 8 }
///     }
///     fn has_lines(&self) -> bool {
///         true
///     }
///     fn has_inlining(&self) -> bool {
///         false
///     }
///     fn function_at(&self, address: u64) -> Option<Range<u64>> {
///         (0x10..0x12).contains(&address).then_some(0x10..0x12)
///     }
///     fn instructions(&self, range: Range<u64>) -> Vec<Instruction> {
///         let nop = |address| Instruction { address, length: 1, text: "nop".into(), target: None };
///         range.map(nop).collect()
///     }
///     fn frames(&self, _: u64) -> Vec<Frame> {
///         Vec::new()
///     }
/// }
///
/// let mill = Mill.get(b"mill", &[])?;
/// assert!(mill.agreement().is_certain());
/// assert_eq!(mill.instructions(0x10..0x12).len(), 2);
/// assert_eq!(Mill.get(b"stone", &[]).unwrap_err().to_string(), "not found");
/// # Ok::<(), ProgramError>(())
/// ```
pub trait Programs {
    /// Finds the program of an object by its path in the profile, and compares it with the evidence.
    ///
    /// # Errors
    ///
    /// If there is no such program, or it cannot be read.
    fn get(&self, object: &[u8], evidence: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError>;
}

/// A program or library. All addresses are those of the profile. See the example of [`Programs`].
pub trait Program: fmt::Debug {
    /// The path at which it was found, safe to show.
    fn found_at(&self) -> &str;

    /// The share of the evidence that agrees.
    fn agreement(&self) -> Agreement;

    /// `true` if it has source lines.
    fn has_lines(&self) -> bool;

    /// `true` if it says which functions were inlined.
    fn has_inlining(&self) -> bool;

    /// `true` if it has no symbol table, so that only exported functions have names.
    fn is_stripped(&self) -> bool {
        false
    }

    /// The range of the function at an address. `None` if the program does not say.
    fn function_at(&self, address: u64) -> Option<Range<u64>>;

    /// The instructions that start in a range, ascending. The first one starts where the range does.
    fn instructions(&self, range: Range<u64>) -> Vec<Instruction>;

    /// `true` if as many bytes of code may still be decoded. In a hostile program, all functions can have the same code.
    fn can_decode(&self, byte_count: u64) -> bool {
        let _ = byte_count;
        true
    }

    /// The function at an address, then the functions that were inlined there, each into the one before. Empty if the
    /// program does not say.
    fn frames(&self, address: u64) -> Vec<Frame>;

    /// Reasons to doubt what the program says, one sentence each.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An instruction. See the example of [`Programs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The address.
    pub address: u64,
    /// The count of bytes.
    pub length: u8,
    /// The mnemonic and the operands.
    pub text: Box<str>,
    /// The address that a jump or call with a fixed target leads to.
    pub target: Option<u64>,
}

/// A function at an address: one that was compiled as such, or one that was inlined. See the example of [`Programs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The name, demangled. Empty if it is unknown. Equal names should be shared.
    pub function: Rc<str>,
    /// The source file. Empty if it is unknown.
    pub file: Rc<[u8]>,
    /// The line: where the next frame was inlined, or that of the address itself for the last one.
    pub line: Option<u64>,
}

/// An address that a profile says something about. See the example of [`Programs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence<'p> {
    /// The address.
    pub address: u64,
    /// The name of its function, as the profile has it.
    pub function: &'p [u8],
    /// The source file, as the profile has it.
    pub file: &'p [u8],
    /// The source line; `None` if it is unknown.
    pub line: Option<u64>,
}

/// The limit of functions of an object that are compared with its program: the most expensive ones.
const MAX_COMPARED_FUNCTIONS: usize = 500;

/// The limit of lines of a function that are compared.
const MAX_COMPARED_LINES: usize = 16;

/// The limit of functions whose source lines are compared: those of each may be in another unit of the debug information,
/// which has to be read.
const MAX_FUNCTIONS_WITH_LINES: usize = 64;

/// Collects what a profile says of an object, from its functions, the most important first.
pub(crate) fn evidence<'p>(
    profile: &'p Profile,
    selection: &Selection,
    functions: impl Iterator<Item = FunctionId>,
) -> Vec<Evidence<'p>> {
    let mut evidence = Vec::new();
    for (nth, function) in functions.take(MAX_COMPARED_FUNCTIONS).enumerate() {
        let name = profile.function(function).name;
        let mut places = profile.places(function, selection);
        places.retain(|place| place.address.is_some());
        let step = places.len().div_ceil(MAX_COMPARED_LINES).max(1);
        evidence.extend(places.into_iter().step_by(step).filter_map(|place| {
            Some(Evidence {
                address: place.address?,
                function: name,
                file: profile.file(place.file),
                line: place.line.filter(|&line| line > 0 && nth < MAX_FUNCTIONS_WITH_LINES),
            })
        }));
    }
    evidence
}

/// The share of the evidence that agrees with a program. See the example of [`Programs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agreement {
    /// The count of facts that could be checked.
    pub checked: u64,
    /// The count of those that agree.
    pub agreeing: u64,
}

/// The percentage of agreement from which on a program counts as the one that was recorded.
const CERTAIN_PERCENT: u64 = 99;

/// The percentage of agreement below which a program counts as another one.
const OTHER_PERCENT: u64 = 50;

impl Agreement {
    /// `true` if nearly everything agrees.
    pub fn is_certain(self) -> bool {
        self.checked > 0 && self.agreeing.saturating_mul(100) >= self.checked.saturating_mul(CERTAIN_PERCENT)
    }

    /// `true` if so much disagrees that it is another program.
    pub fn is_other(self) -> bool {
        self.checked > 0 && self.agreeing.saturating_mul(100) < self.checked.saturating_mul(OTHER_PERCENT)
    }

    /// Counts one more fact.
    pub(crate) fn see(&mut self, agrees: bool) {
        self.checked += 1;
        self.agreeing += u64::from(agrees);
    }

    /// The share as a percentage. A share below 100% is never rounded up to it.
    pub fn percent(self) -> String {
        let shown = percent(self.agreeing.into(), self.checked.into());
        if shown == "100.0%" && self.agreeing < self.checked { "99.9%".to_owned() } else { shown }
    }
}

/// The reason why the program of an object cannot be had. See the example of [`Programs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramError {
    /// The profile does not name the object.
    Unnamed,
    /// There is no such file.
    Missing,
    /// The file cannot be read, for this reason.
    Unreadable(String),
    /// The file at this path is no program that can be read, for this reason.
    Invalid {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::Unnamed => f.write_str("not named by the profile"),
            ProgramError::Missing => f.write_str("not found"),
            ProgramError::Unreadable(reason) => f.write_str(reason),
            ProgramError::Invalid { path, reason } => write!(f, "{path}: {reason}"),
        }
    }
}

impl std::error::Error for ProgramError {}

/// The program of an object, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) enum FoundProgram {
    /// It is the one that was recorded, or nearly so.
    Usable(Rc<dyn Program>),
    /// It is another one.
    Other(Rc<dyn Program>),
    /// There is none.
    None(ProgramError),
}

impl FoundProgram {
    /// Finds the program of an object.
    pub(crate) fn find(programs: &dyn Programs, object: &[u8], evidence: &[Evidence<'_>]) -> Self {
        match programs.get(object, evidence) {
            Ok(program) if program.agreement().is_other() => FoundProgram::Other(program),
            Ok(program) => FoundProgram::Usable(program),
            Err(error) => FoundProgram::None(error),
        }
    }

    /// The program, if its instructions can be shown.
    pub(crate) fn usable(&self) -> Option<&dyn Program> {
        match self {
            FoundProgram::Usable(program) => Some(&**program),
            FoundProgram::Other(_) | FoundProgram::None(_) => None,
        }
    }

    /// The program, whether or not it is the one that was recorded.
    pub(crate) fn any(&self) -> Option<&dyn Program> {
        match self {
            FoundProgram::Usable(program) | FoundProgram::Other(program) => Some(&**program),
            FoundProgram::None(_) => None,
        }
    }

    /// `true` if it is the one that was recorded.
    pub(crate) fn is_certain(&self) -> bool {
        self.usable().is_some_and(|program| program.agreement().is_certain())
    }

    /// The state as a word for programs.
    pub(crate) fn state(&self) -> &'static str {
        match self {
            FoundProgram::Usable(program) if program.agreement().is_certain() => "same",
            FoundProgram::Usable(program) if program.agreement().checked == 0 => "unchecked",
            FoundProgram::Usable(_) => "uncertain",
            FoundProgram::Other(_) => "other",
            FoundProgram::None(ProgramError::Missing) => "missing",
            FoundProgram::None(ProgramError::Unnamed) => "unnamed",
            FoundProgram::None(ProgramError::Unreadable(_)) => "unreadable",
            FoundProgram::None(ProgramError::Invalid { .. }) => "invalid",
        }
    }

    /// The problem with the program, and what to do: `None` if there is none.
    pub(crate) fn remark(&self, object: &[u8]) -> Option<Remark> {
        let object = printable(object);
        let map = format!("--binary {object}=FILE says where the recorded build is");
        // Most are found where the profile says.
        let at = |path: &str| if *object == *path { "it".to_owned() } else { path.to_owned() };
        Some(match self {
            FoundProgram::None(ProgramError::Unnamed) => Remark {
                text: "???: program not named by the profile: its functions have no instructions".to_owned(),
                hint: None,
            },
            FoundProgram::None(ProgramError::Missing) => {
                Remark { text: format!("{object}: program not found"), hint: Some(map) }
            }
            FoundProgram::None(error) => {
                let error = match error {
                    ProgramError::Invalid { path, reason } if *path == *object => reason.clone(),
                    error => error.to_string(),
                };
                let error = error.strip_prefix(&format!("{object}: ")).unwrap_or(&error);
                let error = printable(error.as_bytes());
                Remark { text: format!("{object}: program cannot be read: {error}"), hint: Some(map) }
            }
            FoundProgram::Other(program) => Remark {
                text: format!(
                    "{object}: {} is another program: only {} of what the profile says of it agrees",
                    at(program.found_at()),
                    program.agreement().percent()
                ),
                hint: Some(map),
            },
            FoundProgram::Usable(program) if program.agreement().is_certain() => return None,
            FoundProgram::Usable(program) if program.agreement().checked == 0 => Remark {
                text: format!(
                    "{object}: {} has no symbols to compare with the profile, so nothing of it is certain",
                    program.found_at()
                ),
                hint: Some("--debuginfo-dir DIR says where its debug information is".to_owned()),
            },
            FoundProgram::Usable(program) => Remark {
                text: format!(
                    "{object}: {} may be another build: {} of what the profile says of it agrees, so nothing of it is \
                     certain",
                    at(program.found_at()),
                    program.agreement().percent()
                ),
                hint: Some(map),
            },
        })
    }
}

/// A sentence on the program of an object, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) text: String,
    pub(crate) hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_decides() {
        let of = |agreeing, checked| {
            let agreement = Agreement { checked, agreeing };
            (agreement.is_certain(), agreement.is_other(), agreement.percent())
        };
        assert_eq!(of(0, 0), (false, false, String::new()));
        assert_eq!(of(100, 100), (true, false, "100.0%".to_owned()));
        assert_eq!(of(99, 100), (true, false, "99.0%".to_owned()));
        assert_eq!(of(989, 1000), (false, false, "98.9%".to_owned()));
        assert_eq!(of(99_999, 100_000), (true, false, "99.9%".to_owned()));
        assert_eq!(of(50, 100), (false, false, "50.0%".to_owned()));
        assert_eq!(of(49, 100), (false, true, "49.0%".to_owned()));
        assert_eq!(of(0, 7), (false, true, "0.0%".to_owned()));
    }
}
