//! Source text with costs.

use std::sync::Arc;

use gristmill_output::json::{Costs, ExactInteger};
use gristmill_output::source::{Class, Highlighter, SourceError, SourceText, Sources, Span};
use gristmill_output::{lossy, printable};
use gristmill_report::annotate::SourceRemark;
use gristmill_report::{FunctionRow, Head, ListedFile, ListedLine, SourceListing};

use crate::answer::{Source, SourceCall, SourceFile, SourceJump, SourceLine, TextSpan};

/// The most lines of an answer. Of a longer file, those with costs and the first ones are shown.
const MAX_LINES: usize = 50_000;
/// The most bytes of a line. Longer lines were written by a program, for a program.
const MAX_LINE_BYTES: usize = 2000;

/// Puts the lines of a listing into the text of one of its files: that of this path, or else the most expensive one.
pub(crate) fn source(
    head: Head,
    function: Option<FunctionRow>,
    listing: SourceListing,
    path: Option<&str>,
    sources: &dyn Sources,
) -> Source {
    let shown = match path {
        None => (!listing.files.is_empty()).then_some(0),
        Some(path) => listing.files.iter().position(|file| lossy(&file.path) == path),
    };
    let mut lines = Vec::new();
    let mut files = Vec::new();
    let mut hidden_lines = 0;
    let none = Costs::new(&head.event_types, vec![0; head.totals.len()]);
    let mut without_line = none;
    for (nth, file) in listing.files.into_iter().enumerate() {
        let text = sources.get(&file.path);
        files.push(described(&file, &text));
        if Some(nth) == shown {
            without_line = file.without_line.clone();
            (lines, hidden_lines) = lines_of(file, text.ok().as_deref());
        }
    }
    Source { head, function, files, shown, lines, hidden_lines, without_line }
}

fn described(file: &ListedFile, text: &Result<Arc<SourceText>, SourceError>) -> SourceFile {
    let last = file.lines.last().map_or(0, |line| line.line);
    let remark = match text {
        Err(SourceError::Missing) if file.path.is_empty() || file.path == b"???" => {
            Some("the profile does not name the file".to_owned())
        }
        Err(error) => Some(SourceRemark::Unavailable(error.clone()).to_string()),
        Ok(text) if text.is_newer => Some(SourceRemark::Newer.to_string()),
        Ok(text) if text.line_count() < last => {
            Some(SourceRemark::Shorter { lines: text.line_count(), last }.to_string())
        }
        Ok(_) => None,
    };
    SourceFile {
        path: lossy(&file.path),
        found_at: text.as_ref().ok().map(|text| text.found_at.clone()),
        remark,
        self_costs: file.self_costs.clone(),
    }
}

/// Joins lines with costs and lines of text. Returns also the count of lines of text that are left out.
fn lines_of(file: ListedFile, text: Option<&SourceText>) -> (Vec<SourceLine>, u64) {
    let mut highlighter = Highlighter::for_path(&file.path);
    let mut spans = Vec::new();
    let plain = MAX_LINES.saturating_sub(file.lines.len());
    // They are in the order of their numbers.
    let mut listed = file.lines.into_iter().peekable();
    let mut lines = Vec::new();
    let (mut number, mut hidden) = (0, 0);
    let mut plain_shown = 0;
    for line in text.into_iter().flat_map(SourceText::lines) {
        number += 1;
        highlighter.line(line, &mut spans);
        let costs = listed.next_if(|line| line.line == number);
        if costs.is_none() {
            if plain_shown == plain {
                hidden += 1;
                continue;
            }
            plain_shown += 1;
        }
        lines.push(row(number, coloured(line, &spans), costs));
    }
    lines.extend(listed.map(|line| row(line.line, Vec::new(), Some(line))));
    (lines, hidden)
}

fn row(line: u64, text: Vec<TextSpan>, listed: Option<ListedLine>) -> SourceLine {
    let (self_costs, inclusive, calls, jumps) = match listed {
        None => (None, None, Vec::new(), Vec::new()),
        Some(listed) => (listed.self_costs, listed.inclusive, listed.calls, listed.jumps),
    };
    SourceLine {
        line,
        text,
        self_costs,
        inclusive,
        calls: calls
            .into_iter()
            .map(|call| SourceCall {
                function: u32::try_from(call.function.id.index()).unwrap_or(u32::MAX),
                name: call.function.name.clone(),
                calls: call.calls,
                cost: call.cost,
                is_inner: call.is_inner,
            })
            .collect(),
        jumps: jumps
            .into_iter()
            .map(|jump| SourceJump {
                to: jump.to,
                taken: ExactInteger(jump.taken),
                executed: jump.executed.map(ExactInteger),
            })
            .collect(),
    }
}

/// Divides a line into spans of one kind.
fn coloured(line: &[u8], spans: &[Span]) -> Vec<TextSpan> {
    let mut end = line.len().min(MAX_LINE_BYTES);
    while end < line.len() && end > 0 && line[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let mut coloured = Vec::new();
    let mut push = |kind: &'static str, bytes: &[u8]| {
        if !bytes.is_empty() {
            // Tabs stay: the page knows their width.
            let text = bytes
                .split(|&byte| byte == b'\t')
                .map(|piece| printable(piece))
                .collect::<Vec<_>>()
                .join("\t");
            coloured.push(TextSpan { kind, text });
        }
    };
    let mut at = 0;
    for span in spans {
        let (from, to) = (span.start.min(end), span.end.min(end));
        if from >= to {
            break;
        }
        push("", &line[at..from]);
        push(kind(span.class), &line[from..to]);
        at = to;
    }
    push("", &line[at..end]);
    if end < line.len() {
        coloured.push(TextSpan { kind: "comment", text: format!(" … {} more bytes", line.len() - end) });
    }
    coloured
}

fn kind(class: Class) -> &'static str {
    match class {
        Class::Comment => "comment",
        Class::Literal => "literal",
        Class::Number => "number",
        Class::Keyword => "keyword",
        Class::Type => "type",
        Class::Call => "call",
        Class::Directive => "directive",
    }
}
