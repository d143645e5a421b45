//! Reads a profile line by line in the plainest way: names are texts, and everything that is known lies in maps.
//!
//! Nothing here is shared with the crate. What a line means is written down a second time, and what is not understood at
//! once is noted as odd: such a file is none to hold anything against.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{
    FILES, FUNCTIONS, Names, OBJECTS, Origin, cost, event_types, is_blank, number, text, words,
};

/// A function while the file is read: its index in [`Reading::functions`].
pub(crate) type Id = usize;

/// Object, source file, name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) object: String,
    pub(crate) file: String,
    pub(crate) name: String,
}

/// The traits of all mentions of a function together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mention {
    /// There are lines below its own `fn=`.
    pub(crate) has_lines: bool,
    /// Some call to it had a `cob=`.
    pub(crate) object_was_given: bool,
    /// Some call to it had a `cfi=` or `cfl=`.
    pub(crate) file_was_given: bool,
}

/// All calls from one function to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arc {
    pub(crate) count: i128,
    pub(crate) costs: Vec<i128>,
}

/// One header with its body. Costs are in the order of [`Part::events`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) pid: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) thread: Option<u64>,
    /// Event types by name; the second one of a name has `#2` behind it.
    pub(crate) events: Vec<String>,
    pub(crate) selves: BTreeMap<Id, Vec<i128>>,
    pub(crate) arcs: BTreeMap<(Id, Id), Arc>,
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) functions: Vec<Function>,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) parts: Vec<Part>,
    /// Lines that were not understood, with their numbers.
    pub(crate) odd: Vec<String>,
}

/// Reads files, all parts of which make one profile.
pub(crate) fn read(files: &[&[u8]]) -> Reading {
    let mut reader = Reader::default();
    for file in files {
        // Only the functions go over from one file to the next.
        reader = Reader { columns: 1, reading: reader.reading, known: reader.known, ..Reader::default() };
        let file = text(file);
        if file.contains('\r') && !file.contains('\n') {
            reader.odd("no line ends");
        }
        for (index, line) in file.split('\n').enumerate() {
            reader.number = index + 1;
            reader.line(line.strip_suffix('\r').unwrap_or(line));
        }
    }
    reader.reading
}

#[derive(Debug, Default)]
struct Reader {
    reading: Reading,
    known: BTreeMap<Function, Id>,
    /// The line that is read, for messages.
    number: usize,

    /// Of the part: whether it has begun, which header lines it has had, and whether it has had `events:`, lines of a
    /// body, and `totals:`.
    in_part: bool,
    said: BTreeSet<String>,
    has_events: bool,
    has_body: bool,
    has_totals: bool,
    pid: Option<u64>,
    columns: usize,

    names: Names,
    object: String,
    file: String,
    /// The file that `fn=` returns to.
    last_fl: Option<String>,
    function: String,
    function_file: String,
    function_has_lines: bool,
    /// The function that lines belong to, from its first line on.
    current: Option<Id>,
    callee_object: Option<String>,
    callee_file: Option<String>,
    callee: Option<String>,
    last_callee: Option<String>,

    /// The next line with numbers says what this call cost: callee and count.
    call: Option<(Id, i128)>,
    /// The next line with numbers says where a jump starts.
    jump: bool,
}

/// `*`, `+3`, `-3`, `3`, `0x3`, or a range that begins with one of these.
fn is_position(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let mut ends = unsigned.split(['+', '-', ':']);
    word == "*" || ends.clone().count() <= 2 && ends.all(|end| number(end).is_some())
}

impl Reader {
    fn odd(&mut self, what: &str) {
        self.reading.odd.push(format!("line {}: {what}", self.number));
    }

    fn line(&mut self, line: &str) {
        let body = line.trim_start_matches(is_blank);
        let Some(first) = body.chars().next() else { return };
        if first == '#' {
            return;
        }
        if first.is_ascii_digit() || matches!(first, '+' | '-' | '*') {
            return self.numbers(body, body.len() < line.len());
        }
        if body.len() < line.len() {
            self.odd("indented");
        }
        // The announced line never came.
        if self.call.take().is_some() {
            self.odd("a call without costs");
            self.call_is_done();
        }
        self.jump = false;
        if line.starts_with("==== NEW PROFILING FILE ===") {
            return self.forget_everything();
        }
        let Some(at) = body.find([':', '=']) else { return self.odd("no key") };
        let (key, value) = (&body[..at], body[at + 1..].trim_start_matches(is_blank));
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_lowercase()) {
            return self.odd("an unusual key");
        }
        if body[at..].starts_with(':') || key == "totals" {
            self.header(key, value);
        } else {
            self.named(key, value);
        }
    }

    fn part(&mut self) -> &mut Part {
        if !self.in_part {
            self.in_part = true;
            let pid = self.pid;
            self.reading.parts.push(Part { pid, ..Part::default() });
        }
        self.reading.parts.last_mut().expect("there is one now")
    }

    /// The next line begins another part, unless nothing stands in this one.
    fn end_part(&mut self) {
        self.in_part = false;
        self.said.clear();
        (self.has_events, self.has_body, self.has_totals) = (false, false, false);
        self.current = None;
        self.last_callee = None;
        self.call_is_done();
    }

    fn forget_everything(&mut self) {
        self.end_part();
        self.names = Default::default();
        (self.object, self.file, self.function, self.function_file) = Default::default();
        (self.last_fl, self.pid, self.function_has_lines) = (None, None, false);
    }

    fn header(&mut self, key: &str, value: &str) {
        if ["version", "creator", "pid", "part", "thread", "positions", "events"].contains(&key) {
            // These stand once in each part, also in one without a body.
            let again = ["version", "pid", "part", "thread"].contains(&key) && self.said.contains(key);
            if self.has_body || self.has_totals || again && self.has_events {
                self.end_part();
            }
            self.said.insert(key.to_owned());
        }
        self.part();
        match key {
            "pid" => {
                self.pid = number(value.trim_end_matches(is_blank));
                self.part().pid = self.pid;
            }
            "part" => self.part().number = number(value.trim_end_matches(is_blank)),
            "thread" => self.part().thread = number(value.trim_end_matches(is_blank)),
            "positions" => {
                self.columns = words(value).len();
                if !(1..=3).contains(&self.columns) {
                    self.odd("too many positions");
                }
            }
            "events" => {
                self.has_events = true;
                self.part().events = event_types(value);
            }
            "totals" | "total" => self.has_totals = true,
            _ => {}
        }
    }

    /// `key=value`
    fn named(&mut self, key: &str, value: &str) {
        self.part();
        self.has_body = true;
        match key {
            "ob" => self.object = self.name(OBJECTS, value),
            "fl" => {
                self.file = self.name(FILES, value);
                self.last_fl = Some(self.file.clone());
                // Some write it after the function that it is the file of.
                if !self.function_has_lines {
                    self.function_file = self.file.clone();
                }
            }
            "fi" | "fe" => self.file = self.name(FILES, value),
            "fn" => {
                self.function = self.name(FUNCTIONS, value);
                // Files without any `fl=` say it with `fi=`.
                self.file = self.last_fl.clone().unwrap_or(self.file.clone());
                self.function_file = self.file.clone();
                self.function_has_lines = false;
                self.current = None;
                self.last_callee = None;
                self.call_is_done();
            }
            "cob" => self.callee_object = Some(self.name(OBJECTS, value)),
            "cfi" | "cfl" => self.callee_file = Some(self.name(FILES, value)),
            "cfn" => self.callee = Some(self.name(FUNCTIONS, value)),
            // They say nothing that is asked for, but give numbers their meaning.
            "jfi" => drop(self.name(FILES, value)),
            "jfn" | "frfn" => drop(self.name(FUNCTIONS, value)),
            "calls" => self.calls(value),
            "jump" | "jcnd" => {
                self.caller();
                self.function_has_lines = true;
                self.jump = true;
            }
            "rec" | "bb" | "ln" => {}
            _ => self.odd("an unknown key"),
        }
    }

    fn name(&mut self, space: usize, value: &str) -> String {
        let (name, origin) = self.names.read(space, value);
        if origin == Origin::NoNumber {
            self.odd("neither a number nor a name");
        }
        name
    }

    fn id(&mut self, object: String, file: String, name: String) -> Id {
        let function = Function { object, file, name };
        if let Some(&id) = self.known.get(&function) {
            return id;
        }
        let id = self.reading.functions.len();
        self.known.insert(function.clone(), id);
        self.reading.functions.push(function);
        self.reading.mentions.push(Mention::default());
        id
    }

    /// The function that the line belongs to: the name context of its first line.
    fn caller(&mut self) -> Id {
        if let Some(id) = self.current {
            return id;
        }
        let id = self.id(self.object.clone(), self.function_file.clone(), self.function.clone());
        self.reading.mentions[id].has_lines = true;
        self.current = Some(id);
        id
    }

    fn calls(&mut self, value: &str) {
        self.caller();
        let count = words(value).first().and_then(|word| cost(word));
        if count.is_none() {
            self.odd("no count of calls");
        }
        if self.callee.is_none() {
            self.odd("nobody is called");
            self.callee = self.last_callee.clone();
        }
        let object = self.callee_object.clone().unwrap_or(self.object.clone());
        let file = self.callee_file.clone().unwrap_or(self.file.clone());
        let callee = self.id(object, file, self.callee.clone().unwrap_or_default());
        let mention = &mut self.reading.mentions[callee];
        mention.object_was_given |= self.callee_object.is_some();
        mention.file_was_given |= self.callee_file.is_some();
        self.call = Some((callee, count.unwrap_or_default()));
    }

    /// Forgets the callee: callee lines hold for one call.
    fn call_is_done(&mut self) {
        (self.callee_object, self.callee_file, self.callee) = (None, None, None);
    }

    /// A line of positions and costs.
    fn numbers(&mut self, body: &str, indented: bool) {
        self.part();
        self.has_body = true;
        let caller = self.caller();
        self.function_has_lines = true;
        let words = words(body);
        let width = self.part().events.len();
        // NYTProf leaves out a position that it does not know, but not the blank behind it.
        let columns = if indented && words.len() <= width { 0 } else { self.columns };
        if words.len() < columns || !words.iter().take(columns).all(|word| is_position(word)) {
            return self.odd("an unusual position");
        }
        if words.len() > columns + width {
            self.odd("more costs than event types");
        }
        let mut costs = vec![0; width];
        for (place, word) in costs.iter_mut().zip(words.iter().skip(columns)) {
            match cost(word) {
                Some(cost) => *place = cost,
                None if *word == "." => {}
                None => self.reading.odd.push(format!("line {}: a cost like {word}", self.number)),
            }
        }
        if let Some((callee, count)) = self.call.take() {
            self.last_callee = self.callee.take();
            self.call_is_done();
            let arc = self.part().arcs.entry((caller, callee)).or_default();
            arc.count += count;
            add(&mut arc.costs, &costs);
        } else if std::mem::take(&mut self.jump) && words.len() == columns {
            // Where the jump starts: no cost at all.
        } else {
            add(self.part().selves.entry(caller).or_default(), &costs);
        }
    }
}

/// Adds costs to a sum, which may be as yet empty.
pub(crate) fn add(sum: &mut Vec<i128>, costs: &[i128]) {
    sum.resize(sum.len().max(costs.len()), 0);
    sum.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}
