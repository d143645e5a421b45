//! The directories in which distributions install the sources of debugging information.
//!
//! - Fedora, openSUSE and Arch install them below `/usr/src/debug/PACKAGE/`, and record these paths. Yocto does the
//!   same, with a directory for the version in between.
//! - Debian and Ubuntu install none. They record paths relative to the package, such as `./elf/dl-object.c`, or
//!   `/usr/src/PACKAGE-VERSION/…`. Source packages are unpacked below `/usr/src`, and so is `glibc-source`.
//! - Rust records `/rustc/COMMIT/library/…` for its own libraries. The component `rust-src` has them at
//!   `lib/rustlib/src/rust/library/…` of a toolchain, Debian's package at `/usr/src/rustc-VERSION/library`.

use std::path::{Path, PathBuf};

use super::below;

const DEBUG: &str = "usr/src/debug";
const SOURCES: &str = "usr/src";

/// The candidates for a path below a directory: the root of a system, its `/usr/src/debug` or `/usr/src`, or a Rust
/// toolchain.
pub(super) fn candidates(folder: &Path, path: &[u8]) -> Vec<PathBuf> {
    let mut candidates: Vec<PathBuf> = below(folder, path).into_iter().collect();
    for prefix in ["/usr/src/debug/", "/usr/src/"] {
        candidates.extend(path.strip_prefix(prefix.as_bytes()).and_then(|rest| below(folder, rest)));
    }
    let commit = path.strip_prefix(b"/rustc/");
    let rest = commit.and_then(|rest| Some(&rest[rest.iter().position(|&byte| byte == b'/')? + 1..]));
    candidates.extend(rest.and_then(|rest| below(&folder.join("lib/rustlib/src/rust"), rest)));
    candidates
}

/// The directories to search for a file that is at none of its [`candidates`].
pub(super) fn roots(folders: &[PathBuf]) -> Vec<PathBuf> {
    let root = |folder: &PathBuf| {
        let of_system = [folder.join(DEBUG), folder.join(SOURCES)].into_iter().find(|root| root.is_dir());
        // A whole system is too large to search; its `/usr/src` contains `/usr/src/debug`.
        match of_system {
            Some(_) => folder.join(SOURCES),
            None => folder.clone(),
        }
    };
    folders.iter().map(root).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(folder: &str, path: &str) -> Vec<String> {
        let candidates = candidates(Path::new(folder), path.as_bytes());
        candidates.iter().map(|place| place.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn places_go_by_the_customs_of_distributions() {
        assert_eq!(shown("/d", "./elf/dl.c"), ["/d/./elf/dl.c"]);
        assert_eq!(
            shown("/d", "/usr/src/debug/zlib-1.3/inflate.c"),
            ["/d//usr/src/debug/zlib-1.3/inflate.c", "/d/zlib-1.3/inflate.c", "/d/debug/zlib-1.3/inflate.c"]
        );
        assert_eq!(
            shown("/d", "/rustc/1234/library/core/src/num.rs"),
            ["/d//rustc/1234/library/core/src/num.rs", "/d/lib/rustlib/src/rust/library/core/src/num.rs"]
        );
    }
}
