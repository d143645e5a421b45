//! Checks of spelling: blanks, line ends, encoding.

use super::{Finding, Report, rule, shown};
use crate::line_end::LineEnd;
use crate::location::Location;
use crate::name::NameKey;
use crate::record::{CostRole, Header, Line, Record};
use crate::scan::{is_blank, trim_end};
use crate::wholeness::PartEnd;

#[derive(Debug, Default)]
pub(super) struct Lines {
    first_end: Option<LineEnd>,
    last: Option<(Location, LineEnd)>,
    /// Between `calls=` and its cost line.
    in_call: bool,
    /// After `fn=` or a cost, with the empty line that came then.
    in_block: bool,
    gap: Option<Location>,
    last_line_failed: bool,
    has_body: bool,
    /// The last part was cut off.
    is_cut_off: bool,
}

impl Lines {
    pub(super) fn begin<'a, F: FnMut(Finding<'a>)>(&mut self, input: &'a [u8], report: &mut Report<'a, F>) {
        let first = Location { byte: 0, line: 1 };
        if input.iter().all(|&byte| is_blank(byte) || matches!(byte, b'\n' | b'\r')) {
            report.place(&rule::EMPTY_FILE, first, rule::EMPTY_FILE.summary);
        }
        if input.starts_with(b"\xef\xbb\xbf") {
            report.place(&rule::BYTE_ORDER_MARK, first, rule::BYTE_ORDER_MARK.summary);
        }
    }

    /// A line that could not be read as it is.
    pub(super) fn error(&mut self) {
        self.last_line_failed = true;
    }

    pub(super) fn record<'a, F: FnMut(Finding<'a>)>(
        &mut self,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        self.last_line_failed = false;
        let end = record.spelling.line_end();
        self.last = Some((record.location, end));
        self.line_end(record, end, report);
        let text = record.text();
        self.blocks(record, report);
        match record.line {
            Line::Cost(line) => cost_line_blanks(record, text, line.role, report),
            Line::Header(header) => {
                let follows_practice = matches!(
                    header,
                    Header::Events(_) | Header::Description { .. } | Header::Command(_) | Header::Creator(_)
                );
                if text.last().is_some_and(|&last| is_blank(last)) && !follows_practice {
                    trailing(record, text, report);
                } else if let Header::Events(_) = header
                    && text.last().is_some_and(|&last| is_blank(last))
                {
                    report.once(&rule::TRAILING_BLANK, record, "blank at the end of the `events:` line");
                }
                bytes(record, text, report);
            }
            Line::Name(_, name) => {
                if text.ends_with(b" ") && !name.bytes().is_empty() {
                    trailing(record, text, report);
                }
                blank_after_equals(record, text, report);
                if name.id.is_none() || name.defines {
                    bytes(record, text, report);
                }
            }
            Line::Calls(_) | Line::Jump(_) => blank_after_equals(record, text, report),
            Line::Comment(_) => bytes(record, text, report),
            Line::UnknownBody { key, .. } => {
                let message = format!("unknown body line `{}=`", shown(key));
                report.at(&rule::UNKNOWN_BODY, record, (0, key.len()), message);
            }
            Line::Numbers(key, _) => {
                report.once(
                    &rule::HIDDEN_OPTION,
                    record,
                    format!("`{}=` line of a hidden option", key.as_str()),
                );
            }
            Line::NewProfile(_) => {
                report.line(&rule::SEVERAL_PROFILES, record, "another profile begins here");
            }
            Line::Blank => {}
        }
        if let Line::Name(NameKey::Frfn, _) = record.line {
            report.once(&rule::HIDDEN_OPTION, record, "`frfn=` line of a hidden option");
        }
    }

    fn line_end<'a, F: FnMut(Finding<'a>)>(
        &mut self,
        record: &Record<'a>,
        end: LineEnd,
        report: &mut Report<'a, F>,
    ) {
        match (self.first_end, end) {
            (_, LineEnd::Missing) => {}
            (None, end) => {
                self.first_end = Some(end);
                match end {
                    LineEnd::CrLf => report.once(&rule::LINE_END_CRLF, record, rule::LINE_END_CRLF.summary),
                    LineEnd::Cr => report.once(&rule::LINE_END_CR, record, rule::LINE_END_CR.summary),
                    LineEnd::Lf | LineEnd::Missing => {}
                }
            }
            (Some(first), end) if first != end => {
                report.once(&rule::LINE_END_MIXED, record, "the lines before have another line end");
            }
            _ => {}
        }
    }

    /// Empty lines and comments where they separate what belongs together.
    fn blocks<'a, F: FnMut(Finding<'a>)>(&mut self, record: &Record<'a>, report: &mut Report<'a, F>) {
        match record.line {
            Line::Blank | Line::Comment(_) => {
                if self.in_call {
                    report.line(
                        &rule::COMMENT_IN_CALL,
                        record,
                        "this line is between `calls=` and its cost line",
                    );
                } else if self.in_block && matches!(record.line, Line::Blank) {
                    self.gap.get_or_insert(record.location);
                }
                return;
            }
            // A callee or costs after an empty line still belong to the function before it.
            Line::Cost(_)
            | Line::Calls(_)
            | Line::Jump(_)
            | Line::Name(NameKey::Cfn | NameKey::Cfi | NameKey::Cfl, _) => {
                if let Some(gap) = self.gap.take()
                    && report.said.insert(rule::BLANK_IN_BLOCK.name)
                {
                    report.place(&rule::BLANK_IN_BLOCK, gap, rule::BLANK_IN_BLOCK.summary);
                }
            }
            _ => {}
        }
        self.gap = None;
        self.in_call = matches!(record.line, Line::Calls(_));
        match record.line {
            Line::Header(_) => self.in_block = false,
            _ => {
                self.in_block = true;
                self.has_body = true;
            }
        }
    }

    /// `true` if a plain cost line is of no consequence here.
    pub(super) fn takes_plain_lines(&self) -> bool {
        self.gap.is_none() && self.first_end == Some(LineEnd::Lf)
    }

    /// Takes plain cost lines, the last of which is at this location.
    pub(super) fn plain_lines(&mut self, last: Location) {
        self.last_line_failed = false;
        self.last = Some((last, LineEnd::Lf));
        self.in_call = false;
        self.in_block = true;
        self.has_body = true;
    }

    /// `true` if the last line could not be read as it is.
    pub(super) fn last_line_failed(&self) -> bool {
        self.last_line_failed
    }

    /// Reports a part that was cut off.
    pub(super) fn end_part<'a, F: FnMut(Finding<'a>)>(
        &mut self,
        part: &PartEnd<'_>,
        report: &mut Report<'a, F>,
    ) {
        self.is_cut_off = false;
        let (Some((location, _)), Some(sign)) = (self.last, part.cut_sign()) else { return };
        self.is_cut_off = true;
        let what = if part.is_last { "the file" } else { "a part" };
        let message = format!("{what} ends here, cut off: {}", sign.sentence(part.producer, part.creator));
        report.place(&rule::TRUNCATED, location, message);
    }

    pub(super) fn end<'a, F: FnMut(Finding<'a>)>(&mut self, report: &mut Report<'a, F>) {
        let Some((location, end)) = self.last else { return };
        if end == LineEnd::Missing && self.has_body && !self.is_cut_off {
            let message =
                "the last line has no line end; if the file was cut off, its last number may be cut, too";
            report.place(&rule::NO_FINAL_NEWLINE, location, message);
        }
    }
}

fn trailing<'a, F: FnMut(Finding<'a>)>(record: &Record<'a>, text: &'a [u8], report: &mut Report<'a, F>) {
    let kept = trim_end(text).len();
    report.at(&rule::TRAILING_BLANK, record, (kept, text.len() - kept), "blanks at the end of the line");
}

fn blank_after_equals<'a, F: FnMut(Finding<'a>)>(
    record: &Record<'a>,
    text: &'a [u8],
    report: &mut Report<'a, F>,
) {
    if let Some(equals) = memchr::memchr(b'=', text)
        && text.get(equals + 1).is_some_and(|&next| is_blank(next))
    {
        let rule = &rule::BLANK_AFTER_EQUALS;
        report.at(rule, record, (equals + 1, 1), rule.summary);
    }
}

/// Blanks of a cost line. Once for the file: who writes one such line writes them all.
fn cost_line_blanks<'a, F: FnMut(Finding<'a>)>(
    record: &Record<'a>,
    text: &'a [u8],
    role: CostRole,
    report: &mut Report<'a, F>,
) {
    let mut last = b'0';
    let (mut tab, mut double) = (None, None);
    for (offset, &byte) in text.iter().enumerate() {
        match byte {
            b'\t' => tab = tab.or(Some(offset)),
            b' ' if last == b' ' => double = double.or(Some(offset)),
            _ => {}
        }
        last = byte;
    }
    if let Some(offset) = tab {
        report.at(&rule::TAB_SEPARATOR, record, (offset, 1), rule::TAB_SEPARATOR.summary);
    }
    if double.is_some() {
        report.once(&rule::EXTRA_BLANKS, record, rule::EXTRA_BLANKS.summary);
    }
    if is_blank(last) && role != CostRole::JumpSource {
        report.once(&rule::TRAILING_BLANK, record, "blanks at the end of a cost line");
    }
}

/// Bytes that some readers cannot take.
fn bytes<'a, F: FnMut(Finding<'a>)>(record: &Record<'a>, text: &'a [u8], report: &mut Report<'a, F>) {
    if text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return;
    }
    if let Some(offset) = memchr::memchr(0, text) {
        report.at(&rule::NUL_BYTE, record, (offset, 1), rule::NUL_BYTE.summary);
    }
    if let Err(error) = std::str::from_utf8(text) {
        report.at(&rule::NOT_UTF8, record, (error.valid_up_to(), 1), rule::NOT_UTF8.summary);
    }
    if let Some(offset) =
        text.iter().position(|&byte| byte < b' ' && byte != b'\t' && byte != 0 || byte == 0x7f)
    {
        let message = format!("control character 0x{:02x}", text[offset]);
        report.at(&rule::CONTROL_IN_NAME, record, (offset, 1), message);
    }
}
