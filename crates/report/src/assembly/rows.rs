//! The rows of machine code, and its JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::json::{self, Costs, ExactInteger, Rows, exact, exact_option};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::Assembly;
use super::listing::{Jump, Listing};
use crate::head::Head;
use crate::view::{SubjectId, ViewError};

/// Functions as machine code. Addresses are those of the profile, as hexadecimal text. See the example of [`Assembly`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssemblyDocument<'r> {
    #[serde(flatten)]
    head: &'r Head,
    /// The programs and libraries of the functions.
    programs: Vec<ProgramRow>,
    /// The count of functions that have costs and match --function and --file.
    matching: usize,
    /// The functions, the most expensive first by self cost.
    #[schemars(with = "Vec<AssembledFunctionRow<'r>>")]
    functions: FunctionRows<'r>,
}

/// The program of an object of the profile. See the example of [`Assembly`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Program")]
pub struct ProgramRow {
    /// The path as the profile has it; empty or ??? if it is unknown.
    pub object: String,
    /// The path of the file that was read. null if there is none.
    pub found_at: Option<String>,
    /// The state: the recorded program, one that may be another build, one without symbols to compare, another program, or
    /// none.
    #[schemars(extend("enum" = ["same", "uncertain", "unchecked", "other", "missing", "unnamed", "unreadable", "invalid"]))]
    pub state: &'static str,
    /// The count of facts of the profile that were compared with it.
    pub checked: u64,
    /// The count of those that agree.
    pub agreeing: u64,
    /// true if it has no symbol table.
    pub is_stripped: bool,
    /// true if it has source lines.
    pub has_lines: bool,
    /// true if it says which functions were inlined.
    pub has_inlining: bool,
    /// The problem, in a sentence.
    pub problem: Option<String>,
    /// Advice.
    pub hint: Option<String>,
}

/// A function as machine code. See the example of [`Assembly`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "AssembledFunction")]
pub struct AssembledFunctionRow<'r, I = Vec<InstructionRow<'r>>> {
    /// The id of the function, the same for all selections of a profile.
    pub id: usize,
    /// The name, demangled.
    pub name: &'r str,
    /// The source file; empty or ??? if it is unknown.
    pub file: Cow<'r, str>,
    /// The program of the function, as an index into the list of programs.
    pub program: usize,
    /// true if the instructions are those of the program that was recorded.
    pub is_certain: bool,
    /// true if the function is so large that only instructions with costs are listed.
    pub is_cut: bool,
    /// The self cost: the sum over all instructions, and that without an address.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The inclusive cost.
    pub inclusive: Costs,
    /// The count of calls, as far as the profile has it.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub calls: Cost,
    /// The self cost at positions without an address.
    pub without_address: Costs,
    /// The calls at positions without an address.
    pub calls_without_address: Vec<AssembledCallRow<'r>>,
    /// The count of jumps at positions without an address.
    pub jumps_without_address: usize,
    /// The instructions of the function, and addresses with costs where the program has no instruction, ascending.
    #[schemars(with = "Vec<InstructionRow<'r>>")]
    pub instructions: I,
}

/// An instruction, or an address with costs. See the example of [`Assembly`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Instruction")]
pub struct InstructionRow<'r> {
    /// The address, such as 0x4014f0.
    pub address: String,
    /// The count of bytes. null if there is no program, or it has no instruction here.
    pub length: Option<u8>,
    /// The instruction, likewise.
    pub text: Option<String>,
    /// The address that a jump or call with a fixed target leads to.
    pub target: Option<String>,
    /// true if the profile has a self cost here.
    pub has_cost: bool,
    /// The self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The function and the functions that were inlined, each into the one before. Without a program, the line of the
    /// profile. Empty if nothing is known.
    pub frames: Vec<FrameRow>,
    /// The calls made here.
    pub calls: Vec<AssembledCallRow<'r>>,
    /// The jumps that start here.
    pub jumps: Vec<AssembledJumpRow<'r>>,
}

/// A function at an address. See the example of [`Assembly`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Frame")]
pub struct FrameRow {
    /// The name. null if it is unknown.
    pub function: Option<String>,
    /// The source file. null if it is unknown.
    pub file: Option<String>,
    /// The line: where the next frame was inlined, or that of the instruction for the last one. null if it is unknown.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
}

/// Calls from an instruction to a function. See the example of [`Assembly`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "AssembledCall")]
pub struct AssembledCallRow<'r> {
    /// The id of the called function.
    pub id: usize,
    /// The name of the called function, demangled.
    pub name: &'r str,
    /// The count of calls.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub calls: Cost,
    /// The inclusive cost of these calls, which is not part of the instruction's self cost.
    pub cost: Costs,
}

/// Jumps from an instruction to another. See the example of [`Assembly`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "AssembledJump")]
pub struct AssembledJumpRow<'r> {
    /// The address of the target. null if it is unknown.
    pub target: Option<String>,
    /// The function of the target, if the profile names another.
    pub function: Option<&'r str>,
    /// The count of jumps.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub taken: Cost,
    /// The number of times a conditional jump was reached. null for an unconditional jump.
    #[serde(serialize_with = "exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub executed: Option<Cost>,
}

/// The functions of a document. Each row is made when it is written.
#[derive(Debug)]
struct FunctionRows<'r>(&'r Assembly<'r>);

impl Serialize for FunctionRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error as _, SerializeSeq as _};

        let mut rows = serializer.serialize_seq(Some(self.0.chosen.len()))?;
        for &id in &self.0.chosen {
            let listing = self.0.listing(id).map_err(S::Error::custom)?;
            // One function may have all lines of a profile.
            let instructions = Rows(|| self.0.instruction_rows(&listing));
            rows.serialize_element(&self.0.function_row(id, &listing, instructions))?;
        }
        rows.end()
    }
}

impl Assembly<'_> {
    /// The document for programs, which [`Assembly::write_json`] writes.
    pub fn document(&self) -> AssemblyDocument<'_> {
        AssemblyDocument {
            head: &self.head,
            programs: self.program_rows(),
            matching: self.matching,
            functions: FunctionRows(self),
        }
    }

    /// Writes the document as JSON.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(&self.document(), out)
    }

    /// The programs of the functions that are shown.
    pub fn program_rows(&self) -> Vec<ProgramRow> {
        let row = |program: &super::ObjectProgram| {
            let object = self.view.profile().object(program.object);
            ProgramRow::new(object, &program.found)
        };
        self.programs.iter().map(row).collect()
    }

    /// The functions that are shown, the most expensive first. A row is an error if a derived cost is out of range.
    pub fn function_rows(&self) -> impl Iterator<Item = Result<AssembledFunctionRow<'_>, ViewError>> {
        self.chosen.iter().map(|&id| {
            let listing = self.listing(id)?;
            Ok(self.function_row(id, &listing, self.instruction_rows(&listing).collect()))
        })
    }

    fn instruction_rows(&self, listing: &Listing) -> impl Iterator<Item = InstructionRow<'_>> {
        (0..listing.rows.len()).map(|row| self.instruction_row(listing, row))
    }

    fn function_row<'r, I>(
        &'r self,
        id: SubjectId,
        listing: &Listing,
        instructions: I,
    ) -> AssembledFunctionRow<'r, I> {
        let view = self.view;
        let subject = view.subject(id);
        let unplaced = &listing.unplaced;
        let calls =
            unplaced.calls.iter().map(|(callee, (count, costs))| self.call_row(callee, *count, costs));
        AssembledFunctionRow {
            id: id.index(),
            name: subject.name(),
            file: String::from_utf8_lossy(view.profile().file(subject.file)),
            program: self.program_indexes[&subject.object],
            is_certain: listing.is_certain,
            is_cut: listing.is_cut,
            self_costs: self.head.costs(view.self_cost(id)),
            inclusive: self.head.costs(view.inclusive_cost(id)),
            calls: view.call_count(id),
            without_address: self.head.costs(&unplaced.self_costs),
            calls_without_address: calls.collect(),
            jumps_without_address: unplaced.jumps,
            instructions,
        }
    }

    fn instruction_row<'r>(&'r self, listing: &Listing, nth: usize) -> InstructionRow<'r> {
        let row = &listing.rows[nth];
        let costs = listing.costs(nth);
        let zeros = vec![0; self.view.events().len()];
        let instruction = row.instruction.as_ref();
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let frame = |frame: &crate::program::Frame| FrameRow {
            function: known(&frame.function),
            file: known(&String::from_utf8_lossy(&frame.file)),
            line: frame.line,
        };
        InstructionRow {
            address: hexadecimal(row.address),
            length: instruction.map(|it| it.length),
            text: instruction.map(|it| it.text.to_string()),
            target: instruction.and_then(|it| it.target).map(hexadecimal),
            has_cost: costs.is_some(),
            self_costs: self.head.costs(costs.unwrap_or(&zeros)),
            frames: listing.frames(nth).into_iter().map(frame).collect(),
            calls: listing
                .calls(nth)
                .map(|(call, costs)| self.call_row(call.callee, call.count, costs))
                .collect(),
            jumps: listing.jumps(nth).map(|(_, jump)| self.jump_row(jump)).collect(),
        }
    }

    fn call_row(&self, callee: SubjectId, count: Cost, costs: &[Cost]) -> AssembledCallRow<'_> {
        AssembledCallRow {
            id: callee.index(),
            name: self.view.subject(callee).name(),
            calls: count,
            cost: self.head.costs(costs),
        }
    }

    fn jump_row(&self, jump: &Jump) -> AssembledJumpRow<'_> {
        AssembledJumpRow {
            target: jump.target.map(hexadecimal),
            function: jump.function.map(|id| self.view.subject(id).name()),
            taken: jump.taken,
            executed: jump.executed,
        }
    }
}

impl ProgramRow {
    /// Describes the program of an object.
    pub(crate) fn new(object: &[u8], found: &crate::program::FoundProgram) -> Self {
        let program = found.any();
        let agreement = program.map(|program| program.agreement()).unwrap_or_default();
        let remark = found.remark(object);
        ProgramRow {
            object: String::from_utf8_lossy(object).into_owned(),
            found_at: program.map(|program| program.found_at().to_owned()),
            state: found.state(),
            checked: agreement.checked,
            agreeing: agreement.agreeing,
            is_stripped: program.is_some_and(|program| program.is_stripped()),
            has_lines: program.is_some_and(|program| program.has_lines()),
            has_inlining: program.is_some_and(|program| program.has_inlining()),
            problem: remark.as_ref().map(|remark| remark.text.clone()),
            hint: remark.and_then(|remark| remark.hint),
        }
    }
}

/// An address as text: a number in JSON may not have 64 bits.
fn hexadecimal(address: u64) -> String {
    format!("{address:#x}")
}
