//! A program that was compared with a profile, as reports see it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use gristmill_code::{Binary, ControlFlow, ErrorKind, Matching, Syntax};
use gristmill_profile::symbol::shorten;
use gristmill_report::program::{Agreement, Frame, Instruction, Program};

use super::decoding::DecodableBytes;
use crate::terminal::{printable, printable_path};

/// The limit of columns of a name behind the target of a call or jump.
const NAME_COLUMNS: usize = 40;

/// Text made of a text that frames share, by the address of that. The text is kept, so that no other one gets the address.
type ByText<T> = HashMap<usize, (Arc<str>, Rc<T>)>;

/// A program, with the relation of its addresses to those of the profile.
pub(super) struct MatchedProgram {
    binary: Arc<Binary>,
    matching: Matching,
    syntax: Syntax,
    found_at: String,
    agreement: Agreement,
    /// Demangled names of functions, by the address of the text that the frames share.
    names: RefCell<ByText<str>>,
    /// Paths of files, likewise.
    files: RefCell<ByText<[u8]>>,
    decodable: Cell<DecodableBytes>,
}

impl MatchedProgram {
    /// Compares a program with what the profile says of it.
    pub(super) fn new(binary: Arc<Binary>, matching: Matching, syntax: Syntax) -> Self {
        let found_at = printable_path(binary.path()).into_owned();
        let agreement = agreement_of(&matching);
        let decodable = Cell::new(DecodableBytes::new(&binary));
        MatchedProgram {
            binary,
            matching,
            syntax,
            found_at,
            agreement,
            names: RefCell::default(),
            files: RefCell::default(),
            decodable,
        }
    }

    /// The address in the profile of one in the program.
    fn in_profile(&self, address: u64) -> u64 {
        address.wrapping_add(self.matching.distance())
    }

    /// The name of a frame, demangled once.
    fn name(&self, frame: &gristmill_code::Frame) -> Rc<str> {
        let Some(text) = frame.shared_function() else { return "".into() };
        let mut names = self.names.borrow_mut();
        let demangled = || (Arc::clone(text), frame.readable_function().unwrap_or_default().into());
        Rc::clone(&names.entry(Arc::as_ptr(text).addr()).or_insert_with(demangled).1)
    }

    /// The path of the file of a frame.
    fn file(&self, frame: &gristmill_code::Frame) -> Rc<[u8]> {
        let Some(path) = &frame.source().file else { return Rc::default() };
        let mut files = self.files.borrow_mut();
        let copied = || (Arc::clone(path), path.as_bytes().into());
        Rc::clone(&files.entry(Arc::as_ptr(path).addr()).or_insert_with(copied).1)
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
        self.decodable.set(self.decodable.get().without(range.end - range.start));
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

    fn can_decode(&self, byte_count: u64) -> bool {
        self.decodable.get().has(byte_count)
    }

    fn frames(&self, address: u64) -> Vec<Frame> {
        // Damage is a remark.
        let frames = self.binary.frames(self.matching.address(address)).unwrap_or_default();
        let frame = |frame: &gristmill_code::Frame| Frame {
            function: self.name(frame),
            file: self.file(frame),
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
