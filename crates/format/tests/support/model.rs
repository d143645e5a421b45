//! A model of parts and names, as the documentation describes them.

use gristmill_format::{CostRole, Name, NameKey};

use crate::made::Made;

/// The rules of the documentation about parts and names, in the plainest way.
#[derive(Default)]
pub(crate) struct Model<'m> {
    pub(crate) part: u32,
    has_events: bool,
    has_body: bool,
    has_totals: bool,
    said: Vec<&'static str>,
    object: Option<Name<'m>>,
    file: Option<Name<'m>>,
    last_fl: Option<Name<'m>>,
    function: Option<Name<'m>>,
    from: Option<Name<'m>>,
    callee: [Option<Name<'m>>; 3],
    jump: [Option<Name<'m>>; 2],
    /// The last `creator:` is Callgrind, which remembers the file of the last self cost.
    is_callgrind: bool,
    self_file: Option<Name<'m>>,
    /// A file came after the last call or jump.
    is_file_new: bool,
    /// The file and position of the last call or jump, if no self cost came after it.
    last_call: Option<(Option<Name<'m>>, &'m [u64])>,
    /// The function has a line.
    has_lines: bool,
    /// The second line of a call or jump was the last one.
    done: Option<CostRole>,
    expected: Option<CostRole>,
}

impl<'m> Model<'m> {
    fn header(&mut self, key: &'static str) {
        let once = ["version", "pid", "part", "thread"].contains(&key);
        let again = once && self.said.contains(&key) && self.has_events;
        if self.has_body || self.has_totals || again {
            self.next_part();
        }
        self.said.push(key);
    }

    fn next_part(&mut self) {
        self.part += 1;
        (self.has_events, self.has_body, self.has_totals) = (false, false, false);
        self.said.clear();
    }

    pub(crate) fn line(&mut self, made: &'m Made) {
        match self.done.take() {
            Some(CostRole::Call) => {
                self.callee = [None; 3];
                self.end_call();
            }
            Some(CostRole::JumpSource) => {
                self.jump = [None; 2];
                self.end_call();
            }
            _ => {}
        }
        match made {
            Made::Blank | Made::Comment(_) | Made::Cost(..) => {}
            _ => {
                // A jump may go without its second line.
                if self.expected.take() == Some(CostRole::JumpSource) {
                    self.jump = [None; 2];
                }
            }
        }
        match made {
            Made::NewProfile(_) => {
                let is_empty = !(self.has_body || self.has_totals || self.has_events) && self.said.is_empty();
                let part = self.part;
                *self = Model { part, ..Model::default() };
                if !is_empty {
                    self.part += 1;
                }
            }
            Made::Version(_) => self.header("version"),
            Made::Creator(creator) => {
                self.header("creator");
                self.is_callgrind = creator.starts_with(b"callgrind-");
            }
            Made::Pid(_) => self.header("pid"),
            Made::Part(_) => self.header("part"),
            Made::Thread(_) => self.header("thread"),
            Made::Positions(_) => self.header("positions"),
            Made::Events(_) => {
                self.header("events");
                self.has_events = true;
            }
            Made::Totals(_) => self.has_totals = true,
            Made::Name(key, name) => {
                self.has_body = true;
                self.name(*key, name.name());
            }
            Made::Calls(..) => {
                self.has_body = true;
                self.expected = Some(CostRole::Call);
            }
            Made::Jump { .. } => {
                self.has_body = true;
                self.expected = Some(CostRole::JumpSource);
            }
            Made::Cost(role, positions, ..) => {
                self.has_body = true;
                self.has_lines = true;
                if self.expected.take() == Some(CostRole::JumpSource) && *role == CostRole::SelfCost {
                    self.jump = [None; 2];
                }
                self.done = Some(*role);
                if *role == CostRole::SelfCost {
                    (self.self_file, self.is_file_new, self.last_call) = (self.file, false, None);
                } else if self.is_callgrind {
                    if let Some((file, last)) = self.last_call
                        && !self.is_file_new
                        && last == &positions[..]
                    {
                        self.file = file;
                    }
                    self.last_call = Some((self.file, positions));
                }
            }
            Made::Numbers(..) | Made::UnknownBody(..) => self.has_body = true,
            Made::Blank
            | Made::Comment(_)
            | Made::Command(_)
            | Made::Description(..)
            | Made::Event { .. }
            | Made::Summary(_)
            | Made::OtherHeader(..) => {}
        }
    }

    /// Behind a call, the file is again that of the last self cost.
    fn end_call(&mut self) {
        if self.is_callgrind {
            self.file = self.self_file;
            self.is_file_new = false;
        }
    }

    fn name(&mut self, key: NameKey, name: Name<'m>) {
        self.is_file_new |= matches!(key, NameKey::Fl | NameKey::Fi | NameKey::Fe | NameKey::Fn);
        if key == NameKey::Fn {
            (self.has_lines, self.last_call, self.callee) = (false, None, [None; 3]);
        }
        if key == NameKey::Fn || key == NameKey::Fl && !self.has_lines {
            self.self_file = if key == NameKey::Fl { Some(name) } else { self.last_fl.or(self.file) };
        }
        let place = match key {
            NameKey::Ob => &mut self.object,
            NameKey::Fl => {
                self.file = Some(name);
                &mut self.last_fl
            }
            NameKey::Fi | NameKey::Fe => &mut self.file,
            NameKey::Fn => {
                self.file = self.last_fl.or(self.file);
                &mut self.function
            }
            NameKey::Frfn => &mut self.from,
            NameKey::Cob => &mut self.callee[0],
            NameKey::Cfi | NameKey::Cfl => &mut self.callee[1],
            NameKey::Cfn => &mut self.callee[2],
            NameKey::Jfi => &mut self.jump[0],
            NameKey::Jfn => &mut self.jump[1],
        };
        *place = Some(name);
    }

    /// The names that a cost line is about.
    pub(crate) fn names(&self, role: CostRole) -> Vec<Option<Name<'m>>> {
        let mut names = vec![self.object, self.file, self.function, self.from];
        let file = if self.is_callgrind { self.self_file } else { self.file };
        match role {
            CostRole::SelfCost => {}
            CostRole::Call => {
                names.extend([self.callee[0].or(self.object), self.callee[1].or(file), self.callee[2]]);
            }
            CostRole::JumpSource => {
                names.extend([self.jump[0].or(file), self.jump[1].or(self.function)]);
            }
        }
        names
    }
}
