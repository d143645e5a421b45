//! The lines of a profile as callgrind_annotate reads them.
//!
//! It knows one part with one header, takes each line by itself, and skips what it does not know.

use std::borrow::Cow;

use gristmill_profile::OverBudget;
use gristmill_profile::hash::Map;

use super::error::ExactError;
use super::header::{Columns, ExactHeader};
use super::line_key::LineKey;
use super::names::{CompressedNames, Memory, TextId, Texts, is_space, without_space_before, words};
use super::number::Number;
use super::position::{Base, absolute, after_address, from, position_length, usual_number};

/// The costs of a line: `None` for those that it does not give.
pub(super) type Counts = [Option<Number>];

/// A receiver of the lines of a profile.
pub(super) trait Sink {
    /// The self cost of a line of a file.
    fn line(
        &mut self,
        file: TextId,
        line: LineKey,
        counts: &Counts,
        memory: &mut Memory,
    ) -> Result<(), OverBudget>;

    /// The calls from a line.
    fn calls(&mut self, calls: &Calls<'_>, memory: &mut Memory) -> Result<(), OverBudget>;

    /// The end of lines of a function: their self costs, and those of their calls.
    fn end_of_function(
        &mut self,
        function: TextId,
        costs: &Counts,
        call_costs: &Counts,
        memory: &mut Memory,
    ) -> Result<(), OverBudget>;

    /// The end of the lines of the last function, which began with one label and ends with another.
    fn end_of_file(
        &mut self,
        began: Option<TextId>,
        ended: Option<TextId>,
        costs: &Counts,
        call_costs: &Counts,
        memory: &mut Memory,
    ) -> Result<(), OverBudget>;

    /// The name of a file whose lines follow.
    fn file(&mut self, file: TextId);

    /// A function that begins in an object.
    fn begin_of_function(
        &mut self,
        function: TextId,
        object: Option<TextId>,
        memory: &mut Memory,
    ) -> Result<(), OverBudget>;

    /// A callee that a function names.
    fn callee(&mut self, caller: TextId, callee: TextId, memory: &mut Memory) -> Result<(), OverBudget>;

    /// A line with totals.
    fn totals(&mut self, is_summary: bool, words: &[&[u8]]);
}

/// The calls from a line of a function to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calls<'c> {
    pub(super) file: TextId,
    pub(super) line: LineKey,
    pub(super) caller: TextId,
    pub(super) callee: TextId,
    pub(super) count: Number,
    pub(super) counts: &'c Counts,
}

/// The texts of a profile, and how many lines are malformed.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names of objects, files and functions, and odd line numbers.
    pub(super) texts: Texts,
    /// `file:function`, by which functions are known.
    pub(super) labels: Texts,
    pub(super) malformed: u64,
}

/// The state between two lines.
#[derive(Debug)]
struct Reader<'s, S> {
    sink: &'s mut S,
    memory: &'s mut Memory,
    columns: Columns,
    event_count: usize,
    directory: Vec<u8>,
    names: Names,
    objects: CompressedNames,
    files: CompressedNames,
    functions: CompressedNames,
    /// The labels of files and functions that were combined before.
    combined: Map<(Option<TextId>, Option<TextId>), TextId>,
    empty: TextId,
    object: Option<TextId>,
    file: Option<TextId>,
    function: Option<TextId>,
    /// The label of the function, made where it or its inlined code began.
    label: Option<TextId>,
    callee_file: Option<TextId>,
    callee: Option<TextId>,
    /// The count of the calls whose cost is in the next line.
    pending: Option<Number>,
    line: LineKey,
    costs: Vec<Option<Number>>,
    call_costs: Vec<Option<Number>>,
    /// The counts of the current line.
    counts: Vec<Option<Number>>,
}

/// Reads the lines below a header. `directory` is omitted at the beginning of file names.
pub(super) fn read(
    profile: &[u8],
    header: &ExactHeader,
    directory: Option<&[u8]>,
    sink: &mut impl Sink,
    memory: &mut Memory,
) -> Result<Names, ExactError> {
    let mut names = Names { malformed: header.malformed, ..Names::default() };
    let empty = names.texts.id(b"", memory)?;
    let directory = directory.map_or_else(Vec::new, |directory| [directory, b"/"].concat());
    let mut reader = Reader {
        sink,
        memory,
        columns: header.columns,
        event_count: header.events.len(),
        directory,
        names,
        objects: CompressedNames::default(),
        files: CompressedNames::default(),
        functions: CompressedNames::default(),
        combined: Map::default(),
        empty,
        object: Some(empty),
        file: None,
        function: None,
        label: None,
        callee_file: None,
        callee: None,
        pending: None,
        line: LineKey::from_number(0),
        costs: Vec::new(),
        call_costs: Vec::new(),
        counts: Vec::new(),
    };
    let body = profile.get(header.bytes..).unwrap_or_default();
    let mut start = 0;
    let mut number = header.lines;
    while start < body.len() {
        let rest = &body[start..];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        number += 1;
        reader.line(&rest[..end], number)?;
        start += end + 1;
    }
    reader.end()?;
    Ok(reader.names)
}

/// The line of a line of costs, and the text behind its position.
type Position<'l> = (LineKey, Cow<'l, [u8]>);

impl<S: Sink> Reader<'_, S> {
    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ExactError> {
        match line.first() {
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => return self.costs(line, number),
            None | Some(b'#') => return Ok(()),
            Some(_) => {}
        }
        let equals = line.iter().take(6).position(|&byte| byte == b'=');
        if let Some(at) = equals {
            let value = &line[at + 1..];
            match &line[..at] {
                b"fn" => return Ok(self.begin_function(value)?),
                b"fl" => {
                    self.file = self.file_name(value)?;
                    return Ok(());
                }
                b"fi" | b"fe" => {
                    if self.label.is_none() {
                        return Err(ExactError::UnexpectedFile(number));
                    }
                    self.flush()?;
                    if self.file.is_none() {
                        // A file without a name counts as one whose name is empty.
                        self.sink.file(self.empty);
                    }
                    self.file = self.file_name(value)?;
                    self.label = Some(self.label_of(self.file, self.function)?);
                    return Ok(());
                }
                b"ob" => {
                    self.object = self.objects.name(value, &mut self.names.texts, self.memory)?;
                    return Ok(());
                }
                b"cob" => {
                    self.objects.name(value, &mut self.names.texts, self.memory)?;
                    return Ok(());
                }
                b"cfi" | b"cfl" => {
                    self.callee_file = self.files.name(value, &mut self.names.texts, self.memory)?;
                    return Ok(());
                }
                b"cfn" => return Ok(self.begin_callee(value)?),
                b"calls" if value.first().is_some_and(u8::is_ascii_digit) => {
                    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    self.pending = Some(Number::parse(&value[..digits])).filter(|count| !count.is_zero());
                    return Ok(());
                }
                b"jfi" => {
                    self.files.name(value, &mut self.names.texts, self.memory)?;
                    return Ok(());
                }
                b"jfn" => {
                    self.functions.name(value, &mut self.names.texts, self.memory)?;
                    return Ok(());
                }
                b"jump" | b"jcnd" => return Ok(()),
                _ => {}
            }
        }
        for (key, is_summary) in [(&b"summary:"[..], true), (b"totals:", false)] {
            if let Some(value) = line.strip_prefix(key)
                && (value.is_empty() || value.first().is_some_and(|&byte| is_space(byte)))
            {
                let words: Vec<&[u8]> = words(value).collect();
                if words.len() > self.event_count {
                    return Err(ExactError::TooManyCosts(number));
                }
                self.sink.totals(is_summary, &words);
                return Ok(());
            }
        }
        self.names.malformed += u64::from(!line.iter().all(|&byte| is_space(byte)));
        Ok(())
    }

    fn file_name(&mut self, value: &[u8]) -> Result<Option<TextId>, OverBudget> {
        let name = self.files.name(value, &mut self.names.texts, self.memory)?;
        let Some(mut file) = name else { return Ok(None) };
        let text = self.names.texts.text(file);
        if !self.directory.is_empty()
            && let Some(below) = text.strip_prefix(&self.directory[..])
        {
            let below = below.to_vec();
            file = self.names.texts.id(&below, self.memory)?;
        }
        self.sink.file(file);
        Ok(Some(file))
    }

    fn label_of(&mut self, file: Option<TextId>, function: Option<TextId>) -> Result<TextId, OverBudget> {
        if let Some(&label) = self.combined.get(&(file, function)) {
            return Ok(label);
        }
        self.memory.take(48)?;
        let text = |id: Option<TextId>| id.map_or(&b""[..], |id| self.names.texts.text(id));
        let label = [text(file), b":", text(function)].concat();
        let label = self.names.labels.id(&label, self.memory)?;
        self.combined.insert((file, function), label);
        Ok(label)
    }

    fn begin_function(&mut self, value: &[u8]) -> Result<(), OverBudget> {
        self.flush()?;
        self.function = self.functions.name(value, &mut self.names.texts, self.memory)?;
        let label = self.label_of(self.file, self.function)?;
        self.label = Some(label);
        self.sink.begin_of_function(label, self.object, self.memory)
    }

    fn begin_callee(&mut self, value: &[u8]) -> Result<(), OverBudget> {
        let callee = self.functions.name(value, &mut self.names.texts, self.memory)?;
        let file = self.callee_file.take().filter(|&file| file != self.empty).or(self.file);
        let callee = self.label_of(file, callee)?;
        self.callee = Some(callee);
        let caller = self.caller()?;
        self.sink.callee(caller, callee, self.memory)
    }

    /// The label of the function, which is empty before the first one.
    fn caller(&mut self) -> Result<TextId, OverBudget> {
        match self.label {
            Some(label) => Ok(label),
            None => self.names.labels.id(b"", self.memory),
        }
    }

    /// Hands over the costs of the lines since the function or its inlined code began.
    fn flush(&mut self) -> Result<(), OverBudget> {
        if let Some(label) = self.label {
            self.sink.end_of_function(label, &self.costs, &self.call_costs, self.memory)?;
        }
        self.costs.clear();
        self.call_costs.clear();
        Ok(())
    }

    /// At the end of the file, the function has the label that its file and name make there, if both are known. `fl=` changed
    /// the file after the function began if that is another label.
    fn end(&mut self) -> Result<(), OverBudget> {
        let label = match (self.file, self.function) {
            (Some(file), Some(function)) => Some(self.label_of(Some(file), Some(function))?),
            _ => None,
        };
        self.sink.end_of_file(self.label, label, &self.costs, &self.call_costs, self.memory)
    }

    /// Reads a line of positions and costs.
    fn costs(&mut self, line: &[u8], number: u64) -> Result<(), ExactError> {
        let Some((key, counts)) = self.position(line)? else {
            self.names.malformed += 1;
            return Ok(());
        };
        self.line = key;
        self.counts.clear();
        for word in words(&counts) {
            if self.counts.len() == self.event_count {
                return Err(ExactError::TooManyCosts(number));
            }
            self.counts.push((word != b".").then(|| Number::parse(word)));
        }
        let file = self.file.unwrap_or(self.empty);
        match self.pending.take() {
            None => {
                add(&mut self.costs, &self.counts);
                self.sink.line(file, key, &self.counts, self.memory)?;
            }
            Some(count) => {
                add(&mut self.call_costs, &self.counts);
                let caller = self.caller()?;
                let callee = match self.callee {
                    Some(callee) => callee,
                    None => self.names.labels.id(b"", self.memory)?,
                };
                let counts = &self.counts;
                let calls = Calls { file, line: key, caller, callee, count, counts };
                self.sink.calls(&calls, self.memory)?;
            }
        }
        Ok(())
    }

    /// Splits a line into its position and the text of its costs; `None` if it is malformed.
    fn position<'l>(&mut self, line: &'l [u8]) -> Result<Option<Position<'l>>, OverBudget> {
        let base = self.line.value;
        let usual = match self.columns {
            _ if self.line.text.is_some() => None,
            Columns::Line => usual_number(line, base),
            Columns::Both => after_address(line, base)
                .and_then(|rest| usual_number(without_space_before(rest), base))
                .filter(|&(value, _)| value >= 0),
            Columns::Address => None,
        };
        if let Some((value, rest)) = usual {
            return Ok(Some((LineKey::from_number(value), Cow::Borrowed(rest))));
        }
        let base = Base { value: base, text: self.line.text.map(|id| self.names.texts.text(id).to_vec()) };
        let text = absolute(line, &base);
        let Some(end) = position_length(&text) else { return Ok(None) };
        let rest = from(&text, end);
        match self.columns {
            Columns::Line => Ok(Some((self.key(&text[..end])?, rest))),
            Columns::Address => Ok(Some((LineKey::from_number(0), rest))),
            Columns::Both => {
                let space = rest.len() - without_space_before(&rest).len();
                let second = match from(&rest, space) {
                    Cow::Borrowed(second) => absolute(second, &base),
                    Cow::Owned(second) => Cow::Owned(absolute(&second, &base).into_owned()),
                };
                let digits = second.iter().take_while(|byte| byte.is_ascii_digit()).count();
                // A line with one number begins with the number of the line.
                if digits == 0 || second.get(digits).is_some_and(|&byte| !is_space(byte)) {
                    return Ok(Some((self.key(&text[..end])?, Cow::Owned(second.into_owned()))));
                }
                let key = self.key(&second[..digits])?;
                Ok(Some((key, Cow::Owned(second[digits..].to_vec()))))
            }
        }
    }

    /// The key of a line number. Another spelling than the usual one is another line.
    fn key(&mut self, text: &[u8]) -> Result<LineKey, OverBudget> {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
        if let Some(value) = number
            && value.to_string().as_bytes() == text
        {
            return Ok(LineKey::from_number(value));
        }
        let text_id = self.names.texts.id(text, self.memory)?;
        // A hexadecimal number counts as 0.
        let value = if text.starts_with(b"0x") { 0 } else { number.unwrap_or(i64::MAX) };
        Ok(LineKey { value, text: Some(text_id) })
    }
}

/// Adds costs; those that are not given change nothing.
pub(super) fn add(sum: &mut Vec<Option<Number>>, counts: &Counts) {
    if sum.len() < counts.len() {
        sum.resize(counts.len(), None);
    }
    for (sum, count) in sum.iter_mut().zip(counts) {
        if let Some(count) = *count {
            *sum = Some(sum.map_or(count, |sum| sum.plus(count)));
        }
    }
}
