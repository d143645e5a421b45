//! The source lines of one function, or of all functions of one file: costs, calls and jumps by line, in the order of lines.

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_profile::ordered::OrderedMap;
use gristmill_profile::source_lines::FileLines;
use gristmill_profile::{FileId, FunctionId, Place};

use crate::amount::add;
use crate::call_count::CallCount;
use crate::head::Head;
use crate::show::{CalledFunction, Callees};
use crate::view::{SubjectId, View, ViewError};

/// The source lines of a function or of a file.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{Head, SourceListing, View, ViewOptions};
///
/// let text = b"events: Ir\nfl=mill.c\nfn=main\n16 400\ncfn=grind\ncalls=3 7\n17 50\nfn=grind\n7 50\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let main = view.subject_ids().next().unwrap();
/// let listing = SourceListing::of_function(&view, &Head::new(&view), main)?;
/// let lines: Vec<_> = listing.files[0].lines.iter().map(|line| (line.line, line.inclusive.as_deref())).collect();
/// assert_eq!(lines, [(16, Some(&[400][..])), (17, Some(&[50][..]))]);
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceListing {
    /// The files that have lines, the most expensive first by self cost.
    pub files: Vec<ListedFile>,
}

/// A source file of a [`SourceListing`], which has an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// The path in the profile.
    pub path: Vec<u8>,
    /// The self cost of its lines, unknown ones included.
    pub self_costs: Costs,
    /// The self cost that has no line.
    pub without_line: Costs,
    /// The lines with costs, calls or jumps, ascending.
    pub lines: Vec<ListedLine>,
}

/// A line of a [`SourceListing`], which has an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLine {
    /// The line number.
    pub line: u64,
    /// Self cost. `None` if the line has none.
    pub self_costs: Option<Costs>,
    /// Self cost and inclusive cost of the calls, without those inside of a recursion. `None` if the line has neither.
    pub inclusive: Option<Costs>,
    /// The calls that the line makes, the most expensive first.
    pub calls: Vec<CalledFunction>,
    /// The jumps that begin at the line, by target.
    pub jumps: Vec<ListedJump>,
}

/// Jumps to a line of the same file. See the example of [`SourceListing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedJump {
    /// The line.
    pub to: u64,
    /// The count of times that it was taken.
    pub taken: Cost,
    /// The count of times that a conditional jump was reached.
    pub executed: Option<Cost>,
}

impl SourceListing {
    /// Takes the lines of a function from a view.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range, or the costs would take too much memory.
    pub fn of_function(view: &View, head: &Head, subject: SubjectId) -> Result<Self, ViewError> {
        let profile = view.profile();
        profile.refuse_wide_lines().map_err(ViewError::TooManyCosts)?;
        let mut sums = Sums::new(view);
        for function in view.functions_of(subject) {
            let detail = profile.lines(function, view.selection());
            for (place, costs) in detail.places.iter().zip(detail.costs.rows()) {
                sums.add_self(key(place), costs);
            }
            for (call, costs) in detail.calls.iter().zip(detail.call_costs.rows()) {
                let count = CallCount::new(call.count, call.is_inlined);
                sums.add_calls(key(&call.place), function, call.callee, count, costs);
            }
            for jump in &detail.jumps {
                sums.add_jump(key(&jump.place), key(&jump.target), jump.taken, jump.executed);
            }
        }
        sums.listing(head)
    }

    /// Takes the lines of a file from a view, whatever functions they are part of. It reads the whole profile.
    ///
    /// # Errors
    ///
    /// The same as [`SourceListing::of_function`].
    pub fn of_file(view: &View, head: &Head, file: FileId) -> Result<Self, ViewError> {
        let profile = view.profile();
        profile.refuse_wide_lines().map_err(ViewError::TooManyCosts)?;
        let mut sums = Sums::new(view);
        let is_file = |other: FileId| (other == file).then_some(0);
        for lines in FileLines::read(profile, view.selection(), 1, is_file) {
            for (&line, costs) in lines.lines.iter().zip(lines.costs.rows()) {
                sums.add_self((file, line), &costs.or_zero());
            }
            for (call, costs) in lines.calls.iter().zip(lines.call_costs.rows()) {
                // Calls of inlined code have no count in a profile.
                let count = CallCount::new(call.count, false);
                sums.add_calls((file, call.line), call.caller, call.callee, count, &costs.or_zero());
            }
            for jump in &lines.jumps {
                let target = (jump.target_file, jump.target_line);
                sums.add_jump((file, jump.line), target, jump.taken, jump.executed);
            }
        }
        sums.listing(head)
    }
}

/// A file and a line; 0 stands for an unknown one.
type Key = (FileId, u64);

fn key(place: &Place) -> Key {
    (place.file, place.line.unwrap_or(0))
}

/// Sums by line while lines are read. Costs are as the profile records them.
struct Sums<'v> {
    view: &'v View,
    lines: OrderedMap<Key, LineSums>,
}

#[derive(Default)]
struct LineSums {
    self_costs: Option<Vec<Cost>>,
    /// By caller and callee.
    calls: OrderedMap<(SubjectId, SubjectId), (CallCount, Vec<Cost>)>,
    /// By target, conditional ones apart: taken and reached.
    jumps: OrderedMap<(u64, bool), (Cost, Cost)>,
}

impl<'v> Sums<'v> {
    fn new(view: &'v View) -> Self {
        Sums { view, lines: OrderedMap::default() }
    }

    /// Returns a row of recorded costs with all columns.
    fn widened(&self, costs: &[Cost]) -> Vec<Cost> {
        let mut costs = costs.to_vec();
        costs.resize(self.view.profile().event_count().max(1), 0);
        costs
    }

    fn add_self(&mut self, key: Key, costs: &[Cost]) {
        let costs = self.widened(costs);
        match &mut self.lines.or_default(key).self_costs {
            Some(sum) => add(sum, &costs),
            none => *none = Some(costs),
        }
    }

    fn add_calls(
        &mut self,
        key: Key,
        caller: FunctionId,
        callee: FunctionId,
        count: CallCount,
        costs: &[Cost],
    ) {
        let ends = (self.view.subject_of(caller), self.view.subject_of(callee));
        if self.view.is_cut(ends.0, ends.1) {
            return;
        }
        let costs = self.widened(costs);
        let calls = &mut self.lines.or_default(key).calls;
        let (sum, sums) = calls.or_insert_with(ends, || (CallCount::new(0, false), vec![0; costs.len()]));
        *sum = sum.plus(&count);
        add(sums, &costs);
    }

    /// Adds jumps to a line of the same file. Others lead out of what is listed.
    fn add_jump(&mut self, key: Key, target: Key, taken: Cost, executed: Option<Cost>) {
        if key.0 != target.0 || key.1 == 0 || target.1 == 0 {
            return;
        }
        let jumps = &mut self.lines.or_default(key).jumps;
        let sum = jumps.or_default((target.1, executed.is_some()));
        sum.0 = sum.0.saturating_add(taken);
        sum.1 = sum.1.saturating_add(executed.unwrap_or(0));
    }

    fn listing(self, head: &Head) -> Result<SourceListing, ViewError> {
        let view = self.view;
        let nothing = vec![0; view.events().len()];
        let mut callees = Callees::new(view, head);
        let mut files: Vec<ListedFile> = Vec::new();
        let mut last = None;
        for ((file, line), sums) in self.lines.into_iter() {
            if last.replace(file) != Some(file) {
                let [self_costs, without_line] = [(); 2].map(|()| head.costs(&nothing));
                let path = view.profile().file(file).to_vec();
                files.push(ListedFile { path, self_costs, without_line, lines: Vec::new() });
            }
            let Some(listed) = files.last_mut() else { continue };
            let self_costs = sums.self_costs.map(|costs| view.shown_costs(&costs)).transpose()?;
            if let Some(costs) = &self_costs {
                listed.self_costs = plus(head, &listed.self_costs, costs);
                if line == 0 {
                    listed.without_line = plus(head, &listed.without_line, costs);
                }
            }
            if line == 0 {
                continue;
            }
            let mut inclusive = self_costs.clone();
            let mut calls: OrderedMap<(SubjectId, bool), (CallCount, Vec<Cost>)> = OrderedMap::default();
            for ((caller, callee), (count, costs)) in sums.calls.into_iter() {
                let costs = view.shown_costs(&costs)?;
                // The cost of calls inside of the function or its cycle is counted already.
                let is_inner = view.is_inner(caller, callee);
                if !is_inner {
                    add(inclusive.get_or_insert_with(|| nothing.clone()), &costs);
                }
                let (sum, sums) =
                    calls.or_insert_with((callee, is_inner), || (CallCount::new(0, false), nothing.clone()));
                *sum = sum.plus(&count);
                add(sums, &costs);
            }
            let mut calls: Vec<CalledFunction> = calls
                .into_iter()
                .map(|((callee, is_inner), (count, costs))| callees.called(callee, count, &costs, is_inner))
                .collect();
            calls.sort_by_key(|call| std::cmp::Reverse(call.cost[0]));
            let jumps = sums.jumps.into_iter().map(|((to, is_conditional), (taken, executed))| ListedJump {
                to,
                taken,
                executed: is_conditional.then_some(executed),
            });
            listed.lines.push(ListedLine {
                line,
                self_costs: self_costs.map(|costs| head.costs(&costs)),
                inclusive: inclusive.map(|costs| head.costs(&costs)),
                calls,
                jumps: jumps.collect(),
            });
        }
        // Files of equal cost stay in the order of their ids.
        files.sort_by_key(|file| std::cmp::Reverse(file.self_costs[0]));
        Ok(SourceListing { files })
    }
}

fn plus(head: &Head, sum: &Costs, costs: &[Cost]) -> Costs {
    let mut sum = sum.to_vec();
    add(&mut sum, costs);
    head.costs(&sum)
}

#[cfg(test)]
mod tests {
    use gristmill_profile::Profile;

    use super::*;
    use crate::view::ViewOptions;

    const TEXT: &str = "events: Ir\nfl=a.c\nfn=main\n0 1\n3 10\njcnd=2/5 9\n3\njump=4 3\n9\n9 2\ncfn=work\ncalls=3 1\n9 60\n\
                        fi=b.h\n7 5\nfe=a.c\nfn=work\n1 30\n3 30\n+0 0\n";

    fn view() -> View {
        View::new(Profile::from_bytes(TEXT.as_bytes().to_vec()), &ViewOptions::default()).unwrap()
    }

    fn lines(file: &ListedFile) -> Vec<(u64, Option<Cost>, Option<Cost>)> {
        let first = |costs: &Option<Costs>| costs.as_ref().map(|costs| costs[0]);
        file.lines.iter().map(|line| (line.line, first(&line.self_costs), first(&line.inclusive))).collect()
    }

    #[test]
    fn lines_of_a_function_are_those_of_its_files() {
        let view = view();
        let main = view.subject_ids().next().unwrap();
        let listing = SourceListing::of_function(&view, &Head::new(&view), main).unwrap();
        let [a, b] = &listing.files[..] else { panic!("{listing:?}") };
        assert_eq!((a.path.as_slice(), a.self_costs[0], a.without_line[0]), (&b"a.c"[..], 13, 1));
        assert_eq!(lines(a), [(3, Some(10), Some(10)), (9, Some(2), Some(62))]);
        assert_eq!(a.lines[1].calls[0].calls.exact(), Some(3));
        assert_eq!(a.lines[0].jumps, [ListedJump { to: 9, taken: 2, executed: Some(5) }]);
        assert_eq!(a.lines[1].jumps, [ListedJump { to: 3, taken: 4, executed: None }]);
        assert_eq!((b.path.as_slice(), lines(b)), (&b"b.h"[..], vec![(7, Some(5), Some(5))]));
    }

    #[test]
    fn lines_of_a_file_are_those_of_all_functions() {
        let view = view();
        let profile = view.profile();
        let file = profile.files().find(|&file| profile.file(file) == b"a.c").unwrap();
        let listing = SourceListing::of_file(&view, &Head::new(&view), file).unwrap();
        let [a] = &listing.files[..] else { panic!("{listing:?}") };
        assert_eq!(lines(a), [(1, Some(30), Some(30)), (3, Some(40), Some(40)), (9, Some(2), Some(62))]);
        assert_eq!(a.self_costs[0], 73);
    }
}
