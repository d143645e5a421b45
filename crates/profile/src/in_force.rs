//! The names that a line is about, whatever stands for a name.

use gristmill_format::NameKey;

/// The names in force at a place of a file, as `gristmill_format::Context` has them, but by something shorter than a
/// text.
///
/// Two rules are added. Files that never say `fl=` name the file of a function with `fi=` before its `fn=`. And what
/// was said of a call does not outlive the function or part that it was said in, so that the lines of a function can
/// be read alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InForce<T> {
    pub(crate) object: Option<T>,
    pub(crate) file: Option<T>,
    /// What `fn=` goes back to.
    pub(crate) last_fl: Option<T>,
    pub(crate) function_file: Option<T>,
    pub(crate) function: Option<T>,
    pub(crate) has_lines: bool,
    pub(crate) callee_object: Option<T>,
    pub(crate) callee_file: Option<T>,
    pub(crate) callee: Option<T>,
    /// Whom the last call was to.
    pub(crate) last_callee: Option<T>,
}

impl<T> Default for InForce<T> {
    fn default() -> Self {
        InForce {
            object: None,
            file: None,
            last_fl: None,
            function_file: None,
            function: None,
            has_lines: false,
            callee_object: None,
            callee_file: None,
            callee: None,
            last_callee: None,
        }
    }
}

impl<T: Copy> InForce<T> {
    #[inline(always)]
    pub(crate) fn name(&mut self, key: NameKey, name: T) {
        // Asked for first, as most lines name a callee, and which line comes cannot be foreseen.
        match key {
            NameKey::Cfn => self.callee = Some(name),
            NameKey::Cob => self.callee_object = Some(name),
            NameKey::Cfi | NameKey::Cfl => self.callee_file = Some(name),
            _ => self.name_of_lines(key, name),
        }
    }

    #[inline(never)]
    fn name_of_lines(&mut self, key: NameKey, name: T) {
        let name = Some(name);
        match key {
            NameKey::Ob => self.object = name,
            NameKey::Fl => {
                self.file = name;
                self.last_fl = name;
                // Some write the file after the function.
                if !self.has_lines {
                    self.function_file = name;
                }
            }
            NameKey::Fi | NameKey::Fe => self.file = name,
            NameKey::Fn => {
                self.function = name;
                self.file = self.last_fl.or(self.file);
                self.function_file = self.file;
                self.has_lines = false;
                self.call_done();
                self.last_callee = None;
            }
            // Those of callees were dealt with.
            _ => {}
        }
    }

    /// The call has got its costs, or will get none.
    #[inline]
    pub(crate) fn call_done(&mut self) {
        self.callee_object = None;
        self.callee_file = None;
        self.callee = None;
    }

    /// What is in force where the next function begins, with something else standing for each name.
    pub(crate) fn at_next_function<U>(&self, mut change: impl FnMut(Slot, T) -> U) -> InForce<U> {
        let mut change = |slot, name: Option<T>| name.map(|name| change(slot, name));
        InForce {
            object: change(Slot::Object, self.object),
            file: change(Slot::File, self.file),
            last_fl: change(Slot::LastFl, self.last_fl),
            ..InForce::default()
        }
    }

    /// What is in one of the slots.
    pub(crate) fn get(&self, slot: Slot) -> Option<T> {
        match slot {
            Slot::Object => self.object,
            Slot::File => self.file,
            Slot::LastFl => self.last_fl,
        }
    }
}

/// One of the names that outlive a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Object,
    File,
    LastFl,
}

impl Slot {
    /// The index of its name space.
    pub(crate) fn space(self) -> usize {
        match self {
            Slot::Object => 0,
            Slot::File | Slot::LastFl => 1,
        }
    }
}
