//! A file as text, line by line.

/// The lines of a file, without their ends.
pub(crate) fn lines(file: &[u8]) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(file).into_owned();
    let lines: Vec<String> = text.split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect();
    lines.into_iter()
}
