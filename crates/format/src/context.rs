//! The names that a line is about: what `ob=`, `fl=`, `fn=` and the callee lines leave behind.

use crate::name::{Name, NameKey};

const OBJECT: usize = 0;
const FILE: usize = 1;
const FUNCTION: usize = 2;
const FROM: usize = 3;
const CALLEE_OBJECT: usize = 4;
const CALLEE_FILE: usize = 5;
const CALLEE: usize = 6;
const JUMP_FILE: usize = 7;
const JUMP_FUNCTION: usize = 8;

/// The names in force at a place of the file.
///
/// `cob=` and `cfi=` hold for the next call only; without them a callee is in the caller's object and in the *current*
/// file, which inside inlined code is the file of the last `fi=`. `fn=` goes back to the file of the last `fl=`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context<'a> {
    names: [Option<Name<'a>>; 9],
    last_fl: Option<Name<'a>>,
    function_file: Option<Name<'a>>,
    function_has_lines: bool,
}

impl<'a> Context<'a> {
    /// The object of self costs.
    pub fn object(&self) -> Option<Name<'a>> {
        self.names[OBJECT]
    }

    /// The source file of self costs: that of the last `fl=`, `fi=` or `fe=`.
    pub fn file(&self) -> Option<Name<'a>> {
        self.names[FILE]
    }

    /// The source file of the function itself, also inside inlined code.
    pub fn function_file(&self) -> Option<Name<'a>> {
        self.function_file
    }

    /// The function.
    pub fn function(&self) -> Option<Name<'a>> {
        self.names[FUNCTION]
    }

    /// What `frfn=` said: where the function was called from.
    pub fn from(&self) -> Option<Name<'a>> {
        self.names[FROM]
    }

    /// The object of the next callee.
    pub fn callee_object(&self) -> Option<Name<'a>> {
        self.names[CALLEE_OBJECT].or(self.names[OBJECT])
    }

    /// The file of the next callee.
    pub fn callee_file(&self) -> Option<Name<'a>> {
        self.names[CALLEE_FILE].or(self.names[FILE])
    }

    /// The next callee.
    pub fn callee(&self) -> Option<Name<'a>> {
        self.names[CALLEE]
    }

    /// The file that the next jump leads to.
    pub fn jump_file(&self) -> Option<Name<'a>> {
        self.names[JUMP_FILE].or(self.names[FILE])
    }

    /// The function that the next jump leads to.
    pub fn jump_function(&self) -> Option<Name<'a>> {
        self.names[JUMP_FUNCTION].or(self.names[FUNCTION])
    }

    #[inline]
    pub(crate) fn name(&mut self, key: NameKey, name: Name<'a>) {
        let name = Some(name);
        // Only two keys are more than an assignment. Which one it is of the others must not be a branch: keys follow
        // each other too irregularly for it to be guessed.
        self.names[Self::place(key)] = name;
        if key == NameKey::Fn {
            self.names[FILE] = self.last_fl;
            self.function_file = self.last_fl;
            self.function_has_lines = false;
        } else if key == NameKey::Fl {
            self.last_fl = name;
            // Some write the file after the function.
            if !self.function_has_lines {
                self.function_file = name;
            }
        }
    }

    #[inline]
    fn place(key: NameKey) -> usize {
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

    #[inline]
    pub(crate) fn cost_line(&mut self) {
        self.function_has_lines = true;
    }

    /// The call has got its cost line.
    pub(crate) fn call_done(&mut self) {
        self.names[CALLEE_OBJECT] = None;
        self.names[CALLEE_FILE] = None;
        self.names[CALLEE] = None;
    }

    /// The jump has got its position line.
    pub(crate) fn jump_done(&mut self) {
        self.names[JUMP_FILE] = None;
        self.names[JUMP_FUNCTION] = None;
    }
}
