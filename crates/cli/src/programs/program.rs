//! A program that was compared with a profile, as reports see it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gristmill_code::{Binary, ControlFlow, ErrorKind, Matching, Syntax};
use gristmill_profile::symbol::shorten;
use gristmill_report::program::{Agreement, Frame, Instruction, Program};

use crate::terminal::{printable, printable_path};

/// The limit of columns of a name behind the target of a call or jump.
const NAME_COLUMNS: usize = 40;

/// A program, with the relation of its addresses to those of the profile.
pub(super) struct MatchedProgram {
    binary: Arc<Binary>,
    matching: Matching,
    syntax: Syntax,
    found_at: String,
    agreement: Agreement,
}

impl MatchedProgram {
    /// Compares a program with what the profile says of it.
    pub(super) fn new(binary: Arc<Binary>, matching: Matching, syntax: Syntax) -> Self {
        let found_at = printable_path(binary.path()).into_owned();
        let agreement = agreement_of(&matching);
        MatchedProgram { binary, matching, syntax, found_at, agreement }
    }

    /// The address in the profile of one in the program.
    fn in_profile(&self, address: u64) -> u64 {
        address.wrapping_add(self.matching.distance())
    }

    /// The text of an instruction, with the name of what it calls.
    fn text(&self, instruction: &gristmill_code::Instruction) -> Box<str> {
        let text = instruction.to_string();
        let leads_elsewhere = |target: &u64| match instruction.flow() {
            ControlFlow::Call => true,
            // Most jumps stay inside of their function.
            _ => !self
                .binary
                .function(instruction.address())
                .is_some_and(|function| function.range().contains(target)),
        };
        let name = instruction.target().filter(leads_elsewhere).and_then(|target| {
            let function = self.binary.function(target)?;
            let name = function.readable_name()?;
            let name = printable(shorten(&name, NAME_COLUMNS).as_bytes()).into_owned();
            Some(match target - function.range().start {
                0 => format!(" <{name}>"),
                offset => format!(" <{name}+{offset:#x}>"),
            })
        });
        (text + &name.unwrap_or_default()).into()
    }
}

impl Program for MatchedProgram {
    fn found_at(&self) -> &str {
        &self.found_at
    }

    fn agreement(&self) -> Agreement {
        self.agreement
    }

    fn has_lines(&self) -> bool {
        self.binary.has_debug_info()
    }

    fn has_inlining(&self) -> bool {
        self.binary.has_debug_info()
    }

    fn is_stripped(&self) -> bool {
        self.binary.is_stripped()
    }

    fn function_at(&self, address: u64) -> Option<Range<u64>> {
        let range = self.binary.function(self.matching.address(address))?.range();
        (range.start < range.end).then(|| self.in_profile(range.start)..self.in_profile(range.end))
    }

    fn instructions(&self, range: Range<u64>) -> Vec<Instruction> {
        let range = self.matching.address(range.start)..self.matching.address(range.end);
        // There may be no code, or no decoder; `remarks` says so.
        let Ok(instructions) = self.binary.instructions(range, self.syntax) else { return Vec::new() };
        let instruction = |it: gristmill_code::Instruction| Instruction {
            address: self.in_profile(it.address()),
            length: u8::try_from(it.bytes().len()).unwrap_or(u8::MAX),
            text: self.text(&it),
            target: it.target().map(|target| self.in_profile(target)),
        };
        instructions.filter(|it| !it.is_bad()).map(instruction).collect()
    }

    fn frames(&self, address: u64) -> Vec<Frame> {
        // Damage is a remark.
        let frames = self.binary.frames(self.matching.address(address)).unwrap_or_default();
        let frame = |frame: &gristmill_code::Frame| Frame {
            function: frame.readable_function().unwrap_or_default(),
            file: frame.source().file.as_deref().unwrap_or_default().as_bytes().to_vec(),
            line: frame.source().line.map(u64::from),
        };
        frames.iter().rev().map(frame).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.binary.problems().iter().map(problem).collect();
        if remarks.is_empty() && !self.has_lines() {
            let what = if self.is_stripped() { "it is stripped: " } else { "" };
            remarks.push(format!("{what}no debug information, so no source lines and no inlined functions"));
        }
        if let Some(range) = self.binary.code_ranges().into_iter().next()
            && let Err(error) = self.binary.instructions(range, self.syntax)
        {
            remarks.push(error.to_string());
        }
        if self.matching.distance() != 0 {
            remarks.push(format!(
                "addresses of the profile are those of the program and {:#x}",
                self.matching.distance()
            ));
        }
        remarks.iter().map(|text| printable(text.as_bytes()).into_owned()).collect()
    }
}

/// A reason why debug information is missing. The paths at which it was looked for are many, and all of them are documented.
fn problem(error: &gristmill_code::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound { .. } => format!(
            "its debug information {} is not found, so no source lines and no inlined functions: --debuginfo-dir DIR says \
             where it is, --debuginfod asks servers",
            error.file()
        ),
        _ => error.to_string(),
    }
}

impl fmt::Debug for MatchedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchedProgram").field("binary", &self.binary).finish_non_exhaustive()
    }
}

/// The share of names, of lines or of starts of instructions that agree, whichever is lowest. In another build, some three of four
/// addresses are inside of instructions.
fn agreement_of(matching: &Matching) -> Agreement {
    let of = matching.agreement();
    let kinds = [
        Agreement { checked: of.compared_names(), agreeing: of.same_name },
        Agreement { checked: of.compared_lines(), agreeing: of.same_line },
        Agreement { checked: of.compared_starts(), agreeing: of.start },
    ];
    let compared = |one: &Agreement, other: &Agreement| {
        let [left, right] = [(one, other), (other, one)]
            .map(|(one, other)| u128::from(one.agreeing) * u128::from(other.checked));
        left.cmp(&right)
    };
    kinds.into_iter().filter(|kind| kind.checked > 0).min_by(compared).unwrap_or_default()
}
