//! The naming state of a body: the names that `ob=`, `fl=`, `fn=` and the callee lines leave behind.

use crate::base_rule::BaseRule;
use crate::name::{NameKey, NameSpace};
use crate::position::Positions;
use crate::record::CostRole;

const OBJECT: usize = 0;
const FILE: usize = 1;
const FUNCTION: usize = 2;
const FROM: usize = 3;
const CALLEE_OBJECT: usize = 4;
const CALLEE_FILE: usize = 5;
const CALLEE: usize = 6;
const JUMP_FILE: usize = 7;
const JUMP_FUNCTION: usize = 8;
const SELF_FILE: usize = 9;
const CALL_FILE: usize = 10;
const SLOT_COUNT: usize = 11;

/// The name context: the object, file and function that hold at a location of a file, and the callee that was announced.
///
/// `T` stands for a name: a [`Name`](crate::Name) in [`Reader::context`](crate::Reader::context), a local id in a loader.
///
/// These are the rules of the format:
///
/// - `cob=`, `cfi=` and `cfn=` hold for the next call only. Without `cob=` and `cfi=`, the callee is in the caller's object
///   and in the *current* file, which inside inlined code is the file of the last `fi=`.
/// - `fn=` returns to the file of the last `fl=`. Some producers never write `fl=` and name the file with `fi=` before `fn=`;
///   then that file stays.
/// - `fl=` after `fn=` still names the file of the function, as long as the function has no lines.
/// - A call without `cfn=` calls the last callee of the function again ([`repeat_last_callee`](NameContext::repeat_last_callee)).
/// - Files of Callgrind remember the file of the last *self* cost line, as they do with positions ([`BaseRule`]): `fi=`
///   before a call names the file of that call and of no later line, and a callee without `cfi=` is in the remembered file.
///   Only a second call at the same position, without a new `fi=`, is in the file of the first.
///
/// The owner says where a call ends ([`end_call`](NameContext::end_call)). `fn=` forgets the callee lines before it.
///
/// ```
/// use gristmill_format::NameKey;
/// use gristmill_format::raw::NameContext;
///
/// let mut context = NameContext::default();
/// context.name(NameKey::Fl, "a.c");
/// context.name(NameKey::Fn, "main");
/// context.cost_line();
/// context.name(NameKey::Fi, "inlined.h");
/// context.name(NameKey::Cfn, "f");
/// assert_eq!((context.callee(), context.callee_file()), (Some("f"), Some("inlined.h")));
/// context.end_call();
/// assert_eq!(context.callee(), None);
/// context.name(NameKey::Fn, "g");
/// assert_eq!((context.function(), context.file()), (Some("g"), Some("a.c")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameContext<T> {
    names: [Option<T>; SLOT_COUNT],
    last_fl: Option<T>,
    function_file: Option<T>,
    last_callee: Option<T>,
    function_has_lines: bool,
    base_rule: BaseRule,
    /// The position of the last call or jump, if no self cost line or file came after it.
    last_call_position: Option<Positions>,
}

/// A name that outlives a function.
///
/// See the example of [`NameContext`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedName {
    /// The object of the last `ob=`.
    Object,
    /// The file of the last `fl=`, `fi=` or `fe=`.
    File,
    /// The file of the last `fl=`.
    LastFl,
}

impl CarriedName {
    /// The space of the name.
    pub fn space(self) -> NameSpace {
        match self {
            CarriedName::Object => NameSpace::Object,
            CarriedName::File | CarriedName::LastFl => NameSpace::File,
        }
    }
}

impl<T> Default for NameContext<T> {
    fn default() -> Self {
        NameContext {
            names: [const { None }; SLOT_COUNT],
            last_fl: None,
            function_file: None,
            last_callee: None,
            function_has_lines: false,
            base_rule: BaseRule::AllCosts,
            last_call_position: None,
        }
    }
}

impl<T: Copy> NameContext<T> {
    /// The rule that says which lines later ones depend on.
    #[inline(always)]
    pub fn base_rule(&self) -> BaseRule {
        self.base_rule
    }

    /// Sets the rule that says which lines later ones depend on.
    pub fn set_base_rule(&mut self, base_rule: BaseRule) {
        self.base_rule = base_rule;
    }

    /// The object of self costs.
    #[inline]
    pub fn object(&self) -> Option<T> {
        self.names[OBJECT]
    }

    /// The source file of the next line with costs: that of the last `fl=`, `fi=` or `fe=`, unless that held for a call
    /// only.
    #[inline]
    pub fn file(&self) -> Option<T> {
        self.names[FILE].or(self.names[SELF_FILE])
    }

    /// The source file that callees and targets of jumps are in unless another is named.
    #[inline]
    fn default_file(&self) -> Option<T> {
        match self.base_rule {
            BaseRule::AllCosts => self.file(),
            BaseRule::SelfCosts => self.names[SELF_FILE],
        }
    }

    /// The source file of the function itself, also inside inlined code.
    #[inline]
    pub fn function_file(&self) -> Option<T> {
        self.function_file
    }

    /// The function of self costs.
    #[inline]
    pub fn function(&self) -> Option<T> {
        self.names[FUNCTION]
    }

    /// The function that called this one, as `frfn=` says.
    #[inline]
    pub fn from(&self) -> Option<T> {
        self.names[FROM]
    }

    /// The object of the next callee: that of `cob=`, otherwise the caller's.
    #[inline]
    pub fn callee_object(&self) -> Option<T> {
        self.names[CALLEE_OBJECT].or(self.names[OBJECT])
    }

    /// The file of the next callee: that of `cfi=`, otherwise the current one, which is that of the last self cost line in
    /// files of Callgrind.
    #[inline]
    pub fn callee_file(&self) -> Option<T> {
        self.names[CALLEE_FILE].or_else(|| self.default_file())
    }

    /// The next callee.
    #[inline]
    pub fn callee(&self) -> Option<T> {
        self.names[CALLEE]
    }

    /// `true` if a `cob=` line gave the object of the next callee.
    #[inline]
    pub fn has_callee_object(&self) -> bool {
        self.names[CALLEE_OBJECT].is_some()
    }

    /// `true` if a `cfi=` or `cfl=` line gave the file of the next callee.
    #[inline]
    pub fn has_callee_file(&self) -> bool {
        self.names[CALLEE_FILE].is_some()
    }

    /// The file that the next jump leads to: that of `jfi=`, otherwise as for callees.
    #[inline]
    pub fn jump_file(&self) -> Option<T> {
        self.names[JUMP_FILE].or_else(|| self.default_file())
    }

    /// The function that the next jump leads to: that of `jfn=`, otherwise the current one.
    #[inline]
    pub fn jump_function(&self) -> Option<T> {
        self.names[JUMP_FUNCTION].or(self.names[FUNCTION])
    }

    /// `true` if a `jfn=` line gave the function that the next jump leads to.
    #[inline]
    pub fn has_jump_function(&self) -> bool {
        self.names[JUMP_FUNCTION].is_some()
    }

    /// `true` if the file has said `fl=`.
    #[inline]
    pub fn has_fl(&self) -> bool {
        self.last_fl.is_some()
    }

    /// A name that outlives the function.
    pub fn carried(&self, name: CarriedName) -> Option<T> {
        match name {
            CarriedName::Object => self.names[OBJECT],
            CarriedName::File => self.file(),
            CarriedName::LastFl => self.last_fl,
        }
    }

    /// The context where the next function begins, with each name replaced.
    pub fn carry_over<U: Copy>(&self, mut replace: impl FnMut(CarriedName, T) -> U) -> NameContext<U> {
        let mut carry = |name| self.carried(name).map(|value| replace(name, value));
        let mut next = NameContext::default();
        next.names[OBJECT] = carry(CarriedName::Object);
        next.names[FILE] = carry(CarriedName::File);
        next.last_fl = carry(CarriedName::LastFl);
        next.base_rule = self.base_rule;
        next
    }

    /// Takes a name line.
    #[inline(always)]
    pub fn name(&mut self, key: NameKey, name: T) {
        // Only two keys are more than an assignment. Which one it is of the others must not be a branch: keys follow
        // each other too irregularly for it to be predicted.
        self.names[Self::slot(key)] = Some(name);
        if matches!(key, NameKey::Fn | NameKey::Fl) {
            self.begin_function_or_file(key, name);
        }
    }

    #[inline(never)]
    fn begin_function_or_file(&mut self, key: NameKey, name: T) {
        if key == NameKey::Fn {
            self.names[FILE] = self.last_fl.or(self.file());
            self.function_file = self.names[FILE];
            self.names[SELF_FILE] = self.names[FILE];
            self.function_has_lines = false;
            self.last_call_position = None;
            self.forget_calls();
        } else {
            self.last_fl = Some(name);
            if !self.function_has_lines {
                self.function_file = Some(name);
                self.names[SELF_FILE] = Some(name);
            }
        }
    }

    #[inline(always)]
    fn slot(key: NameKey) -> usize {
        match key {
            NameKey::Ob => OBJECT,
            NameKey::Fl | NameKey::Fi | NameKey::Fe => FILE,
            NameKey::Fn => FUNCTION,
            NameKey::Frfn => FROM,
            NameKey::Cob => CALLEE_OBJECT,
            NameKey::Cfi | NameKey::Cfl => CALLEE_FILE,
            NameKey::Cfn => CALLEE,
            NameKey::Jfi => JUMP_FILE,
            NameKey::Jfn => JUMP_FUNCTION,
        }
    }

    /// Takes a line with costs, of which role does not matter: `fl=` no longer names the file of the function.
    #[inline]
    pub fn cost_line(&mut self) {
        self.function_has_lines = true;
    }

    /// Takes a line of self cost. Only the first after a name, a call or a jump changes anything.
    #[inline]
    pub fn self_cost_line(&mut self) {
        self.function_has_lines = true;
        if self.names[FILE].is_some() || self.last_call_position.is_some() {
            self.remember_file();
        }
    }

    /// Remembers the current file as that of the last self cost line.
    #[inline]
    pub fn remember_file(&mut self) {
        self.names[SELF_FILE] = self.file();
        self.names[FILE] = None;
        self.last_call_position = None;
    }

    /// Takes the second line of a call or jump, before its file is asked for: without a new file, a call at the position of
    /// the last one is in the same file. A loader that does not ask for the file of calls need not do this.
    #[inline]
    pub fn call_line(&mut self, position: Positions) {
        self.function_has_lines = true;
        if self.base_rule == BaseRule::SelfCosts {
            if self.names[FILE].is_none() && self.last_call_position == Some(position) {
                self.names[FILE] = self.names[CALL_FILE];
            }
            self.names[CALL_FILE] = self.file();
            self.last_call_position = Some(position);
        }
    }

    /// Names the last callee again, for a call without `cfn=`.
    pub fn repeat_last_callee(&mut self) {
        self.names[CALLEE] = self.names[CALLEE].or(self.last_callee);
    }

    /// Ends a call that has its cost line.
    #[inline]
    pub fn end_call(&mut self) {
        self.last_callee = self.names[CALLEE];
        self.drop_call();
        self.end_file_of_call(CostRole::Call);
    }

    /// Ends a call that has no cost line.
    #[inline]
    pub fn drop_call(&mut self) {
        self.names[CALLEE_OBJECT] = None;
        self.names[CALLEE_FILE] = None;
        self.names[CALLEE] = None;
    }

    /// Ends a jump that has its second line.
    #[inline]
    pub fn end_jump(&mut self) {
        self.drop_jump();
        self.end_file_of_call(CostRole::JumpSource);
    }

    /// Ends a jump that has no second line.
    #[inline]
    pub fn drop_jump(&mut self) {
        self.names[JUMP_FILE] = None;
        self.names[JUMP_FUNCTION] = None;
    }

    /// The file that was named before a call or jump ends with it, if later lines do not depend on lines of this role.
    #[inline]
    fn end_file_of_call(&mut self, role: CostRole) {
        if !self.base_rule.is_moved_by(role) {
            self.names[FILE] = None;
        }
    }

    /// Forgets the last callee, as at the beginning of a part.
    pub fn forget_last_callee(&mut self) {
        self.last_callee = None;
    }

    /// Forgets the callee lines and the last callee.
    ///
    /// `fn=` does that, so that the lines of each function can be read alone, and a loader where a part begins.
    pub fn forget_calls(&mut self) {
        self.drop_call();
        self.last_callee = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(lines: &[(NameKey, u32)]) -> NameContext<u32> {
        let mut context = NameContext::default();
        lines.iter().for_each(|&(key, name)| context.name(key, name));
        context
    }

    #[test]
    fn a_function_returns_to_the_file_of_fl() {
        let mut context = context(&[(NameKey::Fl, 1), (NameKey::Fn, 2)]);
        context.cost_line();
        context.name(NameKey::Fi, 3);
        assert_eq!((context.file(), context.function_file()), (Some(3), Some(1)));
        context.name(NameKey::Fn, 4);
        assert_eq!((context.file(), context.function_file()), (Some(1), Some(1)));
    }

    #[test]
    fn without_fl_a_function_keeps_the_file_of_fi() {
        let context = context(&[(NameKey::Fi, 1), (NameKey::Fn, 2)]);
        assert_eq!((context.file(), context.function_file(), context.has_fl()), (Some(1), Some(1), false));
    }

    #[test]
    fn fl_names_the_file_of_a_function_until_it_has_lines() {
        let mut context = context(&[(NameKey::Fn, 1), (NameKey::Fl, 2)]);
        assert_eq!(context.function_file(), Some(2));
        context.cost_line();
        context.name(NameKey::Fl, 3);
        assert_eq!((context.file(), context.function_file()), (Some(3), Some(2)));
    }

    #[test]
    fn callee_lines_hold_for_one_call() {
        let mut context =
            context(&[(NameKey::Ob, 1), (NameKey::Cob, 2), (NameKey::Cfi, 3), (NameKey::Cfn, 4)]);
        assert_eq!(
            (context.callee_object(), context.callee_file(), context.callee()),
            (Some(2), Some(3), Some(4))
        );
        context.end_call();
        assert_eq!((context.callee_object(), context.callee_file(), context.callee()), (Some(1), None, None));
        context.repeat_last_callee();
        assert_eq!(context.callee(), Some(4));
        context.drop_call();
        context.forget_calls();
        context.repeat_last_callee();
        assert_eq!(context.callee(), None);
    }

    #[test]
    fn a_function_forgets_the_callee_lines_before_it() {
        let mut context = context(&[(NameKey::Cfn, 1), (NameKey::Fn, 2)]);
        assert_eq!(context.callee(), None);
        context.name(NameKey::Cfn, 3);
        context.end_call();
        context.name(NameKey::Fn, 4);
        context.repeat_last_callee();
        assert_eq!(context.callee(), None);
    }

    /// The file of a self cost line.
    fn self_cost(context: &mut NameContext<u32>) -> Option<u32> {
        let file = context.file();
        context.self_cost_line();
        file
    }

    /// The files of a call at this line, and of its callee.
    fn call(context: &mut NameContext<u32>, line: u64) -> [Option<u32>; 2] {
        let callee_file = context.callee_file();
        context.call_line(Positions::new(&[line]));
        let file = context.file();
        context.end_call();
        [file, callee_file]
    }

    #[test]
    fn by_the_rule_of_callgrind_the_file_of_a_call_ends_with_it() {
        let mut context = context(&[(NameKey::Fl, 1), (NameKey::Fn, 2), (NameKey::Fi, 3)]);
        context.set_base_rule(BaseRule::SelfCosts);
        assert_eq!(call(&mut context, 26), [Some(3), Some(1)]);
        // The second call at the same position needs no `fi=`; one at another is in the file of the last self cost.
        assert_eq!(call(&mut context, 26), [Some(3), Some(1)]);
        assert_eq!(call(&mut context, 7), [Some(1), Some(1)]);
        assert_eq!(self_cost(&mut context), Some(1));
        context.name(NameKey::Fi, 3);
        assert_eq!(self_cost(&mut context), Some(3));
        assert_eq!(call(&mut context, 26), [Some(3), Some(3)]);
        context.name(NameKey::Fe, 1);
        context.name(NameKey::Jfi, 4);
        assert_eq!(context.jump_file(), Some(4));
        context.call_line(Positions::new(&[5]));
        assert_eq!(context.file(), Some(1));
        context.end_jump();
        assert_eq!((context.jump_file(), self_cost(&mut context)), (Some(3), Some(3)));
        // After a self cost line, the same position says nothing.
        context.name(NameKey::Fi, 5);
        assert_eq!(call(&mut context, 9), [Some(5), Some(3)]);
        assert_eq!(self_cost(&mut context), Some(3));
        assert_eq!(call(&mut context, 9), [Some(3), Some(3)]);
        context.name(NameKey::Fn, 6);
        assert_eq!(call(&mut context, 9), [Some(1), Some(1)]);
    }

    #[test]
    fn by_the_rule_of_others_a_file_holds_until_the_next() {
        let mut context = context(&[(NameKey::Fl, 1), (NameKey::Fn, 2), (NameKey::Fi, 3)]);
        assert_eq!(call(&mut context, 26), [Some(3), Some(3)]);
        assert_eq!(self_cost(&mut context), Some(3));
        assert_eq!(call(&mut context, 7), [Some(3), Some(3)]);
        assert_eq!(self_cost(&mut context), Some(3));
    }

    #[test]
    fn object_and_files_are_carried_over() {
        let context = context(&[
            (NameKey::Ob, 1),
            (NameKey::Fl, 2),
            (NameKey::Fn, 3),
            (NameKey::Fi, 4),
            (NameKey::Cfn, 5),
            (NameKey::Jfn, 6),
        ]);
        let next = context.carry_over(|_, name| name + 10);
        let carried =
            [CarriedName::Object, CarriedName::File, CarriedName::LastFl].map(|name| next.carried(name));
        assert_eq!(carried, [Some(11), Some(14), Some(12)]);
        assert_eq!((next.function(), next.callee(), next.has_jump_function()), (None, None, false));
    }
}
