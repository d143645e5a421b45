//! The names of the files that Callgrind writes: a pattern of the user, with the process id and variables of the environment in it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use gristmill_output::printable;

/// The pattern that Callgrind has by default.
pub(crate) const DEFAULT: &str = "callgrind.out.%p";

/// The pattern of `--callgrind-out-file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputName {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(OsString),
    /// `%p`
    ProcessId,
}

impl OutputName {
    /// Parses a pattern: `%p` is the process id, `%q{NAME}` a variable of the environment, and `%%` a percent sign.
    pub(crate) fn parse(pattern: &OsStr) -> Result<OutputName, String> {
        let bytes = pattern.as_encoded_bytes();
        if bytes.is_empty() {
            return Err("a name is expected, such as callgrind.out.%p".to_owned());
        }
        let mut pieces = Vec::new();
        let mut text = OsString::new();
        let mut rest = pattern.to_owned();
        loop {
            let Some((before, behind)) = split_at_percent(&rest) else {
                text.push(&rest);
                break;
            };
            text.push(before);
            let (kind, behind) = first_byte(&behind);
            rest = behind;
            match kind {
                Some(b'%') => text.push("%"),
                Some(b'p') => {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::ProcessId);
                }
                Some(b'q') => {
                    let (value, behind) = variable(&rest)?;
                    text.push(value);
                    rest = behind;
                }
                Some(b'n') => return Err("%n is not possible here: take %p, the process id".to_owned()),
                _ => {
                    return Err(
                        "behind % one of p, q{VARIABLE} and % is expected; a percent sign is written %%"
                            .to_owned(),
                    );
                }
            }
        }
        pieces.push(Piece::Text(text));
        Ok(OutputName { pieces })
    }

    /// `true` if each process has a name of its own.
    pub(crate) fn has_process_id(&self) -> bool {
        self.pieces.contains(&Piece::ProcessId)
    }

    /// Returns the name for a process.
    pub(crate) fn of_process(&self, process: u32) -> PathBuf {
        let mut name = OsString::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => name.push(text),
                Piece::ProcessId => name.push(process.to_string()),
            }
        }
        name.into()
    }

    /// Returns the pattern as an absolute one, so that the working directory of the program does not matter.
    pub(crate) fn absolute_pattern(&self) -> std::io::Result<OsString> {
        let with_percent = |text: &OsStr| {
            let mut escaped = OsString::new();
            let mut rest = text.to_owned();
            while let Some((before, behind)) = split_at_percent(&rest) {
                escaped.push(before);
                escaped.push("%%");
                rest = behind;
            }
            escaped.push(rest);
            escaped
        };
        let mut pattern = OsString::new();
        if !self.of_process(1).is_absolute() {
            pattern.push(with_percent(std::env::current_dir()?.as_os_str()));
            pattern.push(std::path::MAIN_SEPARATOR_STR);
        }
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => pattern.push(with_percent(text)),
                Piece::ProcessId => pattern.push("%p"),
            }
        }
        Ok(pattern)
    }

    /// Lists the existing files of a process: the one with the name itself, and those of dumps and threads.
    pub(crate) fn files_of(&self, process: u32) -> Vec<PathBuf> {
        files_of_base(&self.of_process(process))
    }
}

/// Lists the existing files of a base: `BASE`, `BASE.PART`, `BASE-THREAD` and `BASE.PART-THREAD`, in the order of parts and threads.
pub(crate) fn files_of_base(base: &Path) -> Vec<PathBuf> {
    let Some(name) = base.file_name() else { return Vec::new() };
    let directory = base.parent().unwrap_or(Path::new(""));
    let listed = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(entries) = std::fs::read_dir(listed) else { return Vec::new() };
    let mut files: Vec<((u64, u64), PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let entry = entry.file_name();
            let rest = entry.as_encoded_bytes().strip_prefix(name.as_encoded_bytes())?;
            let numbers = part_and_thread(std::str::from_utf8(rest).ok()?)?;
            Some((numbers, directory.join(entry)))
        })
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Parses what Callgrind writes behind the base of a name: `.PART`, `-THREAD` or both. The rest of a recording, without a part, comes
/// last.
fn part_and_thread(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    };
    let (part, thread) = match text.split_once('-') {
        Some((part, thread)) => (part, number(thread)?),
        None => (text, 0),
    };
    match part.strip_prefix('.') {
        Some(part) => Some((number(part)?, thread)),
        None => part.is_empty().then_some((u64::MAX, thread)),
    }
}

/// Parses `{NAME}`, and returns the value of that variable and the rest.
fn variable(text: &OsStr) -> Result<(OsString, OsString), String> {
    let wrong = || "behind %q the name of a variable is expected, as in %q{USER}".to_owned();
    let name = text.to_str().ok_or_else(wrong)?.strip_prefix('{').ok_or_else(wrong)?;
    let (name, rest) = name.split_once('}').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    let value = std::env::var_os(name).ok_or_else(|| {
        format!("the environment has no variable {} for %q{{}}", printable(name.as_bytes()))
    })?;
    Ok((value, rest.into()))
}

/// Splits a text at its first percent sign, which neither side has.
fn split_at_percent(text: &OsStr) -> Option<(OsString, OsString)> {
    let at = text.as_encoded_bytes().iter().position(|&byte| byte == b'%')?;
    Some((part(text, 0, at), part(text, at + 1, text.len())))
}

/// Takes the first byte of a text, if it is a character.
fn first_byte(text: &OsStr) -> (Option<u8>, OsString) {
    match text.as_encoded_bytes().first() {
        Some(&byte) if byte.is_ascii() => (Some(byte), part(text, 1, text.len())),
        _ => (None, text.to_owned()),
    }
}

/// Cuts a text at offsets next to ASCII characters.
#[cfg(unix)]
fn part(text: &OsStr, from: usize, to: usize) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;

    OsStr::from_bytes(&text.as_bytes()[from..to]).to_owned()
}

/// Cuts a text at offsets next to ASCII characters.
#[cfg(not(unix))]
fn part(text: &OsStr, from: usize, to: usize) -> OsString {
    String::from_utf8_lossy(&text.as_encoded_bytes()[from..to]).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(pattern: &str) -> Result<PathBuf, String> {
        OutputName::parse(OsStr::new(pattern)).map(|name| name.of_process(71))
    }

    #[test]
    fn patterns_are_those_of_callgrind() {
        assert_eq!(name("callgrind.out.%p"), Ok("callgrind.out.71".into()));
        assert_eq!(name("a/%p-%p%%"), Ok("a/71-71%".into()));
        assert_eq!(name("plain"), Ok("plain".into()));
        assert!(name("%q{PATH}").unwrap().as_os_str().len() > 1);
        for (wrong, expected) in [
            ("", "a name is expected"),
            ("x%", "behind %"),
            ("%z", "behind %"),
            ("%n", "take %p"),
            ("%q", "as in %q{USER}"),
            ("%q{NO_SUCH_VARIABLE_71}", "has no variable NO_SUCH_VARIABLE_71"),
        ] {
            assert!(name(wrong).unwrap_err().contains(expected), "{wrong}: {:?}", name(wrong));
        }
        let absolute =
            |pattern: &str| OutputName::parse(OsStr::new(pattern)).unwrap().absolute_pattern().unwrap();
        assert!(absolute("100%%/%p").to_str().unwrap().ends_with("/100%%/%p"));
    }

    #[test]
    fn files_of_dumps_and_threads_are_found_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let own = ["x.out.10", "x.out.2", "x.out.2-01", "x.out-01", "x.out"];
        for file in ["x.out2", "x.out.a", "x.out.1.2", "y.out", "x.out-", "x.out.1-a"].iter().chain(&own) {
            std::fs::write(directory.path().join(file), "").unwrap();
        }
        let found = files_of_base(&directory.path().join("x.out"));
        let names: Vec<&str> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["x.out.2", "x.out.2-01", "x.out.10", "x.out", "x.out-01"]);
    }
}
