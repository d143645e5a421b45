//! Paths of source files and objects, with the separators of every system.

/// The name of an unknown file or object, also in profiles.
pub(crate) const UNKNOWN: &str = "???";

/// Returns the last component of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the directory of a file.
pub(crate) fn directory(file: &str) -> &str {
    match file.rfind(['/', '\\']) {
        Some(0) => "/",
        Some(end) => &file[..end],
        None if file.is_empty() || file == UNKNOWN => UNKNOWN,
        None => ".",
    }
}
