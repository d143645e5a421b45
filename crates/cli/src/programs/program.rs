//! A program that was compared with a profile, as reports see it.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gristmill_code::{Binary, ControlFlow, Matching, Syntax};
use gristmill_profile::symbol::shorten;
use gristmill_report::program::{Agreement, Evidence, Frame, Instruction, Program};

use crate::terminal::{printable, printable_path};

/// The limit of columns of a name behind the target of a call or jump.
const NAME_COLUMNS: usize = 40;

/// The largest function that is compared by its instructions.
const MAX_COMPARED_BYTES: u64 = 256 << 10;

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
    pub(super) fn new(
        binary: Arc<Binary>,
        matching: Matching,
        syntax: Syntax,
        evidence: &[Evidence<'_>],
    ) -> Self {
        let found_at = printable_path(binary.path()).into_owned();
        let agreement = agreement_of(&matching);
        let mut program = MatchedProgram { binary, matching, syntax, found_at, agreement };
        if agreement.checked == 0 {
            program.agreement = program.starts(evidence);
        }
        program
    }

    /// The share of addresses at which an instruction starts. A stripped program has nothing else to compare, and in another
    /// build some three of four addresses are inside of instructions.
    fn starts(&self, evidence: &[Evidence<'_>]) -> Agreement {
        let addresses: BTreeSet<u64> = evidence.iter().map(|it| it.address).collect();
        let mut agreement = Agreement::default();
        let mut function: (Range<u64>, BTreeSet<u64>) = (0..0, BTreeSet::new());
        for address in addresses {
            if !function.0.contains(&address) {
                let range =
                    self.function_at(address).filter(|range| range.end - range.start <= MAX_COMPARED_BYTES);
                let Some(range) = range else { continue };
                let starts = self.instructions(range.clone()).into_iter().map(|it| it.address).collect();
                function = (range, starts);
            }
            agreement.checked += 1;
            agreement.agreeing += u64::from(function.1.contains(&address));
        }
        agreement
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
        let mut remarks: Vec<String> = self.binary.problems().iter().map(ToString::to_string).collect();
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

impl fmt::Debug for MatchedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchedProgram").field("binary", &self.binary).finish_non_exhaustive()
    }
}

/// The share of names or of lines that agree, whichever is lower.
fn agreement_of(matching: &Matching) -> Agreement {
    let of = matching.agreement();
    let names = Agreement { checked: of.compared_names(), agreeing: of.same_name };
    let lines = Agreement { checked: of.compared_lines(), agreeing: of.same_line };
    let is_lower = |one: Agreement, other: Agreement| {
        u128::from(one.agreeing) * u128::from(other.checked)
            < u128::from(other.agreeing) * u128::from(one.checked)
    };
    match (names.checked, lines.checked) {
        (_, 0) => names,
        (0, _) => lines,
        _ if is_lower(lines, names) => lines,
        _ => names,
    }
}
