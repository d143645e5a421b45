//! The rules by which functions of unlike builds are taken for the same.

use std::fmt;

/// A rule by which functions of unlike builds are taken for the same. Each can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum JoinRule {
    /// `./`, `//` and `dir/../` in paths.
    DotSegments,
    /// `/rustc/<hash>/` in paths.
    RustcHash,
    /// Where a toolchain of Rust keeps the sources of its library.
    RustToolchain,
    /// Where Cargo keeps the sources of dependencies.
    CargoRegistry,
    /// The hash after the name of what Cargo built.
    CargoHash,
    /// The number of the process.
    Pid,
    /// Directories that a build was made in, found by the common ends of paths.
    CheckoutDirectory,
    /// Mangled names and their readable form.
    Mangling,
    /// Hashes in names of Rust.
    SymbolHash,
    /// Versions of symbols.
    SymbolVersion,
    /// `.llvm.N`.
    LlvmSuffix,
    /// `.cold`.
    ColdPart,
    /// `.part.N`.
    SplitPart,
    /// `.isra.N`.
    Isra,
    /// `.constprop.N`.
    Constprop,
    /// `.lto_priv.N` and `.__uniq.N`.
    LtoPrivate,
    /// Numbers and lines in names of closures, lambdas and anonymous classes.
    ClosureNumber,
    /// Addresses in names.
    Address,
    /// A function that is alone with its name and file, in another object.
    OtherObject,
    /// A function that is alone with its name, in another file.
    OtherFile,
    /// A function that vanished, and a new one with the same place, cost and callers.
    Rename,
}

/// What is told of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinRuleDescription {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// A name or path that it changes, and what becomes of it. The rules that join by more than a text have none.
    pub example: Option<(&'static str, &'static str)>,
}

impl JoinRule {
    /// All rules: first those about paths, then those about names, at last those about functions.
    pub const ALL: [JoinRule; 21] = [
        JoinRule::DotSegments,
        JoinRule::RustcHash,
        JoinRule::RustToolchain,
        JoinRule::CargoRegistry,
        JoinRule::CargoHash,
        JoinRule::Pid,
        JoinRule::CheckoutDirectory,
        JoinRule::Mangling,
        JoinRule::SymbolHash,
        JoinRule::SymbolVersion,
        JoinRule::LlvmSuffix,
        JoinRule::ColdPart,
        JoinRule::SplitPart,
        JoinRule::Isra,
        JoinRule::Constprop,
        JoinRule::LtoPrivate,
        JoinRule::ClosureNumber,
        JoinRule::Address,
        JoinRule::OtherObject,
        JoinRule::OtherFile,
        JoinRule::Rename,
    ];

    /// What is told of it.
    pub fn description(self) -> JoinRuleDescription {
        let (name, about, example) = match self {
            JoinRule::DotSegments => (
                "dot-segments",
                "takes ./, // and dir/../ out of paths",
                Some(("./elf/../elf//dl-open.c", "elf/dl-open.c")),
            ),
            JoinRule::RustcHash => (
                "rustc-hash",
                "takes the hash of the compiler out of paths of Rust's library",
                Some((
                    "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/option.rs",
                    "/rustc/library/core/src/option.rs",
                )),
            ),
            JoinRule::RustToolchain => (
                "rust-toolchain",
                "takes sources of Rust's library for the same wherever a toolchain keeps them",
                Some((
                    "/home/a/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/option.rs",
                    "/rustc/library/core/src/option.rs",
                )),
            ),
            JoinRule::CargoRegistry => (
                "cargo-registry",
                "takes sources of dependencies for the same wherever Cargo keeps them",
                Some((
                    "/home/a/.cargo/registry/src/index.crates.io-6f17d22bba15001f/memchr-2.8.0/src/lib.rs",
                    "registry/memchr-2.8.0/src/lib.rs",
                )),
            ),
            JoinRule::CargoHash => (
                "cargo-hash",
                "takes the hash off the names of what Cargo built",
                Some(("/src/target/release/deps/mill-0123456789abcdef", "/src/target/release/deps/mill")),
            ),
            JoinRule::Pid => (
                "pid",
                "takes the number of the process out of paths and names",
                Some(("/tmp/perf-4711.map", "/tmp/perf-<pid>.map")),
            ),
            JoinRule::CheckoutDirectory => (
                "checkout-directory",
                "finds the directories that both sides were built in by the common ends of paths",
                None,
            ),
            JoinRule::Mangling => (
                "mangling",
                "takes a mangled name and its readable form for the same",
                Some(("_ZN5stone5crushEv", "stone::crush()")),
            ),
            JoinRule::SymbolHash => (
                "symbol-hash",
                "takes hashes out of names of Rust; functions whose hashes are the same stay together",
                Some(("mill::grind::h0123456789abcdef", "mill::grind")),
            ),
            JoinRule::SymbolVersion => (
                "symbol-version",
                "takes the version off the names of symbols",
                Some(("memcpy@@GLIBC_2.14", "memcpy")),
            ),
            JoinRule::LlvmSuffix => (
                "llvm-suffix",
                "takes off the number that LLVM gives to local names",
                Some(("grind.llvm.1234567", "grind")),
            ),
            JoinRule::ColdPart => (
                "cold-part",
                "takes a function and its rarely executed part for one",
                Some(("grind(int) [clone .cold]", "grind(int)")),
            ),
            JoinRule::SplitPart => (
                "split-part",
                "takes a function and what the compiler split off it for one",
                Some(("grind.part.0", "grind")),
            ),
            JoinRule::Isra => (
                "isra",
                "takes a function and its copy with other parameters for one",
                Some(("grind.isra.0", "grind")),
            ),
            JoinRule::Constprop => (
                "constprop",
                "takes a function and its copy for constant arguments for one",
                Some(("grind.constprop.0", "grind")),
            ),
            JoinRule::LtoPrivate => (
                "lto-private",
                "takes off the number that link-time optimisation gives to local names",
                Some(("grind.lto_priv.3", "grind")),
            ),
            JoinRule::ClosureNumber => (
                "closure-number",
                "takes numbers and lines out of names of closures and lambdas; where both sides have the same ones, \
                 each stays itself",
                Some(("mill::main::{closure#2}", "mill::main::{closure}")),
            ),
            JoinRule::Address => (
                "address",
                "takes addresses out of names; functions whose addresses are the same stay together",
                Some(("0x000000000001ab70", "0x")),
            ),
            JoinRule::OtherObject => (
                "other-object",
                "joins functions that are alone with their name and file, whatever their object",
                None,
            ),
            JoinRule::OtherFile => {
                ("other-file", "joins functions that are alone with their name, whatever their file", None)
            }
            JoinRule::Rename => (
                "rename",
                "joins a function that vanished with a new one that has its file, nearly its cost, and its callers",
                None,
            ),
        };
        JoinRuleDescription { name, about, example }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// The rule that is called so.
    pub fn named(name: &str) -> Option<JoinRule> {
        JoinRule::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

impl fmt::Display for JoinRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Some of the rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JoinRules(u32);

impl JoinRules {
    /// None of them.
    pub const NONE: JoinRules = JoinRules(0);

    /// All of them.
    pub fn all() -> Self {
        JoinRule::ALL.into_iter().fold(JoinRules::NONE, JoinRules::with)
    }

    /// These and one more.
    #[must_use]
    pub fn with(self, rule: JoinRule) -> Self {
        JoinRules(self.0 | 1 << rule as u32)
    }

    /// These without one.
    #[must_use]
    pub fn without(self, rule: JoinRule) -> Self {
        JoinRules(self.0 & !(1 << rule as u32))
    }

    /// Those of both.
    #[must_use]
    pub fn and(self, other: JoinRules) -> Self {
        JoinRules(self.0 | other.0)
    }

    /// Whether a rule is among them.
    pub fn has(self, rule: JoinRule) -> bool {
        self.0 & 1 << rule as u32 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The rules, in the order of [`JoinRule::ALL`].
    pub fn iter(self) -> impl Iterator<Item = JoinRule> {
        JoinRule::ALL.into_iter().filter(move |&rule| self.has(rule))
    }
}

impl fmt::Debug for JoinRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
