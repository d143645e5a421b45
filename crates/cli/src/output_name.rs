//! The names of the files that Callgrind writes: a pattern of the user, with the process id and variables of the environment in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use gristmill_output::printable;

/// The pattern that Callgrind has by default.
pub(crate) const DEFAULT: &str = "callgrind.out.%p";

/// Digits of the highest process id.
const MAX_PROCESS_ID_DIGITS: usize = 10;

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
        // `-` would be standard input, and other names with it options.
        if let Some(Piece::Text(first)) = pieces.first_mut().filter(|_| bytes.starts_with(b"-")) {
            let mut path = OsString::from("./");
            path.push(&first);
            *first = path;
        }
        Ok(OutputName { pieces })
    }

    /// `true` if each process has a name of its own.
    pub(crate) fn has_process_id(&self) -> bool {
        self.pieces.contains(&Piece::ProcessId)
    }

    /// `true` if each process has a directory of its own.
    pub(crate) fn has_process_id_in_directory(&self) -> bool {
        self.of_process(0).parent() != self.of_process(1).parent()
    }

    /// Returns the name for a process.
    pub(crate) fn of_process(&self, process: u32) -> PathBuf {
        self.with(&process.to_string())
    }

    /// Returns a name for a process whose own one is taken: for 71 and 2, that of a process `71_2`.
    pub(crate) fn other_of_process(&self, process: u32, nth: u32) -> PathBuf {
        if !self.has_process_id_in_directory() {
            return self.with(&format!("{process}_{nth}"));
        }
        // There is no other directory.
        let mut name = self.of_process(process).into_os_string();
        name.push(format!("_{nth}"));
        name.into()
    }

    fn with(&self, process: &str) -> PathBuf {
        let mut name = OsString::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => name.push(text),
                Piece::ProcessId => name.push(process),
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

    /// Lists the existing files of all processes that have a name of their own, in the order of [`files_of`](Self::files_of).
    pub(crate) fn files_of_processes(&self) -> BTreeMap<u32, Vec<PathBuf>> {
        let mut found: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        let Some(Piece::Text(start)) = self.pieces.first().filter(|_| self.has_process_id()) else {
            return BTreeMap::new();
        };
        // The directory of the first name with a process id, and what comes before that.
        let bytes = start.as_encoded_bytes();
        let length = bytes.iter().rposition(|&byte| is_separator(byte)).map_or(0, |last| last + 1);
        let directory = PathBuf::from(part(start, 0, length));
        let is_in_directory = self.has_process_id_in_directory();
        let name = |process: u32| self.of_process(process).file_name().map(OsStr::to_owned);
        for entry in entries(&directory) {
            let Some(rest) = entry.as_encoded_bytes().strip_prefix(&bytes[length..]) else { continue };
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            // A digit behind it can be one of the pattern.
            for length in 1..=digits.min(MAX_PROCESS_ID_DIGITS) {
                let process = std::str::from_utf8(&rest[..length]).ok().and_then(|text| text.parse().ok());
                let Some(process) = process.filter(|_| rest[0] != b'0') else { continue };
                if is_in_directory {
                    let files = self.files_of(process);
                    if !files.is_empty() {
                        let in_order = (0..).zip(files).map(|(nth, path)| ((nth, 0), path));
                        found.insert(process, in_order.collect());
                    }
                } else if let Some(numbers) = name(process).and_then(|name| numbers_of(&entry, &name)) {
                    found.entry(process).or_default().push((numbers, directory.join(&entry)));
                }
            }
        }
        let in_order = |mut files: Vec<((u64, u64), PathBuf)>| {
            files.sort();
            files.into_iter().map(|(_, path)| path).collect()
        };
        found.into_iter().map(|(process, files)| (process, in_order(files))).collect()
    }
}

fn is_separator(byte: u8) -> bool {
    std::path::is_separator(char::from(byte))
}

/// Lists the existing files of a base: `BASE`, `BASE.PART`, `BASE-THREAD` and `BASE.PART-THREAD`, in the order of parts and threads.
pub(crate) fn files_of_base(base: &Path) -> Vec<PathBuf> {
    let Some(name) = base.file_name() else { return Vec::new() };
    let directory = base.parent().unwrap_or(Path::new(""));
    let numbered =
        entries(directory).filter_map(|entry| Some((numbers_of(&entry, name)?, directory.join(entry))));
    let mut files: Vec<((u64, u64), PathBuf)> = numbered.collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Lists the names in a directory.
fn entries(directory: &Path) -> impl Iterator<Item = OsString> {
    let listed = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    std::fs::read_dir(listed).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

/// Returns part and thread of a file of a base.
fn numbers_of(file: &OsStr, base: &OsStr) -> Option<(u64, u64)> {
    let rest = file.as_encoded_bytes().strip_prefix(base.as_encoded_bytes())?;
    part_and_thread(std::str::from_utf8(rest).ok()?)
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
        assert_eq!(name("-%p"), Ok("./-71".into()));
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

    #[test]
    fn files_of_all_processes_are_found_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let own = ["x.7.out", "x.7.out.2", "x.70.out-01"];
        for file in ["x..out", "x.a.out", "x.07.out", "x.7.outs", "x.99999999999.out"].iter().chain(&own) {
            std::fs::write(directory.path().join(file), "").unwrap();
        }
        let pattern = directory.path().join("x.%p.out");
        let name = OutputName::parse(pattern.as_os_str()).unwrap();
        let found = name.files_of_processes();
        assert_eq!(found.keys().copied().collect::<Vec<u32>>(), [7, 70]);
        assert!(found.iter().all(|(process, files)| *files == name.files_of(*process)));
        let found = |pattern: &str| {
            let pattern = directory.path().join(pattern);
            OutputName::parse(pattern.as_os_str()).unwrap().files_of_processes().len()
        };
        assert_eq!((found("x.7.out"), found("%p/x.out"), found("x.%p")), (0, 0, 0));
        for process in ["8", "81"] {
            std::fs::create_dir_all(directory.path().join(format!("d{process}/e"))).unwrap();
            for file in ["x.out", "x.out.1"] {
                std::fs::write(directory.path().join(format!("d{process}/e/{file}")), "").unwrap();
            }
        }
        let pattern = directory.path().join("d%p/e/x.out");
        let name = OutputName::parse(pattern.as_os_str()).unwrap();
        let found_in_directories = name.files_of_processes();
        assert_eq!(found_in_directories.keys().copied().collect::<Vec<u32>>(), [8, 81]);
        assert!(found_in_directories.iter().all(|(process, files)| *files == name.files_of(*process)));
        assert_eq!(name.other_of_process(8, 2), directory.path().join("d8/e/x.out_2"));
        for file in ["75", "755"] {
            std::fs::write(directory.path().join(file), "").unwrap();
        }
        // 7 and 75, or each of them as 75 and 755.
        assert_eq!((found("%p5"), found("%p")), (2, 2));
    }
}
