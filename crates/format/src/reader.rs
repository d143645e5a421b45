//! Bytes to records.

mod definitions;
mod line;
mod plain;
mod skim;
#[cfg(test)]
mod tests;
mod usual;

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::base_rule::BaseRule;
use crate::compound::{MAX_EXPANDED_BYTES, expand_compound_name};
use crate::context::NameContext;
use crate::error::{Error, ErrorKind};
use crate::foreign::{BYTE_ORDER_MARK, foreign};
use crate::grammar::Grammar;
use crate::line_end::LineTerminator;
use crate::location::Location;
use crate::name::{Name, NameSpace};
use crate::name_spaces::NameSpaces;
use crate::part::Part;
use crate::position::{Columns, MAX_COLUMNS, Positions};
use crate::record::{CostRole, Line, Record, Spelling};
use crate::scan::trim_start;
use definitions::Definitions;
use line::LineReader;

pub(crate) use plain::PlainRun;
pub use skim::Skim;

/// The treatment of deviations from the published grammar.
///
/// See the example of [`Reader::with_mode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReadingMode {
    /// Read whatever can be read; an [`Error`] only where something is lost or had to be guessed.
    #[default]
    Tolerant,
    /// The first deviation from the published grammar is an error, and the last thing yielded.
    Strict,
    /// The first deviation from what Valgrind's own tools write is an error, and the last thing yielded.
    Practised,
}

/// Reads a profile record by record.
///
/// ```
/// use gristmill_format::{CostRole, Line, Reader};
///
/// let file = b"events: Ir\nfl=a.c\nfn=main\n16 20\ncfn=f\ncalls=1 50\n16 400\n";
/// let mut own = 0;
/// for record in Reader::new(file) {
///     if let Line::Cost(line) = record?.line
///         && line.role == CostRole::SelfCost
///     {
///         let mut costs = [0; 1];
///         line.costs.decode(&mut costs).expect("an integer");
///         own += costs[0];
///     }
/// }
/// assert_eq!(own, 20);
/// # Ok::<(), gristmill_format::Error>(())
/// ```
///
/// Positions come out absolute. What a relative one is relative to differs: files of Callgrind itself count from
/// the last *self* cost line, as its writer does; all others from the last cost line of any kind, calls included.
///
/// ```
/// use gristmill_format::{Line, Reader};
///
/// // A call at line 12, when the last self cost line was line 10; then a self cost line `+4`.
/// let body = b"events: Ir\nfn=f\n10 1\ncfn=g\ncalls=0 5\n+2 88\n+4 1\n";
/// let lines = |file: &[u8]| {
///     Reader::new(file)
///         .filter_map(|record| match record.unwrap().line {
///             Line::Cost(line) => Some(line.positions.as_slice()[0]),
///             _ => None,
///         })
///         .collect::<Vec<_>>()
/// };
/// assert_eq!(lines(body), [10, 12, 16]);
/// assert_eq!(lines(&[b"creator: callgrind-3.19.0\n", &body[..]].concat()), [10, 12, 14]);
/// ```
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    line: u64,
    terminator: LineTerminator,
    columns: Columns,
    /// The base of relative positions; `None` until there was an absolute one.
    base: Option<[u64; MAX_COLUMNS]>,
    /// The role of the next cost line, with the line that announced it.
    expected: CostRole,
    announced: (Location, usize),
    /// The names of the last call or jump are still in the context, for whoever asks after its second line.
    associated: Option<CostRole>,
    /// Lines of the usual form may take the fast path.
    fast: bool,
    #[cfg(test)]
    never_fast: bool,
    part: Part,
    /// These two are said once for each part.
    said_no_events: bool,
    said_no_function: bool,
    names: NameSpaces<Definitions<'a>>,
    context: NameContext<Name<'a>>,
    waiting: VecDeque<Result<Record<'a>, Error>>,
    /// The record that was taken last, unless it was a cost line of the usual form.
    yielded: Record<'a>,
    grammar: Option<Grammar>,
    /// Lines of the whole file are indented, so a leading blank does not mean that a position is missing.
    indented: bool,
    /// The lines before were not read, and may have defined an id that has no meaning here.
    resumed: bool,
    /// The caller keeps the meanings of ids and the name context.
    leaves_names: bool,
    started: bool,
    done: bool,
}

/// The state of a reader in the middle of a file, without names: see the example of [`Reader::resume`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumption {
    line: u64,
    terminator: LineTerminator,
    columns: Columns,
    base: Option<[u64; MAX_COLUMNS]>,
    base_rule: BaseRule,
    part: Part,
    indented: bool,
}

impl Resumption {
    /// The number of lines before this location. A loader that does not know it sets it to 0 and adds it later.
    pub fn lines(&self) -> u64 {
        self.line
    }

    /// Sets the number of lines before this location.
    pub fn with_lines(self, lines: u64) -> Self {
        Resumption { line: lines, ..self }
    }

    /// Removes the base of relative positions: a relative one becomes an error.
    pub fn without_base(self) -> Self {
        Resumption { base: None, ..self }
    }
}

impl<'a> Reader<'a> {
    /// A tolerant reader of a whole file.
    pub fn new(input: &'a [u8]) -> Self {
        Self::with_mode(input, ReadingMode::Tolerant)
    }

    /// A reader with another mode.
    ///
    /// ```
    /// use gristmill_format::{Reader, ReadingMode};
    ///
    /// // Xdebug writes two target numbers where one position is declared.
    /// let file = b"events: Time\nfn=a\n1 5\ncfn=b\ncalls=1 0 0\n1 7\n";
    /// assert!(Reader::new(file).all(|record| record.is_ok()));
    /// assert!(Reader::with_mode(file, ReadingMode::Strict).any(|record| record.is_err()));
    /// ```
    pub fn with_mode(input: &'a [u8], mode: ReadingMode) -> Self {
        Self::with_terminator(input, mode, LineTerminator::detect(input))
    }

    /// Does not look at the input: some begin in a file as often as it has functions.
    fn with_terminator(input: &'a [u8], mode: ReadingMode, terminator: LineTerminator) -> Self {
        Reader {
            input,
            at: 0,
            line: 0,
            terminator,
            columns: Columns::LINE,
            base: None,
            expected: CostRole::SelfCost,
            announced: (Location::default(), 0),
            associated: None,
            fast: false,
            #[cfg(test)]
            never_fast: false,
            part: Part::default(),
            said_no_events: false,
            said_no_function: false,
            names: NameSpaces::from_fn(|_| Definitions::new(input, 0)),
            context: NameContext::default(),
            waiting: VecDeque::new(),
            yielded: Record::new(Line::Blank),
            grammar: match mode {
                ReadingMode::Tolerant => None,
                ReadingMode::Strict => Some(Grammar::published()),
                ReadingMode::Practised => Some(Grammar::practised()),
            },
            indented: false,
            resumed: false,
            leaves_names: false,
            started: false,
            done: false,
        }
    }

    /// A tolerant reader that begins in the middle of a file, at a line that [`Reader::resumption`] was taken before, or
    /// at another where the same is known to hold.
    ///
    /// Names that were given to numbers before are not known to it: such a name comes with its number and without a
    /// text, and is no error. The name context is empty.
    ///
    /// ```
    /// use gristmill_format::{Line, Reader};
    ///
    /// let file = b"events: Ir\nfn=(1) main\n1 2\nfn=(2) f\n3 4\nfn=(1)\n5 6\n";
    /// let mut reader = Reader::new(file);
    /// reader.by_ref().take(3).for_each(drop);
    /// let resumption = reader.resumption();
    /// let place = reader.bytes_read() as usize;
    /// let rest: Vec<_> = Reader::resume(file, place, &resumption).map(Result::unwrap).collect();
    /// assert_eq!(rest.len(), 4);
    /// assert_eq!(rest[0].location.line, 4);
    /// let Line::Name(_, main) = rest[2].line else { panic!() };
    /// assert_eq!((main.id, main.text), (Some(1), None));
    /// ```
    ///
    /// # Panics
    ///
    /// If `at` is beyond the input.
    pub fn resume(input: &'a [u8], at: usize, resumption: &Resumption) -> Self {
        assert!(at <= input.len(), "a place in the input");
        let Resumption { line, terminator, columns, base, base_rule, part, indented } = *resumption;
        let mut reader = Reader {
            at,
            line,
            columns,
            base,
            part,
            indented,
            names: NameSpaces::from_fn(|_| Definitions::new(input, at)),
            resumed: true,
            started: true,
            ..Self::with_terminator(input, ReadingMode::Tolerant, terminator)
        };
        reader.context.set_base_rule(base_rule);
        reader.fast = reader.expects_usual_lines();
        reader
    }

    /// Leaves names to the caller, who has a table of numbers anyway and does not want a second one.
    ///
    /// A name comes as it is spelled: with its id alone, or with an id and a text, which is empty if only blanks follow the
    /// id. [`Reader::context`] has only [`NameContext::from`]. Faults that only a table shows are no
    /// errors: ids that have no meaning or a second one, and calls without a callee.
    ///
    /// ```
    /// use gristmill_format::{Line, Reader};
    ///
    /// let file = b"events: Ir\nfn=(1) main\n1 2\nfn=(1)\n5 6\nfn=(2)\n";
    /// let mut names = Vec::new();
    /// for record in Reader::new(file).by_number() {
    ///     if let Line::Name(_, name) = record?.line {
    ///         names.push((name.id, name.text));
    ///     }
    /// }
    /// assert_eq!(names, [(Some(1), Some(&b"main"[..])), (Some(1), None), (Some(2), None)]);
    /// # Ok::<(), gristmill_format::Error>(())
    /// ```
    pub fn by_number(self) -> Self {
        Reader { leaves_names: true, ..self }
    }

    /// The state that a reader needs to resume here. It is not defined between a call or jump line and its second line.
    pub fn resumption(&self) -> Resumption {
        Resumption {
            line: self.line,
            terminator: self.terminator,
            columns: self.columns,
            base: self.base,
            base_rule: self.base_rule(),
            part: self.part,
            indented: self.indented,
        }
    }

    /// The part that the last record belongs to, from 0.
    ///
    /// A part begins at a `version:`, `creator:`, `pid:`, `part:`, `thread:`, `positions:` or `events:` line once the
    /// part before has had a body or its totals, or has said that very thing already.
    pub fn part(&self) -> u32 {
        self.part.index
    }

    /// The current position columns.
    #[inline]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The rule for the base of relative positions, and for the file behind a call.
    #[inline]
    pub fn base_rule(&self) -> BaseRule {
        self.context.base_rule()
    }

    /// The names that the last record is about.
    #[inline]
    pub fn context(&self) -> &NameContext<Name<'a>> {
        &self.context
    }

    /// The number of bytes that have been read.
    pub fn bytes_read(&self) -> u64 {
        self.at as u64
    }

    /// The name with references to other names put in, where it is made of such; see the chapter on
    /// [practice](crate::practice#names).
    pub fn expand(&self, space: NameSpace, name: &Name<'a>) -> Option<Vec<u8>> {
        let meaning = |id| self.meaning(space, id).map(Cow::Borrowed);
        expand_compound_name(name.text?, &mut { MAX_EXPANDED_BYTES }, meaning)
    }

    /// The current meaning of a name id.
    pub(crate) fn meaning(&self, space: NameSpace, id: u64) -> Option<&'a [u8]> {
        self.names[space].get(id)
    }

    /// The role of a cost line. The published grammar has no second line after a jump, so one with costs is a self cost.
    #[inline]
    fn role(&mut self, costs: &[u8]) -> CostRole {
        if self.expected == CostRole::JumpSource && !trim_start(costs).is_empty() {
            self.expected = CostRole::SelfCost;
            self.context.drop_jump();
        }
        self.expected
    }

    #[inline]
    fn take_cost_line(&mut self, role: CostRole, values: [u64; MAX_COLUMNS]) {
        if role == CostRole::SelfCost {
            self.base = Some(values);
            self.context.self_cost_line();
        } else {
            self.associated(values);
        }
    }

    /// A call or jump has got its second line.
    fn associated(&mut self, values: [u64; MAX_COLUMNS]) {
        if self.base_rule().is_moved_by(self.expected) {
            self.base = Some(values);
        }
        self.context.call_line(Positions::from_array(values, self.columns.len()));
        self.associated = Some(self.expected);
        self.expected = CostRole::SelfCost;
    }

    #[cold]
    fn start(&mut self) {
        self.started = true;
        if let Some(foreign) = foreign(self.input) {
            self.fail(Error::new(ErrorKind::NotAProfile(foreign), Location { byte: 0, line: 1 }));
        }
        if self.input.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
    }

    /// Yields an error and nothing after it.
    fn fail(&mut self, error: Error) {
        self.waiting.push_back(Err(error));
        self.done = true;
    }

    /// Reads the next line of any form and queues the result.
    #[inline(never)]
    fn any_line(&mut self) {
        let rest = &self.input[self.at..];
        let (text, line_end, taken) = self.terminator.split_line(rest);
        self.line += 1;
        let location = Location { byte: self.at as u64, line: self.line };
        self.at += taken;
        if let Some(grammar) = &mut self.grammar
            && let Some(deviation) = grammar.check(text, line_end)
        {
            let error = Error::new(ErrorKind::Grammar(deviation.expected), location);
            return self.fail(error.at(deviation.offset, deviation.length));
        }
        LineReader { reader: self, text, location, spelling: Spelling::from_text(text, line_end) }.read();
    }

    fn end(&mut self) {
        self.done = true;
        self.check_announced();
        if let Some(grammar) = &mut self.grammar
            && let Some(deviation) = grammar.end()
        {
            let location = Location { byte: self.at as u64, line: self.line.max(1) };
            self.waiting.push_back(Err(Error::new(ErrorKind::Grammar(deviation.expected), location)));
        }
    }

    /// Reports a call or jump line that is not followed by its second line.
    fn check_announced(&mut self) {
        if self.expected == CostRole::SelfCost {
            return;
        }
        let (location, length) = self.announced;
        // The published grammar has jumps without a second line.
        if self.expected == CostRole::Call {
            self.waiting.push_back(Err(Error::new(ErrorKind::CallWithoutCost, location).at(0, length)));
        }
        match std::mem::replace(&mut self.expected, CostRole::SelfCost) {
            CostRole::SelfCost => {}
            CostRole::Call => self.context.drop_call(),
            CostRole::JumpSource => self.context.drop_jump(),
        }
    }

    /// The line after the second line of a call or jump is about neither.
    fn forget_associated(&mut self) {
        match self.associated.take() {
            None | Some(CostRole::SelfCost) => {}
            Some(CostRole::Call) => self.context.end_call(),
            Some(CostRole::JumpSource) => self.context.end_jump(),
        }
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Record<'a>, Error>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.fast {
            if let Some(record) = self.usual_cost_line() {
                return Some(Ok(record));
            }
            if self.usual_other_line() {
                return Some(Ok(self.yielded));
            }
        }
        match self.next_slow() {
            Step::Record => Some(Ok(self.yielded)),
            Step::Error(error) => Some(Err(error)),
            Step::End => None,
        }
    }
}

/// The next step. The record is in `Reader::yielded`: returned by value it would go through memory as a whole, so a
/// caller copies what it needs.
enum Step {
    Record,
    Error(Error),
    End,
}

impl<'a> Reader<'a> {
    #[inline(never)]
    fn next_slow(&mut self) -> Step {
        if !self.started {
            self.start();
        }
        loop {
            if let Some(item) = self.waiting.pop_front() {
                if self.grammar.is_some() && item.is_err() {
                    self.done = true;
                    self.waiting.clear();
                }
                self.fast = self.expects_usual_lines();
                return match item {
                    Ok(record) => {
                        self.yielded = record;
                        Step::Record
                    }
                    Err(error) => Step::Error(error),
                };
            }
            if self.done {
                return Step::End;
            }
            if self.at < self.input.len() { self.any_line() } else { self.end() }
        }
    }

    /// `true` if the next line may take the fast path.
    fn expects_usual_lines(&self) -> bool {
        #[cfg(test)]
        if self.never_fast {
            return false;
        }
        self.terminator == LineTerminator::LF
            && self.grammar.is_none()
            && self.part.has_events
            && self.part.has_function
            && self.base.is_some_and(|base| base.iter().all(|&position| position < usual::BASE_LIMIT))
            && self.waiting.is_empty()
            && !self.done
    }
}
