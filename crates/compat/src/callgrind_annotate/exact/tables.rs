//! The sums of functions and of the calls between them.

use gristmill_output::printable;
use gristmill_profile::OverBudget;
use gristmill_profile::hash::Map;

use super::line_key::LineKey;
use super::names::{Memory, TextId};
use super::number::Number;
use super::reader::{Calls, Counts, Sink, add};

/// The costs of a row, up to the last one that is given.
pub(super) type Row = Vec<Option<Number>>;

/// Adds costs to a row.
pub(super) fn add_to(row: &mut Row, counts: &Counts, memory: &mut Memory) -> Result<(), OverBudget> {
    if row.len() < counts.len() {
        memory.take((counts.len() - row.len()) * size_of::<Option<Number>>())?;
        row.reserve_exact(counts.len() - row.len());
    }
    add(row, counts);
    Ok(())
}

/// A function, known by its label.
#[derive(Debug, Default)]
pub(super) struct Function {
    /// `true` if the function, or inlined code of it, began.
    pub(super) has_lines: bool,
    /// The object, if the function began in one.
    pub(super) object: Option<TextId>,
    pub(super) costs: Row,
    pub(super) call_costs: Row,
    /// The costs of the calls of the function; `None` if it is not called.
    pub(super) incoming: Option<Row>,
    callees: Vec<TextId>,
    callers: Vec<TextId>,
}

/// The calls from one function to another.
#[derive(Debug, Default)]
pub(super) struct Arc {
    /// The count of calls; `None` if a callee was named, but not called.
    pub(super) count: Option<Number>,
    pub(super) costs: Row,
    /// `true` if the caller named the callee.
    is_named: bool,
}

/// A total as the file writes it, safe to show.
#[derive(Debug, Clone)]
pub(super) struct Total {
    pub(super) text: Vec<u8>,
    pub(super) number: Number,
}

/// The sums of functions and calls.
#[derive(Debug, Default)]
pub(super) struct FunctionTables {
    functions: Vec<Function>,
    arcs: Map<(TextId, TextId), Arc>,
    /// The files whose lines follow somewhere.
    is_named_file: Vec<bool>,
    summary: Vec<Total>,
    totals: Vec<Total>,
}

impl FunctionTables {
    /// A function, which is created if necessary.
    fn function_mut(&mut self, label: TextId, memory: &mut Memory) -> Result<&mut Function, OverBudget> {
        if self.functions.len() <= label.index() {
            let count = label.index() + 1 - self.functions.len();
            memory.take(2 * count * size_of::<Function>())?;
            self.functions.resize_with(label.index() + 1, Function::default);
        }
        Ok(&mut self.functions[label.index()])
    }

    fn arc_mut(
        &mut self,
        caller: TextId,
        callee: TextId,
        memory: &mut Memory,
    ) -> Result<&mut Arc, OverBudget> {
        let key = (caller, callee);
        if !self.arcs.contains_key(&key) {
            memory.take(2 * size_of::<(TextId, TextId, Arc)>())?;
        }
        Ok(self.arcs.entry(key).or_default())
    }

    /// All functions with their labels.
    pub(super) fn functions_mut(&mut self) -> impl Iterator<Item = (TextId, &mut Function)> {
        TextId::all().zip(&mut self.functions)
    }

    pub(super) fn function(&self, label: TextId) -> Option<&Function> {
        self.functions.get(label.index())
    }

    /// The calls from a function to another, if there are any.
    pub(super) fn arc(&self, caller: TextId, callee: TextId) -> Option<&Arc> {
        self.arcs.get(&(caller, callee)).filter(|arc| arc.count.is_some())
    }

    /// The callees that a function names and calls.
    pub(super) fn callees(&self, caller: TextId) -> impl Iterator<Item = (TextId, &Arc)> {
        let callees = self.function(caller).map_or(&[][..], |function| &function.callees);
        callees.iter().filter_map(move |&callee| Some((callee, self.arc(caller, callee)?)))
    }

    /// The callers that name a function and call it.
    pub(super) fn callers(&self, callee: TextId) -> impl Iterator<Item = (TextId, &Arc)> {
        let callers = self.function(callee).map_or(&[][..], |function| &function.callers);
        callers.iter().filter_map(move |&caller| Some((caller, self.arc(caller, callee)?)))
    }

    /// `true` if lines of a file follow somewhere.
    pub(super) fn is_named_file(&self, file: TextId) -> bool {
        self.is_named_file.get(file.index()).is_some_and(|&is_named| is_named)
    }

    /// The totals that the file states: those of its last summary, or else its last totals.
    pub(super) fn stated_totals(&self) -> Option<&[Total]> {
        let says = |totals: &&[Total]| totals.iter().any(|total| total.number.is_positive());
        Some(&self.summary[..]).filter(says).or_else(|| Some(&self.totals[..]).filter(says))
    }
}

impl Sink for FunctionTables {
    fn line(&mut self, _: TextId, _: LineKey, _: &Counts, _: &mut Memory) -> Result<(), OverBudget> {
        Ok(())
    }

    fn calls(&mut self, calls: &Calls<'_>, memory: &mut Memory) -> Result<(), OverBudget> {
        let Calls { caller, callee, count, counts, .. } = *calls;
        let arc = self.arc_mut(caller, callee, memory)?;
        arc.count = Some(arc.count.map_or(count, |sum| sum.plus(count)));
        add_to(&mut arc.costs, counts, memory)?;
        let function = self.function_mut(callee, memory)?;
        add_to(function.incoming.get_or_insert_default(), counts, memory)
    }

    fn end_of_function(
        &mut self,
        label: TextId,
        costs: &Counts,
        call_costs: &Counts,
        memory: &mut Memory,
    ) -> Result<(), OverBudget> {
        let function = self.function_mut(label, memory)?;
        function.has_lines = true;
        add_to(&mut function.costs, costs, memory)?;
        add_to(&mut function.call_costs, call_costs, memory)
    }

    /// If the function has costs with the label that it began with, those with all costs are also those of the other
    /// label. Otherwise the costs of the last lines replace those of the other label.
    fn end_of_file(
        &mut self,
        began: Option<TextId>,
        ended: Option<TextId>,
        costs: &Counts,
        call_costs: &Counts,
        memory: &mut Memory,
    ) -> Result<(), OverBudget> {
        let known = began.filter(|&began| self.function(began).is_some_and(|function| function.has_lines));
        if let Some(known) = known {
            self.end_of_function(known, costs, call_costs, memory)?;
        }
        let Some(ended) = ended.filter(|_| known != ended) else { return Ok(()) };
        let known = known.and_then(|known| self.function(known));
        let [costs, call_costs] = match known {
            Some(known) => [known.costs.clone(), known.call_costs.clone()],
            None => [costs.to_vec(), call_costs.to_vec()],
        };
        let function = self.function_mut(ended, memory)?;
        function.has_lines = true;
        function.costs = costs;
        function.call_costs = call_costs;
        Ok(())
    }

    fn file(&mut self, file: TextId) {
        if self.is_named_file.len() <= file.index() {
            self.is_named_file.resize(file.index() + 1, false);
        }
        self.is_named_file[file.index()] = true;
    }

    fn begin_of_function(
        &mut self,
        label: TextId,
        object: Option<TextId>,
        memory: &mut Memory,
    ) -> Result<(), OverBudget> {
        self.function_mut(label, memory)?.object = object;
        Ok(())
    }

    fn callee(&mut self, caller: TextId, callee: TextId, memory: &mut Memory) -> Result<(), OverBudget> {
        let arc = self.arc_mut(caller, callee, memory)?;
        if !std::mem::replace(&mut arc.is_named, true) {
            memory.take(4 * size_of::<TextId>())?;
            self.function_mut(caller, memory)?.callees.push(callee);
            self.function_mut(callee, memory)?.callers.push(caller);
        }
        Ok(())
    }

    fn totals(&mut self, is_summary: bool, words: &[&[u8]]) {
        let total = |word: &&[u8]| Total {
            text: printable(word).into_owned().into_bytes(),
            number: Number::parse(word),
        };
        let totals = words.iter().map(total);
        *(if is_summary { &mut self.summary } else { &mut self.totals }) = totals.collect();
    }
}
