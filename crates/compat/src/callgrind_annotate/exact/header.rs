//! The header of a profile as callgrind_annotate reads it: up to the first `events:` line.

use super::error::ExactError;
use super::names::{is_space, without_space_before, words};

/// The header of a profile.
#[derive(Debug, Default)]
pub(super) struct ExactHeader {
    pub(super) creator: Option<Vec<u8>>,
    pub(super) descriptions: Vec<Vec<u8>>,
    pub(super) command: Option<Vec<u8>>,
    pub(super) pid: Option<Vec<u8>>,
    pub(super) part: Option<Vec<u8>>,
    pub(super) thread: Option<Vec<u8>>,
    pub(super) events: Vec<Vec<u8>>,
    pub(super) columns: Columns,
    /// The count of malformed lines.
    pub(super) malformed: u64,
    /// The count of lines and bytes up to `events:`.
    pub(super) lines: u64,
    pub(super) bytes: usize,
}

/// The columns of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Columns {
    #[default]
    Line,
    Address,
    Both,
}

impl ExactHeader {
    pub(super) fn read(profile: &[u8]) -> Result<ExactHeader, ExactError> {
        let mut header = ExactHeader::default();
        for line in profile.split_inclusive(|&byte| byte == b'\n') {
            header.lines += 1;
            header.bytes += line.len();
            if line.starts_with(b"#") || line.iter().all(|&byte| is_space(byte)) {
                continue;
            }
            // A key, a colon, white space, and the rest of the line, whose end counts as white space.
            let value = |key: &[u8]| {
                let rest = line.strip_prefix(key)?.strip_prefix(b":")?;
                let value = without_space_before(rest);
                (value.len() < rest.len()).then(|| value.strip_suffix(b"\n").unwrap_or(value).to_vec())
            };
            if let Some(version) = version(line) {
                if is_too_new(version) {
                    return Err(ExactError::TooNew(version.to_vec()));
                }
            } else if let Some(events) = value(b"events") {
                header.events = words(&events).map(<[u8]>::to_vec).collect();
                break;
            } else if let Some(text) = value(b"desc") {
                if !text.starts_with(b"Option:") {
                    header.descriptions.push(text);
                }
            } else if let Some(columns) = value(b"positions") {
                let has = |name: &[u8]| columns.windows(name.len()).any(|window| window == name);
                header.columns = match (has(b"instr") || has(b"addr"), has(b"line")) {
                    (true, true) => Columns::Both,
                    (true, false) => Columns::Address,
                    (false, _) => Columns::Line,
                };
            } else if value(b"event").is_none() {
                let known = [
                    (&b"creator"[..], &mut header.creator),
                    (b"cmd", &mut header.command),
                    (b"pid", &mut header.pid),
                    (b"part", &mut header.part),
                    (b"thread", &mut header.thread),
                ];
                match known.into_iter().find_map(|(key, field)| Some((value(key)?, field))) {
                    Some((text, field)) => *field = Some(text),
                    None => header.malformed += 1,
                }
            }
        }
        if header.events.is_empty() { Err(ExactError::NoEvents(header.lines)) } else { Ok(header) }
    }
}

/// The digits of a `version:` line.
fn version(line: &[u8]) -> Option<&[u8]> {
    let value = without_space_before(line.strip_prefix(b"version:")?);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &value[..digits])
}

fn is_too_new(version: &[u8]) -> bool {
    let zeros = version.iter().take_while(|&&digit| digit == b'0').count();
    !matches!(version.get(zeros..), Some(b"" | b"1"))
}
