//! Reads a profile in the plainest way, line by line.
//!
//! Nothing here is shared with the crates. Beside what a line means stands what callgrind_annotate takes it for where
//! that is something else: that is how a file triggers a [`Rule`].

use std::collections::BTreeSet;

use super::callees;
use super::facts::{Block, Call, Facts, Given, IDENTITY, Part, Row, add};
use super::rules::Rule;
use super::words::{
    FILES, FUNCTIONS, Names, OBJECTS, Origin, cost, event_types, is_blank, number, text, words,
};

impl Facts {
    /// Reads files, all parts of which make one profile. `here` is the working folder.
    pub(crate) fn read(files: &[&[u8]], here: &str) -> Facts {
        let mut reader =
            Reader { here: format!("{here}/"), columns: vec![Column::Line], ..Reader::default() };
        for file in files {
            reader.begin_file();
            for line in lines(&text(file)) {
                if line.ends_with('\r') {
                    reader.facts.rules.insert(Rule::CarriageReturns);
                }
                reader.line(line.strip_suffix('\r').unwrap_or(line));
            }
        }
        if reader.facts.parts.len() > 1 {
            reader.facts.rules.insert(Rule::Parts);
        }
        if callees::unite(&mut reader.facts) {
            reader.facts.rules.insert(Rule::Callees);
        }
        reader.facts.keep_shared_header();
        reader.facts
    }
}

/// Lines end as they do on a Macintosh of old if none ends otherwise; the carriage return is left as the mark of that.
fn lines(text: &str) -> Vec<&str> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    text.split_inclusive(end).map(|line| line.strip_suffix('\n').unwrap_or(line)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Line,
    Block,
    Address,
}

#[derive(Debug, Default)]
struct Reader {
    facts: Facts,
    here: String,

    /// Of the part: whether it has begun, and what of it has been seen.
    in_part: bool,
    said: BTreeSet<String>,
    pid: Option<u64>,
    has_events: bool,
    has_body: bool,
    has_totals: bool,
    columns: Vec<Column>,
    /// Callgrind's own relative lines do not count from the lines of calls, and its files do not hold behind them.
    is_callgrind: bool,
    /// The file of the last self cost line, or of the function before any.
    self_file: Option<String>,
    /// A file was named after the last call or jump.
    is_file_new: bool,
    /// The file and positions of the last call or jump, if no self cost came after it.
    last_call: Option<(Option<String>, Vec<u64>)>,
    found: Vec<u64>,

    names: Names,
    object: Option<String>,
    file: Option<String>,
    last_fl: Option<String>,
    function: Option<String>,
    function_file: Option<String>,
    /// `true` if the function has a block.
    is_open: bool,
    callee_object: Option<String>,
    callee_file: Option<String>,
    callee: Option<String>,
    last_callee: Option<String>,
    call: Option<Call>,
    jump: bool,

    /// The base of the next relative positions, and the base that the original uses.
    base: Vec<u64>,
    original_base: u64,
    /// `true` if `fl=` named the file: the original does not take its code as inlined.
    is_file_of_function: bool,
    /// The file that the original is in, and was at `fn=`.
    original_file: Option<String>,
    original_function_file: Option<String>,
}

/// Counts as the original understands them.
fn is_plain_cost(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    word == "." || !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Positions as the original understands them: it knows no ranges, and nothing keeps it within numbers.
fn is_plain_position(word: &str, base: u64) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    let fits = match (word.chars().next(), number(rest)) {
        (Some('+'), Some(offset)) => base.checked_add(offset).is_some(),
        (Some('-'), Some(offset)) => base.checked_sub(offset).is_some(),
        _ => true,
    };
    fits && !rest.contains(['+', '-', ':'])
}

fn position(word: &str, base: u64) -> Option<u64> {
    let first = |digits: &str| number(digits.split(['+', '-', ':']).next().unwrap_or(digits));
    match word.chars().next()? {
        '*' => (word == "*").then_some(base),
        '+' => Some(base.saturating_add(first(&word[1..])?)),
        '-' => Some(base.saturating_sub(first(&word[1..])?)),
        _ => first(word),
    }
}

impl Reader {
    fn begin_file(&mut self) {
        self.end_part();
        self.forget_names();
        self.pid = None;
        self.columns = vec![Column::Line];
        self.is_callgrind = false;
        self.base = Vec::new();
        self.original_base = 0;
    }

    fn differs(&mut self, rule: Rule) {
        self.facts.rules.insert(rule);
    }

    fn line(&mut self, line: &str) {
        let body = line.trim_start_matches(is_blank);
        let Some(first) = body.chars().next() else { return };
        if first == '#' {
            return;
        }
        let is_indented = body.len() < line.len();
        if is_indented {
            self.differs(Rule::Spelling);
        }
        if first.is_ascii_digit() || matches!(first, '+' | '-' | '*') {
            return self.numbers(body, is_indented);
        }
        if self.call.take().is_some() {
            self.differs(Rule::Spelling);
            self.call_is_done();
        }
        self.jump = false;
        if line.starts_with("==== NEW PROFILING FILE ===") {
            self.differs(Rule::Spelling);
            self.end_part();
            return self.forget_names();
        }
        let Some(at) = body.find([':', '=']) else { return self.differs(Rule::Spelling) };
        let written = &body[..at];
        let key = written.trim_end_matches(is_blank).to_ascii_lowercase();
        if key != written {
            self.differs(Rule::Spelling);
        }
        let (key, value) = (key.as_str(), body[at + 1..].trim_start_matches(is_blank));
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_lowercase()) {
            return self.differs(Rule::Spelling);
        }
        if body[at..].starts_with(':') || key == "totals" {
            self.header(key, value, body);
        } else {
            self.named(key, value);
        }
    }

    fn part(&mut self) -> &mut Part {
        if !self.in_part {
            self.in_part = true;
            // The process goes on.
            self.facts.parts.push(Part { said: [self.pid, None, None], ..Part::default() });
        }
        self.facts.parts.last_mut().expect("there is one now")
    }

    fn end_part(&mut self) {
        self.in_part = false;
        self.said.clear();
        (self.has_events, self.has_body, self.has_totals) = (false, false, false);
        self.is_open = false;
        self.base = Vec::new();
        self.last_callee = None;
        self.call_is_done();
    }

    fn forget_names(&mut self) {
        self.names = Default::default();
        (self.object, self.file, self.function, self.function_file, self.last_fl) = Default::default();
        self.original_file = None;
        (self.self_file, self.last_call) = Default::default();
    }

    fn header(&mut self, key: &str, value: &str, line: &str) {
        if ["version", "creator", "pid", "part", "thread", "positions", "events"].contains(&key) {
            let again = ["version", "pid", "part", "thread"].contains(&key) && self.said.contains(key);
            if self.has_body || self.has_totals || again && self.has_events {
                self.end_part();
            }
            self.said.insert(key.to_owned());
        }
        self.part();
        let is_first = self.facts.parts.len() == 1;
        if self.has_events && !["summary", "totals"].contains(&key) {
            self.differs(Rule::Header);
        }
        match key {
            "positions" => {
                self.columns = words(value).iter().map(|word| column(word)).collect();
                if self.columns.contains(&Column::Block) {
                    self.differs(Rule::BasicBlocks);
                }
                if self.columns.iter().position(|&column| column == Column::Line) == Some(0)
                    && self.columns.len() > 1
                {
                    self.differs(Rule::Spelling);
                }
            }
            "events" => {
                self.has_events = true;
                self.events(value);
            }
            "summary" | "totals" | "total" => {
                let costs: Given = words(value).iter().map(|word| cost(word)).collect();
                if costs.len() > self.part().columns.len() {
                    self.differs(Rule::Spelling);
                }
                let costs = self.in_order(costs);
                match key {
                    "summary" => self.part().summary = Some(costs),
                    _ => {
                        self.has_totals = true;
                        self.part().totals = Some(costs);
                    }
                }
            }
            "creator" => {
                self.is_callgrind = value.starts_with("callgrind-");
                self.shown(is_first, line);
            }
            "version" | "pid" | "part" | "thread" | "desc" | "cmd" => {
                if let Some(nth) = IDENTITY.iter().position(|identity| *identity == key) {
                    let said = number(value.trim_end_matches(is_blank));
                    self.part().said[nth] = said;
                    self.pid = self.part().said[0];
                    if said.is_none() {
                        return self.differs(Rule::Spelling);
                    }
                }
                self.shown(is_first, line);
            }
            "event" => {}
            _ => self.differs(Rule::Header),
        }
    }

    fn shown(&mut self, is_first: bool, line: &str) {
        if is_first {
            self.facts.header.push(line.to_owned());
        }
    }

    fn events(&mut self, value: &str) {
        let mut places = Vec::new();
        for name in event_types(value) {
            let known = self.facts.events.iter().position(|event| *event == name);
            places.push(known.unwrap_or_else(|| {
                self.facts.events.push(name);
                self.facts.events.len() - 1
            }));
        }
        self.part().columns = places;
    }

    /// Puts costs of the part into the order of all events.
    fn in_order(&mut self, costs: Given) -> Given {
        let columns = self.part().columns.clone();
        let mut all = vec![None; self.facts.events.len()];
        for (place, cost) in columns.into_iter().zip(costs) {
            all[place] = cost;
        }
        all
    }

    /// `key=value`
    fn named(&mut self, key: &str, value: &str) {
        self.part();
        self.has_body = true;
        match key {
            "ob" => self.object = Some(self.name(OBJECTS, value)),
            "fl" => {
                let file = self.file_name(value);
                self.file = Some(file.clone());
                self.last_fl = Some(file.clone());
                self.original_file = Some(file);
                if !self.is_open {
                    self.function_file = self.file.clone();
                    self.self_file = self.file.clone();
                }
                self.is_file_of_function = true;
                self.is_file_new = true;
            }
            "fi" | "fe" => {
                let file = self.file_name(value);
                self.file = Some(file.clone());
                self.original_file = Some(file);
                self.is_file_of_function = false;
                self.is_file_new = true;
            }
            "fn" => {
                if self.function.is_some() && !self.is_open {
                    self.differs(Rule::Definitions);
                }
                self.function = Some(self.name(FUNCTIONS, value));
                self.file = self.last_fl.clone().or(self.file.take());
                self.original_function_file.clone_from(&self.original_file);
                self.function_file = self.file.clone();
                self.self_file = self.file.clone();
                (self.is_file_new, self.last_call) = (true, None);
                self.is_open = false;
                self.last_callee = None;
                self.call_is_done();
            }
            "cob" => self.callee_object = Some(self.name(OBJECTS, value)),
            "cfi" | "cfl" => {
                let name = self.name(FILES, value);
                if name.starts_with(&self.here) {
                    self.differs(Rule::WorkingFolder);
                }
                self.callee_file = Some(self.at_home(name));
            }
            "cfn" => self.callee = Some(self.name(FUNCTIONS, value)),
            "jfi" => drop(self.name(FILES, value)),
            "jfn" => drop(self.name(FUNCTIONS, value)),
            "frfn" => {
                self.differs(Rule::Spelling);
                drop(self.name(FUNCTIONS, value));
            }
            "calls" => self.calls(value),
            "jump" | "jcnd" => {
                self.open();
                self.jump = true;
            }
            "summary" => self.differs(Rule::Spelling),
            _ => self.differs(Rule::Spelling),
        }
    }

    fn at_home(&self, name: String) -> String {
        name.strip_prefix(&self.here).map_or(name.clone(), str::to_owned)
    }

    fn file_name(&mut self, value: &str) -> String {
        let name = self.name(FILES, value);
        self.at_home(name)
    }

    fn name(&mut self, space: usize, value: &str) -> String {
        if value.starts_with("(0x") {
            self.differs(Rule::Spelling);
        }
        let (name, origin) = self.names.read(space, value);
        match origin {
            Origin::Said => {}
            Origin::NoNumber | Origin::Undefined => self.differs(Rule::Spelling),
            Origin::Made => self.differs(Rule::MadeNames),
        }
        name
    }

    /// The block that lines belong to.
    fn open(&mut self) -> &mut Block {
        if !self.is_open {
            self.is_open = true;
            if self.function_file != self.original_function_file || self.function_file.is_none() {
                self.differs(Rule::FileOfFunction);
            }
            self.facts.blocks.push(Block {
                object: self.object.clone(),
                file: self.function_file.clone().unwrap_or_default(),
                function: self.function.clone().unwrap_or_default(),
                rows: Vec::new(),
            });
        }
        self.facts.blocks.last_mut().expect("there is one now")
    }

    fn calls(&mut self, value: &str) {
        self.open();
        let count = words(value).first().and_then(|word| cost(word));
        if count.is_none_or(|count| count < 0) || words(value).len() != 1 + self.columns.len() {
            self.differs(Rule::Spelling);
        }
        if count == Some(0) {
            self.differs(Rule::ZeroCalls);
        }
        if self.callee.is_none() {
            self.differs(Rule::Spelling);
            self.callee = self.last_callee.clone();
        }
        let file = if self.is_callgrind { self.self_file.clone() } else { self.file.clone() };
        if self.callee_file.is_none() && file != self.file {
            self.differs(Rule::FileOfCall);
        }
        self.call = Some(Call {
            object: self.callee_object.clone().or(self.object.clone()),
            file: self.callee_file.clone().or(file).unwrap_or_default(),
            function: self.callee.clone().unwrap_or_default(),
            is_object_said: self.callee_object.is_some(),
            is_file_said: self.callee_file.is_some(),
            count: count.unwrap_or_default(),
        });
    }

    fn call_is_done(&mut self) {
        (self.callee_object, self.callee_file, self.callee) = (None, None, None);
    }

    /// A line of positions and costs.
    fn numbers(&mut self, body: &str, is_indented: bool) {
        self.part();
        self.has_body = true;
        self.open();
        let words = words(body);
        let width = self.part().columns.len();
        // NYTProf leaves out a position that it does not know, but not the blank behind it.
        let columns = if is_indented && words.len() <= width { 0 } else { self.columns.len() };
        let line = self.positions(&words, columns);
        let given = words.get(columns..).unwrap_or_default();
        if given.len() > width || !given.iter().all(|word| is_plain_cost(word)) {
            self.differs(Rule::Spelling);
        }
        // What is no number is none that counts, but it is given.
        let given = given.iter().take(width);
        let costs = given.map(|word| cost(word).or((*word != ".").then_some(0))).collect();
        let costs = self.in_order(costs);
        let is_jump = self.jump && words.len() == columns;
        if self.call.is_none() && !is_jump {
            self.self_file = self.file.clone();
            (self.is_file_new, self.last_call) = (false, None);
        } else if self.is_callgrind {
            if let Some((file, found)) = self.last_call.take()
                && !self.is_file_new
                && found == self.found
            {
                self.file = file;
            }
            self.last_call = Some((self.file.clone(), self.found.clone()));
        }
        if self.file != self.original_file && self.is_callgrind && !self.is_file_new {
            self.differs(Rule::FileOfCall);
        } else if self.file != self.original_file
            || self.is_file_of_function && self.file != self.function_file
        {
            self.differs(Rule::FileOfFunction);
        }
        let file = self.file.clone().unwrap_or_default();
        if let Some(call) = self.call.take() {
            self.last_callee = self.callee.take();
            self.call_is_done();
            self.open().rows.push(Row { file, line, costs, call: Some(call) });
            self.end_file_of_call();
        } else if std::mem::take(&mut self.jump) && words.len() == columns {
            // Where the jump starts: no cost at all.
            self.end_file_of_call();
        } else {
            add(&mut self.part().sum, &costs);
            self.open().rows.push(Row { file, line, costs, call: None });
        }
    }

    /// Callgrind goes back to the file of the last self cost.
    fn end_file_of_call(&mut self) {
        if self.is_callgrind {
            self.file = self.self_file.clone();
            self.is_file_new = false;
        }
    }

    /// The line of a line; 0 where it is not known.
    fn positions(&mut self, words: &[&str], columns: usize) -> u64 {
        self.base.resize(self.columns.len(), 0);
        let mut found = self.base.clone();
        let mut original = None;
        for (nth, word) in words.iter().take(columns).enumerate() {
            let Some(here) = position(word, self.base[nth]) else {
                self.differs(Rule::Spelling);
                continue;
            };
            if !is_plain_position(word, self.base[nth]) {
                self.differs(Rule::Spelling);
            }
            found[nth] = here;
            if self.columns[nth] == Column::Line {
                original = position(word, self.original_base);
            }
        }
        let nth_line = self.columns.iter().position(|&column| column == Column::Line);
        let line = nth_line.filter(|_| columns > 0).map_or(0, |nth| found[nth]);
        if let Some(original) = original {
            if original != line {
                self.differs(Rule::Drift);
            }
            self.original_base = original;
        }
        let moves = !(self.is_callgrind && (self.call.is_some() || self.jump));
        if moves && columns > 0 {
            self.base = found.clone();
        }
        self.found = found;
        line
    }
}

fn column(word: &str) -> Column {
    match word {
        "line" => Column::Line,
        "bb" => Column::Block,
        _ => Column::Address,
    }
}
