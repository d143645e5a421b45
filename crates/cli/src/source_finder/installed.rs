//! Where distributions put the sources that belong to debugging information.
//!
//! - Fedora, openSUSE and Arch install them below `/usr/src/debug/PACKAGE/`, and rewrite the debugging information to say
//!   so. Yocto does the same, with a folder for the version in between.
//! - Debian and Ubuntu install none, but name paths relative to the package, such as `./elf/dl-object.c`, or
//!   `/usr/src/PACKAGE-VERSION/…`. Who unpacks a source package, or installs one such as `glibc-source`, does so below
//!   `/usr/src`.
//! - Rust's own libraries are `/rustc/COMMIT/library/…`. The component `rust-src` has them at
//!   `lib/rustlib/src/rust/library/…` of a toolchain, Debian's package of that name at `/usr/src/rustc-VERSION/library`.

use std::path::{Path, PathBuf};

use super::below;

const DEBUG: &str = "usr/src/debug";
const SOURCES: &str = "usr/src";

/// Where a file can be below such a directory, which stands for the root of a system, its `/usr/src/debug`, its
/// `/usr/src`, or a Rust toolchain.
pub(super) fn places(folder: &Path, path: &[u8]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = below(folder, path).into_iter().collect();
    for prefix in ["/usr/src/debug/", "/usr/src/"] {
        places.extend(path.strip_prefix(prefix.as_bytes()).and_then(|rest| below(folder, rest)));
    }
    let commit = path.strip_prefix(b"/rustc/");
    let rest = commit.and_then(|rest| Some(&rest[rest.iter().position(|&byte| byte == b'/')? + 1..]));
    places.extend(rest.and_then(|rest| below(&folder.join("lib/rustlib/src/rust"), rest)));
    places
}

/// The directories to search when a file is at none of its [`places`].
pub(super) fn roots(folders: &[PathBuf]) -> Vec<PathBuf> {
    let root = |folder: &PathBuf| {
        let of_system = [folder.join(DEBUG), folder.join(SOURCES)].into_iter().find(|root| root.is_dir());
        // A whole system is more than anybody wants searched; its folder of sources holds that of debugging, too.
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
        let places = places(Path::new(folder), path.as_bytes());
        places.iter().map(|place| place.to_string_lossy().into_owned()).collect()
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
