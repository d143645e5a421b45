//! The user's own code: which functions belong to it.

/// Starts of the file names of libraries that are no user's: the C library, the dynamic loader, runtimes of languages.
const SYSTEM_LIBRARIES: [&str; 20] = [
    "libc.so",
    "libc-",
    "libc.musl",
    "ld-",
    "ld.so",
    "libm.so",
    "libm-",
    "libpthread",
    "libdl.",
    "libdl-",
    "librt.",
    "librt-",
    "libgcc_s",
    "libstdc++",
    "libc++",
    "libgomp",
    "libpython",
    "libruby",
    "libperl",
    "vgpreload_",
];

/// Folders of libraries that the system has installed.
const SYSTEM_FOLDERS: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];

/// Parts of the paths of source files that are no user's.
const FOREIGN_SOURCES: [&str; 13] = [
    "/rustc/",
    "/rustlib/",
    "/.cargo/registry/",
    "/.cargo/git/",
    "/cargo/registry/",
    "/usr/include/",
    "/include/c++/",
    "/usr/lib/",
    "/usr/local/go/src/",
    "/go/pkg/mod/",
    "/glibc-",
    "/sysdeps/",
    "/libgcc/",
];

/// Folders of the C library, whose sources are named relative to it.
const C_LIBRARY_FOLDERS: [&str; 16] = [
    "csu",
    "ctype",
    "dlfcn",
    "elf",
    "iconv",
    "intl",
    "io",
    "libio",
    "locale",
    "malloc",
    "math",
    "nptl",
    "posix",
    "setjmp",
    "stdio-common",
    "string",
];

/// Starts of the names of functions that are no user's, for functions without a source file.
const FOREIGN_NAMES: [&str; 24] = [
    "(below main)",
    "_start",
    "_init",
    "_fini",
    "__libc_",
    "_dl_",
    "dl_",
    "__dl_",
    "_IO_",
    "_int_",
    "__GI_",
    "_Unwind_",
    "__cxa_",
    "__gnu_cxx::",
    "__rust",
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "operator ",
    "runtime.",
    "php::",
];

/// Names of functions of the C library that a program may hold a copy of.
const C_FUNCTIONS: [&str; 16] = [
    "calloc", "free", "malloc", "memchr", "memcmp", "memcpy", "memmove", "memset", "mempcpy", "printf",
    "realloc", "strchr", "strcmp", "strcpy", "strlen", "strncmp",
];

/// `true` if a function is of the user's own code, as far as its object, its source file and its name tell.
pub(crate) fn is_own(object: &[u8], file: &[u8], name: &str, root: &[u8]) -> bool {
    if !root.is_empty() && file.starts_with(root) && file.get(root.len()) == Some(&b'/') {
        return true;
    }
    let object = String::from_utf8_lossy(object);
    let library = object.rsplit('/').next().unwrap_or_default();
    if SYSTEM_LIBRARIES.iter().any(|start| library.starts_with(start))
        || SYSTEM_FOLDERS.iter().any(|folder| object.starts_with(folder))
    {
        return false;
    }
    let file = String::from_utf8_lossy(file);
    if FOREIGN_SOURCES.iter().any(|part| file.contains(part)) || is_of_c_library(&file) {
        return false;
    }
    // A name without a letter is an address.
    let is_symbol = name.chars().any(char::is_alphabetic) && !name.starts_with("0x");
    let is_variant = ["__mem", "__str", "__stp", "__wcs", "__wmem", "__rawmem"]
        .iter()
        .any(|start| name.starts_with(start));
    is_symbol
        && !is_variant
        && !FOREIGN_NAMES.iter().any(|start| name.starts_with(start))
        && !C_FUNCTIONS.contains(&name)
        && !name.starts_with("<built-in")
}

/// `true` for paths such as `./elf/dl-reloc.c`.
fn is_of_c_library(file: &str) -> bool {
    let Some(path) = file.strip_prefix("./").or_else(|| file.strip_prefix("../")) else { return false };
    let folder = path.split('/').next().unwrap_or_default();
    folder == "sysdeps" || C_LIBRARY_FOLDERS.contains(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_runtimes_are_foreign() {
        for (object, file, name, expected) in [
            ("/w/bench", "/w/src/main.rs", "parse", true),
            ("/w/bench", "/elsewhere/src/main.rs", "parse", true),
            ("/w/bench", "???", "parse", true),
            ("", "", "parse", true),
            // A trait of the user for a type of the library has its source file here.
            ("/w/bench", "/w/src/main.rs", "<alloc::vec::Vec<u8> as my::Trait>::run", true),
            ("/w/bench", "/rustc/4d91de4e48198da/library/core/src/fmt/mod.rs", "core::fmt::write", false),
            ("/w/bench", "/home/u/.cargo/registry/src/x/serde/src/de.rs", "serde::de::run", false),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", "???", "qsort", false),
            ("/opt/lib/libc.so.6", "", "qsort", false),
            ("/w/bench", "./string/../sysdeps/x86_64/memcpy.S", "memcpy", false),
            ("/w/bench", "./elf/dl-reloc.c", "relocate", false),
            ("/w/bench", "./src/dl-reloc.c", "relocate", true),
            ("/w/bench", "???", "0x0000000000001040", false),
            ("/w/bench", "???", "(below main)", false),
            ("/w/bench", "???", "__strlen_avx2", false),
            ("/w/bench", "/usr/include/c++/12/bits/stl_vector.h", "std::vector<int>::push_back", false),
        ] {
            let own = is_own(object.as_bytes(), file.as_bytes(), name, b"/w");
            assert_eq!(own, expected, "{object} {file} {name}");
        }
    }
}
