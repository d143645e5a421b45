//! The groups of functions.

mod packages;

use gristmill_output::lossy;
use gristmill_profile::symbol::{function_base, scope};
use gristmill_profile::{FileId, Profile};

use crate::path::{UNKNOWN, directory};

/// The thing that a row of [`Functions`](crate::Functions) stands for. See the example there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Functions.
    #[default]
    Function,
    /// Objects: the program and its libraries.
    Object,
    /// Source files.
    File,
    /// Directories of source files.
    Directory,
    /// Classes, namespaces or modules.
    Class,
    /// Crates of Rust.
    Crate,
    /// Packages of PHP and Python.
    Package,
    /// Functions, and cycles in place of their members.
    Cycle,
    /// Threads.
    Thread,
    /// Parts of a recording: dumps, or files that were given together.
    Part,
}

const NO_CRATE: &str = "(no crate)";

/// The crates that paths of source files name, by file: there are fewer of them than functions.
pub(crate) struct CratesOfFiles(Vec<packages::CratesOfPath<String>>);

impl CratesOfFiles {
    pub(crate) fn new(profile: &Profile) -> Self {
        let of_path = |file| packages::CratesOfPath::new(&lossy(profile.file(file))).map(str::to_owned);
        CratesOfFiles(profile.files().map(of_path).collect())
    }

    /// Returns the name of the group of a function with this name, if crates are groups.
    pub(crate) fn crate_of<'t>(&'t self, name: &'t str, file: FileId) -> &'t str {
        self.0[file.index()].crate_of(function_base(name)).unwrap_or(NO_CRATE)
    }
}

/// Returns the name of the group of a function with this name, if classes are groups.
pub(crate) fn class_of(name: &str) -> &str {
    scope(function_base(name)).unwrap_or("(no class)")
}

impl Grouping {
    /// The title of the column of names.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Grouping::Function | Grouping::Cycle => "Function",
            Grouping::Object => "Object",
            Grouping::File => "File",
            Grouping::Directory => "Directory",
            Grouping::Class => "Class",
            Grouping::Crate => "Crate",
            Grouping::Package => "Package",
            Grouping::Thread => "Thread",
            Grouping::Part => "Part",
        }
    }

    /// The word for one row and the word for several.
    pub fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Grouping::Function => ("function", "functions"),
            Grouping::Object => ("object", "objects"),
            Grouping::File => ("file", "files"),
            Grouping::Directory => ("directory", "directories"),
            Grouping::Class => ("class", "classes"),
            Grouping::Crate => ("crate", "crates"),
            Grouping::Package => ("package", "packages"),
            Grouping::Cycle => ("function or cycle", "functions and cycles"),
            Grouping::Thread => ("thread", "threads"),
            Grouping::Part => ("part", "parts"),
        }
    }

    /// Returns the name of the group of a function. Only the properties that it needs are asked for.
    pub(crate) fn group(
        self,
        name: impl FnOnce() -> String,
        file: impl FnOnce() -> String,
        object: impl FnOnce() -> String,
    ) -> String {
        let known = |name: String| if name.is_empty() { UNKNOWN.to_owned() } else { name };
        match self {
            Grouping::Object => known(object()),
            Grouping::File => known(file()),
            Grouping::Directory => directory(&file()).to_owned(),
            Grouping::Crate => {
                packages::crate_of(function_base(&name()), &file()).unwrap_or(NO_CRATE).to_owned()
            }
            Grouping::Package => packages::package_of(&file()).unwrap_or("(no package)").to_owned(),
            Grouping::Class => class_of(&name()).to_owned(),
            // A function can be in all threads and parts.
            Grouping::Function | Grouping::Cycle | Grouping::Thread | Grouping::Part => name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_in_a_name_are_in_no_group_of_it() {
        let group =
            |grouping: Grouping, name: &str| grouping.group(|| name.to_owned(), String::new, String::new);
        for (name, class, of_crate) in [
            ("net::Conn::send(int)'App::run()'main", "net::Conn", "net"),
            ("fib::of'2'main", "fib", "fib"),
            ("free'__rustc::__rust_dealloc'core::drop", "(no class)", "(no crate)"),
        ] {
            assert_eq!(group(Grouping::Class, name), class);
            assert_eq!(group(Grouping::Crate, name), of_crate);
        }
    }
}
