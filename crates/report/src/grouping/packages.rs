//! Crates of Rust, and packages of PHP and Python: what a function was installed with.

/// Returns the crate of a function, from the path of its source file or from its name.
pub(super) fn crate_of<'t>(name: &'t str, file: &'t str) -> Option<&'t str> {
    let of_path = CratesOfPath::new(file);
    of_path.of_registry.or_else(|| crate_in(name)).or(of_path.of_standard_library)
}

/// The crates that the path of a source file names.
pub(super) struct CratesOfPath<T> {
    of_registry: Option<T>,
    of_standard_library: Option<T>,
}

impl<'t> CratesOfPath<&'t str> {
    pub(super) fn new(file: &'t str) -> Self {
        let directories: Vec<&str> = file.split(['/', '\\']).collect();
        // `…/registry/src/index.crates.io-6f17d22bba15001f/regex-1.10.2/src/lib.rs`
        let registry = directories.windows(4).find(|part| part[0] == "registry" && part[1] == "src");
        // `/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ptr/mod.rs`
        let library = directories.windows(4).find(|part| part[0] == "rustc" && part[2] == "library");
        CratesOfPath {
            of_registry: registry.map(|part| without_version(part[3])),
            of_standard_library: library.map(|part| part[3]),
        }
    }

    pub(super) fn map<T>(self, map: impl Fn(&'t str) -> T) -> CratesOfPath<T> {
        let CratesOfPath { of_registry, of_standard_library } = self;
        CratesOfPath {
            of_registry: of_registry.map(&map),
            of_standard_library: of_standard_library.map(&map),
        }
    }
}

impl CratesOfPath<String> {
    /// Returns the crate of a function of this file.
    pub(super) fn crate_of<'t>(&'t self, name: &'t str) -> Option<&'t str> {
        let of_registry = self.of_registry.as_deref();
        of_registry.or_else(|| crate_in(name)).or(self.of_standard_library.as_deref())
    }
}

/// `regex` of `regex-1.10.2`.
fn without_version(directory: &str) -> &str {
    let version = directory
        .match_indices('-')
        .find(|(at, _)| directory[at + 1..].starts_with(|first: char| first.is_ascii_digit()));
    version.map_or(directory, |(at, _)| &directory[..at])
}

/// Returns the first segment of the path in a name: of the type in `<a::T as b::Trait>::f`, or of the trait if the type has none.
fn crate_in(name: &str) -> Option<&str> {
    let Some(inner) = name.strip_prefix('<') else { return first_segment(name) };
    match inner.split_once(" as ") {
        Some((of_type, of_trait)) => first_segment(of_type).or_else(|| first_segment(of_trait)),
        None => first_segment(inner),
    }
}

/// Returns the identifier before the first `::`.
fn first_segment(path: &str) -> Option<&str> {
    let before = &path[..path.find("::")?];
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    // The sign before it may have several bytes.
    let start = (start..=before.len()).find(|&start| before.is_char_boundary(start))?;
    let segment = &before[start..];
    let is_name = segment.starts_with(|first: char| first.is_alphabetic() || first == '_');
    is_name.then_some(segment)
}

/// Returns the package that a source file was installed with: `vendor/a/b` of Composer, `site-packages/a` of Python.
pub(super) fn package_of(file: &str) -> Option<&str> {
    if file.starts_with("php:") {
        return Some("php");
    }
    let after = |directory: &str| {
        // The innermost one: a package can bring its own.
        let found = file.rmatch_indices(directory).find(|(at, _)| {
            *at > 0
                && is_separator(file.as_bytes()[at - 1])
                && file.as_bytes().get(at + directory.len()).is_some_and(|&byte| is_separator(byte))
        });
        found.map(|(at, _)| &file[at + directory.len() + 1..])
    };
    if let Some(rest) = after("vendor") {
        let mut ends = rest.match_indices(['/', '\\']).map(|(at, _)| at);
        let (_, end) = (ends.next()?, ends.next()?);
        return Some(&rest[..end]);
    }
    let rest = after("site-packages").or_else(|| after("dist-packages"))?;
    let end = rest.find(['/', '\\']).unwrap_or_else(|| rest.rfind(".py").unwrap_or(rest.len()));
    Some(&rest[..end])
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_in_paths_and_names() {
        let registry =
            "/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde-json-1.0.1/src/de.rs";
        for (name, file, expected) in [
            ("core::ptr::drop_in_place<T>", registry, Some("serde-json")),
            ("rs::main", "src/main.rs", Some("rs")),
            ("<alloc::string::String as core::fmt::Write>::write_str", "", Some("alloc")),
            ("<T as core::clone::Clone>::clone", "", Some("core")),
            ("<&mut hashbrown::Map<K,V>>::get", "", Some("hashbrown")),
            ("rust_begin_unwind", "/rustc/59807616/library/std/src/panicking.rs", Some("std")),
            ("malloc", "malloc.c", None),
            ("«::x", "", None),
            ("", "", None),
        ] {
            assert_eq!(crate_of(name, file), expected, "{name}");
        }
    }

    #[test]
    fn packages_are_in_paths() {
        for (file, expected) in [
            ("/srv/demo/vendor/twig/twig/src/Lexer.php", Some("twig/twig")),
            ("C:\\web\\vendor\\a\\b\\C.php", Some("a\\b")),
            ("/srv/vendor/autoload.php", None),
            ("php:internal", Some("php")),
            ("/usr/lib/python3/site-packages/numpy/core/fromnumeric.py", Some("numpy")),
            ("/usr/lib/python3/dist-packages/six.py", Some("six")),
            ("/srv/demo/vendors/a/b/c.php", None),
            ("", None),
        ] {
            assert_eq!(package_of(file), expected, "{file}");
        }
    }
}
