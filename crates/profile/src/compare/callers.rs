//! Callers as evidence: a function that has only its name is the one of the base if the same functions call it.
//!
//! Each file can have a static function of a name. Without lines, nothing tells these apart but what calls them.

use super::names::copy_numbers;
use super::{Comparison, JoinedId, Presence};

impl Comparison<'_> {
    /// Finds the functions that have only their name, and that no function called before and calls now that is one itself.
    pub(super) fn find_of_other_callers(&self) -> Vec<JoinedId> {
        // The callers that samples have are accidental.
        if self.is_sampled || !self.has_calls() {
            return Vec::new();
        }
        let is_on_both = |function: &JoinedId| self.presence(*function) == Presence::Both;
        let joined: Vec<JoinedId> =
            self.functions().filter(is_on_both).filter(|&function| self.doubt(function).is_none()).collect();
        let mut open: Vec<JoinedId> = Vec::new();
        let mut is_open = vec![false; self.functions().len()];
        let mut unproved: Vec<JoinedId> = Vec::new();
        for function in joined {
            if self.has_only_name(function) {
                unproved.push(function);
                is_open[function.index()] = true;
            } else {
                open.push(function);
            }
        }
        self.prove_callees(open, &mut is_open);
        unproved.retain(|function| is_open[function.index()]);
        // Few names have to be read.
        let alone = unproved.iter().copied().filter(|&function| self.is_only_one(function)).collect();
        self.prove_callees(alone, &mut is_open);
        unproved.retain(|function| is_open[function.index()]);
        unproved
    }

    /// Marks what functions call on both sides, and what that calls, as proved to be one.
    fn prove_callees(&self, mut open: Vec<JoinedId>, is_open: &mut [bool]) {
        open.iter().for_each(|function| is_open[function.index()] = false);
        while let Some(function) = open.pop() {
            for arc in self.outgoing(function) {
                let callee = self.arc(arc).callee;
                if is_open[callee.index()] && self.sides_of_arc(arc) == [true, true] {
                    is_open[callee.index()] = false;
                    open.push(callee);
                }
            }
        }
    }

    /// `true` for each side that has an arc.
    fn sides_of_arc(&self, arc: usize) -> [bool; 2] {
        let compared = self.columns.compared_recorded();
        let costs = compared.iter().map(|&column| self.arc_cost(arc, column));
        let mut sides = [false; 2];
        for change in costs.chain([self.arc(arc).count]) {
            sides[0] |= change.base.max != 0;
            sides[1] |= change.new.max != 0;
        }
        sides
    }

    /// `true` if a function has no file, or is a numbered copy, and if all of its callers are known. Functions of other objects
    /// call it by an address or by a name that is that of one function.
    fn has_only_name(&self, function: JoinedId) -> bool {
        let Some((base, new)) = self.in_base(function).zip(self.in_new(function)) else { return false };
        let is_nowhere = |file: &[u8]| matches!(file, b"" | b"???");
        if !is_nowhere(base.file) && !is_nowhere(new.file) && copy_numbers(new.name).is_empty()
            || new.name == b"main"
        {
            return false;
        }
        let mut sides = [false; 2];
        for arc in self.incoming(function) {
            let caller = self.arc(arc).caller;
            if caller == function {
                continue;
            }
            if self.object(caller) != self.object(function) {
                return false;
            }
            let [base, new] = self.sides_of_arc(arc);
            sides = [sides[0] || base, sides[1] || new];
        }
        sides == [true, true]
    }
}
