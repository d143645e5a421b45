//! Paths of sources as both engines write them. The program tests of the engine and its comparison in xtask both need it.

/// Returns `./a/b.c` for `./a/./a/b.c`, which Callgrind writes where the compiler has named its directory twice.
pub(crate) fn without_repetition(file: &str) -> &str {
    let repeated = (1..file.len()).find(|end| {
        let is_end = file.is_char_boundary(*end) && file[*end..].starts_with('/');
        is_end && file.starts_with("./") && file[*end + 1..].starts_with(&format!("{}/", &file[..*end]))
    });
    repeated.map_or(file, |end| &file[end + 1..])
}
