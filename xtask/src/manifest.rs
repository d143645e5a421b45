//! `corpus/MANIFEST.tsv`: a row for every file of the corpus.

use std::path::{Path, PathBuf};

use crate::failure::{Context as _, Failure};
use crate::workspace;

const HEAD: &str = "path\tbytes\tcrc32\tproducer\tcommand\texercises";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Below `corpus/`, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
    pub(crate) producer: String,
    /// The shell command that wrote the file below `$OUT` when run in `/srv/demo`; or a description of its origin, or `-`.
    pub(crate) command: String,
    pub(crate) exercises: String,
}

impl Row {
    /// Returns `true` if the command can record this file again.
    pub(crate) fn is_recorded(&self) -> bool {
        self.command.contains("$OUT/")
    }
}

pub(crate) fn corpus() -> PathBuf {
    workspace::root().join("corpus")
}

pub(crate) fn path() -> PathBuf {
    corpus().join("MANIFEST.tsv")
}

pub(crate) fn read() -> Result<Vec<Row>, Failure> {
    let path = path();
    let text = std::fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
    parse(&text).context(|| path.display().to_string())
}

pub(crate) fn write(rows: &[Row]) -> Result<(), Failure> {
    let path = path();
    std::fs::write(&path, text(rows)).context(|| format!("cannot write {}", path.display()))
}

fn parse(text: &str) -> Result<Vec<Row>, Failure> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(Failure::new(format!("line 1: expected the column names {HEAD:?}")));
    }
    lines.zip(2..).map(|(line, number)| row(line).context(|| format!("line {number}"))).collect()
}

fn row(line: &str) -> Result<Row, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[path, bytes, checksum, producer, command, exercises] = fields.as_slice() else {
        return Err(format!("{} columns instead of 6", fields.len()));
    };
    Ok(Row {
        path: path.to_owned(),
        bytes: bytes.parse().map_err(|error| format!("bytes {bytes:?}: {error}"))?,
        checksum: u32::from_str_radix(checksum, 16)
            .map_err(|error| format!("crc32 {checksum:?}: {error}"))?,
        producer: producer.to_owned(),
        command: command.to_owned(),
        exercises: exercises.to_owned(),
    })
}

fn text(rows: &[Row]) -> String {
    let mut text = format!("{HEAD}\n");
    for Row { path, bytes, checksum, producer, command, exercises } in rows {
        text.push_str(&format!("{path}\t{bytes}\t{checksum:08x}\t{producer}\t{command}\t{exercises}\n"));
    }
    text
}

/// Returns every file below `corpus/` except the manifest, sorted by path.
pub(crate) fn files() -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    collect(&corpus(), "", &mut found)?;
    found.retain(|path| path != "MANIFEST.tsv");
    found.sort_unstable();
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) -> Result<(), Failure> {
    let unreadable = || format!("cannot list {}", folder.display());
    for entry in std::fs::read_dir(folder).context(unreadable)? {
        let entry = entry.context(unreadable)?;
        let name = entry.file_name();
        let name =
            name.to_str().ok_or_else(|| Failure::new(format!("{}: not UTF-8", entry.path().display())))?;
        let path = format!("{prefix}{name}");
        if entry.file_type().context(unreadable)?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let rows = vec![Row {
            path: "a/b".to_owned(),
            bytes: 12,
            checksum: 0xAB,
            producer: "valgrind".to_owned(),
            command: "run > $OUT/a/b".to_owned(),
            exercises: "all".to_owned(),
        }];
        assert_eq!(parse(&text(&rows)).unwrap(), rows);
        assert!(rows[0].is_recorded());
    }

    #[test]
    fn faults_name_their_line() {
        let error = parse(&format!("{HEAD}\na\t1\tx\tp\tc\te\n")).unwrap_err().to_string();
        assert!(error.starts_with("line 2: crc32 \"x\""), "{error}");
        let error = parse(&format!("{HEAD}\na\t1\n")).unwrap_err().to_string();
        assert_eq!(error, "line 2: 2 columns instead of 6");
        assert!(parse("path\n").is_err());
    }
}
