//! The crates of the project: their levels, folders and root files.

use std::path::PathBuf;

use crate::workspace;

/// One crate of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProjectCrate {
    /// The folder below `crates/`.
    pub(crate) folder: &'static str,
    /// A crate uses only crates of lower levels.
    pub(crate) level: u8,
    /// Libraries have documented types.
    pub(crate) is_library: bool,
    /// `true` if it compiles for WebAssembly: it needs no system.
    pub(crate) is_portable: bool,
}

/// All crates, from the bottom.
const CRATES: [ProjectCrate; 13] = [
    library("format", 1),
    library("demangle", 1),
    library("output", 2),
    library("profile", 2),
    library("code", 2),
    // It replaces the program that it runs in.
    ProjectCrate { is_portable: false, ..library("engine", 3) },
    library("report", 3),
    library("answers", 4),
    library("web", 5),
    library("compat", 3),
    library("gate", 3),
    // It listens.
    ProjectCrate { is_portable: false, ..library("serve", 5) },
    ProjectCrate { folder: "cli", level: 6, is_library: false, is_portable: false },
];

const fn library(folder: &'static str, level: u8) -> ProjectCrate {
    ProjectCrate { folder, level, is_library: true, is_portable: true }
}

impl ProjectCrate {
    /// Returns the crates that exist.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        CRATES.into_iter().filter(|known| known.manifest().is_file())
    }

    pub(crate) fn libraries() -> impl Iterator<Item = Self> {
        Self::all().filter(|known| known.is_library)
    }

    /// Returns the libraries that compile for WebAssembly.
    pub(crate) fn portable() -> impl Iterator<Item = Self> {
        Self::libraries().filter(|known| known.is_portable)
    }

    /// Finds a crate by the name of its package, `gristmill-format`.
    pub(crate) fn by_package(name: &str) -> Option<Self> {
        CRATES.into_iter().find(|known| known.package() == name)
    }

    pub(crate) fn package(self) -> String {
        if self.is_library { format!("gristmill-{}", self.folder) } else { "gristmill".to_owned() }
    }

    pub(crate) fn path(self) -> PathBuf {
        workspace::root().join("crates").join(self.folder)
    }

    pub(crate) fn manifest(self) -> PathBuf {
        self.path().join("Cargo.toml")
    }

    pub(crate) fn root_file(self) -> PathBuf {
        self.path().join("src/lib.rs")
    }
}
