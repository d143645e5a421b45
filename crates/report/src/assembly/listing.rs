//! The instructions of a function: those that the profile has costs for, and those of the program around them.

use std::ops::Range;

use gristmill_format::Cost;
use gristmill_profile::ordered::OrderedMap;
use gristmill_profile::{CostTable, FileId};

use super::chains::{ChainId, Chains};
use super::first;
use crate::amount::add;
use crate::program::{Agreement, FoundProgram, Frame, Instruction, Program};
use crate::view::{SubjectId, View, ViewError};

/// The limit of bytes of a function whose instructions are all listed. Of a larger one, only those with costs are.
const MAX_FUNCTION_BYTES: u64 = 1 << 20;

/// The longest distance between two addresses of a function without a known range for which what lies between is listed.
const MAX_GAP_BYTES: u64 = 64;

/// The instructions of a function.
#[derive(Debug)]
pub(super) struct Listing {
    /// The rows, ascending by address.
    pub(super) rows: Vec<Row>,
    /// The self costs of rows.
    costs: CostTable,
    /// The functions and lines that rows refer to.
    chains: Chains,
    /// The calls, by row and callee, the most expensive first.
    calls: Vec<Call>,
    call_costs: CostTable,
    /// The jumps, by row.
    jumps: Vec<Jump>,
    /// Costs, calls and jumps at positions without an address.
    pub(super) unplaced: Unplaced,
    /// `true` if the instructions are those of the recorded program.
    pub(super) is_certain: bool,
    /// The share of what the profile says of the function that agrees with the program.
    pub(super) agreement: Agreement,
    /// `true` if there is a program whose instructions can be shown.
    pub(super) has_program: bool,
    /// `true` if the range of the function is too large to list all of it.
    pub(super) is_cut: bool,
}

/// An address.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) address: u64,
    /// The instruction that starts here. `None` if there is no program, or it has none here.
    pub(super) instruction: Option<Instruction>,
    /// The index of the costs. `None` if the profile has no costs here.
    costs: Option<u32>,
    /// The functions and lines; `None` if they are unknown.
    chain: Option<ChainId>,
}

/// Calls from an address to a subject.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    row: u32,
    pub(super) callee: SubjectId,
    pub(super) count: Cost,
}

/// Jumps from an address to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jump {
    row: u32,
    /// The address that they lead to; `None` if the profile does not say.
    pub(super) target: Option<u64>,
    /// The row of the target, if it is in the same listing.
    pub(super) target_row: Option<usize>,
    /// The function of the target, if the profile names another.
    pub(super) function: Option<SubjectId>,
    pub(super) taken: Cost,
    pub(super) executed: Option<Cost>,
}

/// The content of a profile at positions without an address.
#[derive(Debug, Default)]
pub(super) struct Unplaced {
    pub(super) self_costs: Vec<Cost>,
    /// By callee: the count and the inclusive costs.
    pub(super) calls: OrderedMap<SubjectId, (Cost, Vec<Cost>)>,
    pub(super) jumps: usize,
}

/// The address and the callee of calls, before rows are known.
type CallKey = (u64, SubjectId);

impl Listing {
    /// Collects costs, calls and jumps of a subject, and the instructions around them.
    pub(super) fn new(view: &View, subject: SubjectId, found: &FoundProgram) -> Result<Self, ViewError> {
        let listing = Self::read(view, subject, found, found.is_certain())?;
        // After a small change of the source, most functions are those that were recorded, and one is not.
        match listing.is_certain && listing.agreement.checked > 0 && !listing.agreement.is_certain() {
            true => Ok(Listing { agreement: listing.agreement, ..Self::read(view, subject, found, false)? }),
            false => Ok(listing),
        }
    }

    fn read(
        view: &View,
        subject: SubjectId,
        found: &FoundProgram,
        is_certain: bool,
    ) -> Result<Self, ViewError> {
        let mut recorded = Recorded::read(view, subject)?;
        let program = found.usable();
        let (instructions, is_cut) = match program {
            Some(program) => instructions(program, &recorded.addresses()),
            None => (Vec::new(), false),
        };
        let mut listing = Listing {
            rows: Vec::new(),
            costs: CostTable::new(view.events().len(), 0),
            chains: Chains::default(),
            calls: Vec::new(),
            call_costs: CostTable::new(view.events().len(), 0),
            jumps: Vec::new(),
            unplaced: std::mem::take(&mut recorded.unplaced),
            is_certain,
            agreement: Agreement::default(),
            has_program: program.is_some(),
            is_cut,
        };
        listing.place_rows(view, &mut recorded, instructions, program);
        listing.place_calls(recorded.calls);
        listing.place_jumps(recorded.jumps);
        Ok(listing)
    }

    /// Makes a row of each address with costs, calls or jumps, and of each instruction.
    fn place_rows(
        &mut self,
        view: &View,
        recorded: &mut Recorded,
        instructions: Vec<Instruction>,
        program: Option<&dyn Program>,
    ) {
        let mut instructions = instructions.into_iter().peekable();
        let mut addresses = recorded.addresses().into_iter().peekable();
        // Their memory is freed while rows are made.
        let mut costs = std::mem::take(&mut recorded.costs).into_iter().peekable();
        loop {
            let next = [addresses.peek().copied(), instructions.peek().map(|it| it.address)];
            let Some(address) = next.into_iter().flatten().min() else { break };
            let is_recorded = addresses.next_if_eq(&address).is_some();
            let instruction = instructions.next_if(|it| it.address == address);
            if is_recorded && program.is_some() {
                self.agreement.see(instruction.is_some());
            }
            let costs = costs.next_if(|(at, _)| *at == address).map(|(_, costs)| costs);
            let place = costs
                .as_ref()
                .and_then(|costs| costs.place)
                .or_else(|| recorded.places.get(address).copied());
            let chain = self.chain(view, address, place, program.filter(|_| instruction.is_some()));
            let costs = costs.map(|costs| {
                self.costs.push(&costs.shown);
                #[expect(clippy::cast_possible_truncation, reason = "fewer than lines of a file")]
                let index = (self.costs.len() - 1) as u32;
                index
            });
            self.rows.push(Row { address, instruction, costs, chain });
        }
    }

    /// The functions and lines of an address: those of the program, or the line of the profile.
    fn chain(
        &mut self,
        view: &View,
        address: u64,
        place: Option<(FileId, u64)>,
        program: Option<&dyn Program>,
    ) -> Option<ChainId> {
        // A program that may be another build is not asked.
        let mut chain = match program.filter(|_| self.is_certain) {
            Some(program) => program.frames(address),
            None => Vec::new(),
        };
        let found_line = chain.last().and_then(|frame| frame.line);
        if let (Some(found), Some((_, line @ 1..))) = (found_line, place) {
            self.agreement.see(found == line);
        }
        let knows_line = found_line.is_some();
        if !knows_line && let Some((file, line)) = place {
            let file = self.chains.path(file, || view.profile().file(file).into());
            chain = vec![Frame { function: "".into(), file, line: (line > 0).then_some(line) }];
        }
        self.chains.add(chain)
    }

    fn place_calls(&mut self, calls: OrderedMap<CallKey, (Cost, Vec<Cost>)>) {
        let mut calls: Vec<_> = calls.into_iter().collect();
        calls.sort_by_key(|((address, callee), (_, costs))| {
            (*address, std::cmp::Reverse(first(costs)), *callee)
        });
        for ((address, callee), (count, costs)) in calls {
            self.calls.push(Call { row: self.row_index(address), callee, count });
            self.call_costs.push(&costs);
        }
    }

    fn place_jumps(&mut self, jumps: Vec<RecordedJump>) {
        for jump in jumps {
            let target_row = jump.target.and_then(|target| self.row_at(target));
            self.jumps.push(Jump {
                row: self.row_index(jump.address),
                target: jump.target,
                target_row,
                function: jump.function,
                taken: jump.taken,
                executed: jump.executed,
            });
        }
    }

    /// A sentence on a function whose instructions may be others.
    pub(super) fn doubt(&self) -> String {
        match self.agreement.checked > 0 && !self.agreement.is_certain() {
            true => format!(
                "instructions are marked with ?: only {} of what the profile says of this function agrees",
                self.agreement.percent()
            ),
            false => "instructions are marked with ?: they may be those of another build".to_owned(),
        }
    }

    /// The row of an address that has one.
    fn row_index(&self, address: u64) -> u32 {
        let row = self.rows.partition_point(|row| row.address < address);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "fewer than lines of a file and instructions of a function"
        )]
        let row = row as u32;
        row
    }

    /// The row at an address, if there is one.
    pub(super) fn row_at(&self, address: u64) -> Option<usize> {
        self.rows.binary_search_by_key(&address, |row| row.address).ok()
    }

    /// The self costs of a row, if the profile has any.
    pub(super) fn costs(&self, row: usize) -> Option<&[Cost]> {
        self.rows[row].costs.map(|costs| self.costs.row(costs as usize))
    }

    /// The functions and lines of a row: empty if they are unknown.
    pub(super) fn frames(&self, row: usize) -> Vec<&Frame> {
        self.rows[row].chain.map(|chain| self.chains.frames(chain)).unwrap_or_default()
    }

    /// `true` if the functions and lines of two rows are the same.
    pub(super) fn has_same_frames(&self, row: usize, other: usize) -> bool {
        self.rows[row].chain == self.rows[other].chain
    }

    /// The calls of a row with their costs, the most expensive first.
    pub(super) fn calls(&self, row: usize) -> impl ExactSizeIterator<Item = (&Call, &[Cost])> {
        let range = span(&self.calls, row, |call| call.row);
        range.map(|nth| (&self.calls[nth], self.call_costs.row(nth)))
    }

    /// The jumps of a row, each with its index among all jumps.
    pub(super) fn jumps(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, &Jump)> {
        span(&self.jumps, row, |jump| jump.row).map(|nth| (nth, &self.jumps[nth]))
    }

    /// All jumps, each with its row.
    pub(super) fn all_jumps(&self) -> impl Iterator<Item = (usize, &Jump)> {
        self.jumps.iter().map(|jump| (jump.row as usize, jump))
    }

    /// The highest cost of the first event type that a row has.
    pub(super) fn hottest(&self) -> Cost {
        self.costs.rows().map(|costs| first(costs).abs()).max().unwrap_or_default()
    }

    /// The costs of rows and calls, to see how wide they are.
    pub(super) fn all_costs(&self) -> impl Iterator<Item = &[Cost]> {
        self.costs.rows().chain(self.call_costs.rows())
    }

    /// The count and costs of addresses where the program has no instruction.
    pub(super) fn without_instruction(&self) -> (usize, Vec<Cost>) {
        let mut sum = vec![0; self.costs.width()];
        let mut count = 0;
        for nth in (0..self.rows.len()).filter(|&nth| self.rows[nth].instruction.is_none()) {
            count += 1;
            self.costs(nth).into_iter().for_each(|costs| add(&mut sum, costs));
        }
        (count, sum)
    }
}

/// The range of equal keys in a sorted list.
fn span<T>(sorted: &[T], row: usize, key: impl Fn(&T) -> u32) -> Range<usize> {
    let start = sorted.partition_point(|it| (key(it) as usize) < row);
    let end = sorted.partition_point(|it| (key(it) as usize) <= row);
    start..end
}

/// The content of a profile on a subject, by address.
#[derive(Debug, Default)]
struct Recorded {
    costs: OrderedMap<u64, AddressCosts>,
    /// Lines of addresses without costs, which have calls or jumps.
    places: OrderedMap<u64, (FileId, u64)>,
    calls: OrderedMap<CallKey, (Cost, Vec<Cost>)>,
    jumps: Vec<RecordedJump>,
    unplaced: Unplaced,
}

#[derive(Debug)]
struct AddressCosts {
    /// The costs by column of the view.
    shown: Vec<Cost>,
    /// The file and line, if the profile has lines. The first one if there are several.
    place: Option<(FileId, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct RecordedJump {
    address: u64,
    target: Option<u64>,
    function: Option<SubjectId>,
    taken: Cost,
    executed: Option<Cost>,
}

impl Recorded {
    fn read(view: &View, subject: SubjectId) -> Result<Self, ViewError> {
        let profile = view.profile();
        let width = profile.event_count();
        let mut recorded = Recorded::default();
        let mut unplaced = vec![0; view.events().len()];
        let mut row = Vec::new();
        for function in view.functions_of(subject) {
            let lines = profile.lines(function, view.selection());
            let mut shown = |costs: &[Cost]| {
                row.clear();
                row.extend_from_slice(costs);
                row.resize(width, 0);
                view.shown_costs(&row)
            };
            for (place, costs) in lines.places.iter().zip(lines.costs.rows()) {
                let costs = shown(costs)?;
                match place.address {
                    Some(address) => {
                        let at = recorded.costs.or_insert_with(address, || AddressCosts {
                            shown: vec![0; costs.len()],
                            place: place.line.map(|line| (place.file, line)),
                        });
                        add(&mut at.shown, &costs);
                    }
                    None => add(&mut unplaced, &costs),
                }
            }
            for (call, costs) in lines.calls.iter().zip(lines.call_costs.rows()) {
                let costs = shown(costs)?;
                let callee = view.subject_of(call.callee);
                let (count, sum) = match call.place.address {
                    Some(address) => {
                        recorded.see(address, call.place.file, call.place.line);
                        recorded.calls.or_default((address, callee))
                    }
                    None => recorded.unplaced.calls.or_default(callee),
                };
                *count += call.count;
                sum.resize(costs.len(), 0);
                add(sum, &costs);
            }
            for jump in &lines.jumps {
                let Some(address) = jump.place.address else {
                    recorded.unplaced.jumps += 1;
                    continue;
                };
                recorded.see(address, jump.place.file, jump.place.line);
                recorded.jumps.push(RecordedJump {
                    address,
                    target: jump.target.address,
                    function: jump.function.map(|id| view.subject_of(id)).filter(|&id| id != subject),
                    taken: jump.taken,
                    executed: jump.executed,
                });
            }
        }
        recorded.unplaced.self_costs = unplaced;
        recorded.merge_jumps();
        Ok(recorded)
    }

    /// Remembers the line of an address.
    fn see(&mut self, address: u64, file: FileId, line: Option<u64>) {
        match line {
            Some(line) => self.places.or_insert_with(address, || (file, line)),
            None => return,
        };
    }

    /// Adds up jumps between the same addresses.
    fn merge_jumps(&mut self) {
        let key = |jump: &RecordedJump| (jump.address, jump.target, jump.function, jump.executed.is_some());
        self.jumps.sort_by_key(key);
        self.jumps.dedup_by(|jump, first| {
            let is_same = key(jump) == key(first);
            if is_same {
                first.taken += jump.taken;
                first.executed = first.executed.zip(jump.executed).map(|(one, other)| one + other);
            }
            is_same
        });
    }

    /// The addresses with costs, calls or jumps, ascending.
    fn addresses(&self) -> Vec<u64> {
        let mut addresses: Vec<u64> = self.costs.keys().collect();
        addresses.extend(self.calls.keys().map(|(address, _)| address));
        addresses.extend(self.jumps.iter().map(|jump| jump.address));
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }
}

/// `true` if all instructions of a function of this size are listed.
fn can_list(program: &dyn Program, byte_count: u64) -> bool {
    byte_count <= MAX_FUNCTION_BYTES && program.can_decode(byte_count)
}

/// Returns the instructions of the functions that have these addresses, ascending, and `true` if a function is too large for
/// all of them.
fn instructions(program: &dyn Program, addresses: &[u64]) -> (Vec<Instruction>, bool) {
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut is_cut = false;
    let mut at = 0;
    while let Some(&address) = addresses.get(at) {
        let range = program.function_at(address).filter(|range| range.contains(&address));
        let range = match range {
            Some(range) if can_list(program, range.end - range.start) => range,
            other => {
                is_cut |= other.is_some();
                let next = addresses.get(at + 1).copied().unwrap_or(u64::MAX);
                // Without a range, what lies between two addresses near to each other belongs to the function.
                let is_near = next.saturating_sub(address) <= MAX_GAP_BYTES;
                address..if is_near { next } else { address.saturating_add(1) }
            }
        };
        let end = range.end;
        let last = instructions.last().map_or(0, |last| last.address);
        let is_first = instructions.is_empty();
        instructions.extend(
            program
                .instructions(range)
                .into_iter()
                .filter(|it| (is_first || it.address > last) && it.address < end),
        );
        at += addresses[at..].partition_point(|&other| other < end).max(1);
    }
    (instructions, is_cut)
}
