//! Lint: the faults of a file, by a table of rules.
//!
//! One pass of the tolerant [`Reader`]. Its errors become findings. The checks here find more in the records: the spelling of
//! lines, the order of the header, names, arithmetic, calls.

mod associations;
mod costs;
mod habits;
mod header;
mod lines;
mod loops;
mod names;
mod rules;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::error::{Error, ErrorKind};
use crate::line_end::LineTerminator;
use crate::location::Location;
use crate::name::NameKey;
use crate::reader::{Reader, ReadingMode};
use crate::record::{Line, Record};
use crate::shown::shown;
use crate::survey::{Survey, Surveyor};

pub use rules::{RULES, Rule};

use rules as rule;

/// The severity of a finding.
///
/// See the example of [`Lint::run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A matter of style, or a peculiarity.
    Note,
    /// Some reader fails at it.
    Warning,
    /// Numbers are wrong or missing.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A finding of lint. See the example of [`Lint::run`].
#[derive(Debug, Clone)]
pub struct Finding<'a> {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// The line.
    pub location: Location,
    /// The column in the line, in bytes, from 1.
    pub column: u64,
    /// The length in bytes from there on; 0 for a gap between bytes.
    pub length: u64,
    /// The message about this location.
    pub message: Cow<'static, str>,
    /// The line itself, without its end.
    pub text: &'a [u8],
}

/// The checks besides the rules that always hold.
///
/// See the example of [`Lint::run`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lint {
    /// Report where the file leaves the published grammar.
    pub strict: bool,
    /// Report where the file leaves what Valgrind's tools write.
    pub practice: bool,
}

impl Lint {
    /// Checks a file, reports each finding as it is made, and returns a survey of the file.
    ///
    /// Findings about a line come in the order of the file; those about a part as a whole come at its end, those about
    /// the file at the end.
    ///
    /// ```
    /// use gristmill_format::{Lint, Severity};
    ///
    /// let file = b"# callgrind format\nversion: 1\ncreator: x\npositions: line\nevents: Ir\nfn=main\n1 20\ntotals: 21\n";
    /// let mut errors = Vec::new();
    /// Lint::default().run(file, |finding| {
    ///     if finding.rule.severity == Severity::Error {
    ///         errors.push((finding.rule.name, finding.location.line));
    ///     }
    /// });
    /// assert_eq!(errors, [("totals-mismatch", 8)]);
    /// ```
    pub fn run<'a>(&self, input: &'a [u8], found: impl FnMut(Finding<'a>)) -> Survey<'a> {
        self.run_with(Reader::new(input), input, found)
    }

    /// Checks what a reader of the whole file reads.
    pub(crate) fn run_with<'a>(
        &self,
        mut reader: Reader<'a>,
        input: &'a [u8],
        found: impl FnMut(Finding<'a>),
    ) -> Survey<'a> {
        let mut report =
            Report { input, terminator: LineTerminator::detect(input), found, said: HashSet::new() };
        let mut checks = Checks::default();
        let mut surveyor = Surveyor::new();
        checks.lines.begin(input, &mut report);
        if self.strict {
            first_deviation(input, ReadingMode::Strict, &rule::GRAMMAR, &mut report);
        }
        if self.practice {
            first_deviation(input, ReadingMode::Practised, &rule::PRACTICE, &mut report);
        }
        let mut is_a_profile = true;
        let mut part = None;
        loop {
            checks.plain_lines(&mut reader, &mut surveyor);
            let Some(item) = reader.next() else { break };
            match item {
                Ok(record) => {
                    if part != Some(record.part) && crate::survey::opens_part(&record) {
                        if part.is_some() {
                            checks.end_part(&surveyor, Some(record.location), &mut report);
                        }
                        part = Some(record.part);
                    }
                    let fault = surveyor.record(&record).err();
                    checks.record(&reader, &record, &surveyor, &mut report);
                    if let Some(fault) = fault {
                        checks.error(&fault.into_error(record.location), &mut report);
                    }
                }
                Err(error) => {
                    is_a_profile &= !matches!(error.kind(), ErrorKind::NotAProfile(_));
                    surveyor.error();
                    checks.error(&error, &mut report);
                }
            }
        }
        // Nothing more will be read; the checks of the last part need memory of their own.
        drop(reader);
        surveyor.names_end();
        checks.names.names_end();
        if part.is_some() {
            checks.end_part(&surveyor, None, &mut report);
        }
        let survey = surveyor.finish();
        if is_a_profile {
            checks.end(&survey, &mut report);
        }
        survey
    }
}

/// Reports where the file first leaves a grammar. One such line is enough: later ones are often the same.
fn first_deviation<'a, F: FnMut(Finding<'a>)>(
    input: &'a [u8],
    mode: ReadingMode,
    rule: &'static Rule,
    report: &mut Report<'a, F>,
) {
    if let Some(Err(error)) = Reader::with_mode(input, mode).find(Result::is_err) {
        report.error(rule, &error, error.kind().to_string());
    }
}

/// Takes findings and passes them on with their lines.
struct Report<'a, F> {
    input: &'a [u8],
    terminator: LineTerminator,
    found: F,
    /// Rules that report only once, and have done so.
    said: HashSet<&'static str>,
}

impl<'a, F: FnMut(Finding<'a>)> Report<'a, F> {
    /// A finding about some bytes of a record's line.
    fn at(
        &mut self,
        rule: &'static Rule,
        record: &Record<'a>,
        (offset, length): (usize, usize),
        message: impl Into<Cow<'static, str>>,
    ) {
        (self.found)(Finding {
            rule,
            location: record.location,
            column: offset as u64 + 1,
            length: length as u64,
            message: message.into(),
            text: record.text(),
        });
    }

    /// A finding about a record's line as a whole.
    fn line(&mut self, rule: &'static Rule, record: &Record<'a>, message: impl Into<Cow<'static, str>>) {
        let length = record.text().len();
        self.at(rule, record, (0, length), message);
    }

    /// As [`line`](Report::line), but only the first of the file.
    fn once(&mut self, rule: &'static Rule, record: &Record<'a>, message: impl Into<Cow<'static, str>>) {
        if self.said.insert(rule.name) {
            self.line(rule, record, message);
        }
    }

    /// A finding about the line at a location.
    fn place(&mut self, rule: &'static Rule, location: Location, message: impl Into<Cow<'static, str>>) {
        let text = self.line_at(location);
        let length = text.len() as u64;
        (self.found)(Finding { rule, location, column: 1, length, message: message.into(), text });
    }

    fn error(&mut self, rule: &'static Rule, error: &Error, message: impl Into<Cow<'static, str>>) {
        let location = error.location();
        let text = self.line_at(location);
        let (column, length) = (error.column(), error.length());
        (self.found)(Finding { rule, location, column, length, message: message.into(), text });
    }

    fn line_at(&self, location: Location) -> &'a [u8] {
        self.terminator.line_at(self.input, location.byte)
    }
}

/// All checks, each with its own memory.
#[derive(Debug, Default)]
struct Checks<'a> {
    lines: lines::Lines,
    header: header::HeaderChecks<'a>,
    names: names::Names<'a>,
    costs: costs::CostChecks<'a>,
    associations: associations::Associations<'a>,
}

impl<'a> Checks<'a> {
    /// Takes the next lines, as long as they are cost lines in which no check finds anything.
    fn plain_lines(&mut self, reader: &mut Reader<'a>, surveyor: &mut Surveyor<'a>) {
        let part = reader.part();
        if !self.lines.takes_plain_lines()
            || !self.header.takes_plain_lines(part)
            || !self.associations.takes_plain_lines()
        {
            return;
        }
        let Some(run) = surveyor.plain_lines(part, |sums| reader.plain_run(self.costs.least_costs(), sums))
        else {
            return;
        };
        self.lines.plain_lines(run.last);
        self.header.plain_lines();
        self.names.plain_lines();
        self.associations.plain_lines(&run);
    }

    fn record<F: FnMut(Finding<'a>)>(
        &mut self,
        reader: &Reader<'a>,
        record: &Record<'a>,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) {
        self.lines.record(record, report);
        self.header.record(record, report);
        if let Line::Name(key @ (NameKey::Fn | NameKey::Cfn), name) = record.line {
            let id = self.names.id(key.space(), &name, surveyor);
            self.associations.name(key, &name, id, surveyor);
        }
        self.names.record(record, surveyor, report);
        self.costs.record(reader, record, report);
        self.associations.record(reader, record, surveyor, report);
    }

    fn error<F: FnMut(Finding<'a>)>(&mut self, error: &Error, report: &mut Report<'a, F>) {
        self.lines.error();
        report.error(rule_of(error.kind()), error, error.kind().to_string());
    }

    /// Checks a part that ends before the line at a location, or with the file.
    fn end_part<F: FnMut(Finding<'a>)>(
        &mut self,
        surveyor: &Surveyor<'a>,
        end: Option<Location>,
        report: &mut Report<'a, F>,
    ) {
        let has_more_signs = self.lines.last_line_failed() || self.associations.has_callee_without_lines();
        let mut below = &rule::SUMMARY_BELOW_SUM;
        if let Some(part) = surveyor.part_end(report.input, end, has_more_signs) {
            self.lines.end_part(&part, report);
            if part.has_block_per_call() && part.cut_sign().is_none() {
                below = self.associations.balance(&part, surveyor, report).unwrap_or(below);
            }
        }
        self.header.end_part(surveyor.joined_part(report.input, end), report);
        self.costs.end_part(surveyor, below, report);
        self.associations.end_part(surveyor, report);
    }

    fn end<F: FnMut(Finding<'a>)>(&mut self, survey: &Survey<'a>, report: &mut Report<'a, F>) {
        self.header.end(survey, report);
        self.names.end(report);
        self.lines.end(report);
    }
}

impl ErrorKind {
    /// Returns the severity of a finding about such an error. For errors of writing it is [`Severity::Error`].
    ///
    /// ```
    /// use gristmill_format::{ErrorKind, Severity};
    ///
    /// assert_eq!(ErrorKind::BadCost.severity(), Severity::Error);
    /// assert_eq!(ErrorKind::KeyCase.severity(), Severity::Warning);
    /// ```
    pub fn severity(self) -> Severity {
        rule_of(self).severity
    }
}

/// The rule that an error of the reader comes under.
fn rule_of(kind: ErrorKind) -> &'static Rule {
    use ErrorKind as K;
    match kind {
        K::NotAProfile(_) => &rule::NOT_A_PROFILE,
        K::LeadingBlank => &rule::LEADING_BLANK,
        K::BlankBeforeSeparator => &rule::BLANK_BEFORE_SEPARATOR,
        K::KeyCase => &rule::KEY_CASE,
        K::Grammar(_) => &rule::GRAMMAR,
        K::CostBeforeEvents => &rule::COST_BEFORE_EVENTS,
        K::CostWithoutFunction => &rule::COST_WITHOUT_FUNCTION,
        K::CallWithoutCost => &rule::CALL_WITHOUT_COST,
        K::CallWithoutCallee => &rule::CALL_WITHOUT_CALLEE,
        K::BadCount => &rule::BAD_COUNT,
        K::BadPosition => &rule::BAD_POSITION,
        K::MissingPosition => &rule::MISSING_POSITION,
        K::RelativeWithoutBase => &rule::RELATIVE_WITHOUT_BASE,
        K::PositionBelowZero => &rule::POSITION_BELOW_ZERO,
        K::PositionTooLarge => &rule::POSITION_TOO_LARGE,
        K::BadCost => &rule::BAD_COST,
        K::FractionalCost => &rule::FRACTIONAL_COST,
        K::CostTooLarge => &rule::COST_TOO_LARGE,
        K::TooManyCosts => &rule::TOO_MANY_COSTS,
        K::UnclosedNameId => &rule::UNCLOSED_NAME_ID,
        K::UndefinedName(..) => &rule::UNDEFINED_NAME,
        K::RedefinedName(..) => &rule::REDEFINED_NAME,
        K::BadHeader => &rule::BAD_HEADER,
        K::UnknownPosition => &rule::UNKNOWN_POSITION,
        K::TooManyPositions => &rule::TOO_MANY_POSITIONS,
        // The reader yields none of the errors of writing.
        K::UnknownLine | K::NothingLeft | K::Io | K::LineEndInText | K::UnreadableText | K::Misplaced => {
            &rule::UNKNOWN_LINE
        }
    }
}
