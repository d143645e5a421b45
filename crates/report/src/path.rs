//! Paths of source files and objects, with the separators of every system.

/// Stands for a file or an object that is not known, also in the files.
pub(crate) const UNKNOWN: &str = "???";

/// The last piece of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The directory of a file.
pub(crate) fn directory(file: &str) -> &str {
    match file.rfind(['/', '\\']) {
        Some(0) => "/",
        Some(end) => &file[..end],
        None if file.is_empty() || file == UNKNOWN => UNKNOWN,
        None => ".",
    }
}
