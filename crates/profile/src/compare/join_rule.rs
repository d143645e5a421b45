//! Join rules: what makes names and paths of two builds equal.

use std::fmt;

use crate::ordered::OrderedKey;

/// A rule that makes functions of two builds the same. Each can be disabled.
///
/// ```
/// use gristmill_profile::compare::{JoinRule, JoinRules};
///
/// let rules = JoinRules::all().without(JoinRule::Rename);
/// assert!(rules.has(JoinRule::from_name("symbol-hash").unwrap()) && !rules.has(JoinRule::Rename));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum JoinRule {
    /// `./`, `//` and `dir/../` in paths.
    DotSegments,
    /// `/rustc/<hash>/` in paths.
    RustcHash,
    /// The directory of a Rust toolchain with the sources of its library.
    RustToolchain,
    /// The directory of Cargo with the sources of dependencies.
    CargoRegistry,
    /// The hash after the name of a file that Cargo built.
    CargoHash,
    /// The number of the process.
    Pid,
    /// Directories of builds, found by the common ends of paths.
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
    /// Levels of a recursion that the sides do not have alike.
    RecursionLevel,
    /// Instances of a generic function or template, with other arguments.
    GenericArguments,
    /// The only function with its name and file, in another object.
    OtherObject,
    /// The only function with its name, in another file.
    OtherFile,
    /// A vanished function, and a new one with similar cost and the same callers.
    Rename,
}

/// The description of a rule. See the example of [`JoinRule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinRuleDescription {
    /// Its name.
    pub name: &'static str,
    /// A sentence about what it does.
    pub about: &'static str,
    /// A name or path that it changes, and the result. Rules that join by more than a text have none.
    pub example: Option<(&'static str, &'static str)>,
}

impl OrderedKey for JoinRule {
    const BITS: u32 = u8::BITS;

    fn ordinal(self) -> u128 {
        self as u128
    }
}

impl JoinRule {
    /// All rules: those about paths, then those about names, then those about functions.
    pub const ALL: [JoinRule; 23] = [
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
        JoinRule::RecursionLevel,
        JoinRule::GenericArguments,
        JoinRule::OtherObject,
        JoinRule::OtherFile,
        JoinRule::Rename,
    ];

    /// Returns its description.
    pub fn description(self) -> JoinRuleDescription {
        let (name, about, example) = match self {
            JoinRule::DotSegments => (
                "dot-segments",
                "removes ./, // and dir/../ from paths",
                Some(("./elf/../elf//dl-open.c", "elf/dl-open.c")),
            ),
            JoinRule::RustcHash => (
                "rustc-hash",
                "removes the hash of the compiler from paths of Rust's library",
                Some((
                    "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/option.rs",
                    "/rustc/library/core/src/option.rs",
                )),
            ),
            JoinRule::RustToolchain => (
                "rust-toolchain",
                "ignores the directory that a toolchain has for the sources of Rust's library",
                Some((
                    "/home/a/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/option.rs",
                    "/rustc/library/core/src/option.rs",
                )),
            ),
            JoinRule::CargoRegistry => (
                "cargo-registry",
                "ignores the directory that Cargo has for the sources of dependencies",
                Some((
                    "/home/a/.cargo/registry/src/index.crates.io-6f17d22bba15001f/memchr-2.8.0/src/lib.rs",
                    "registry/memchr-2.8.0/src/lib.rs",
                )),
            ),
            JoinRule::CargoHash => (
                "cargo-hash",
                "removes the hash from the names of files that Cargo built",
                Some(("/src/target/release/deps/mill-0123456789abcdef", "/src/target/release/deps/mill")),
            ),
            JoinRule::Pid => (
                "pid",
                "removes process ids from paths and names",
                Some(("/tmp/perf-4711.map", "/tmp/perf-<pid>.map")),
            ),
            JoinRule::CheckoutDirectory => (
                "checkout-directory",
                "finds the directories that both sides were built in, by the common ends of paths",
                None,
            ),
            JoinRule::Mangling => (
                "mangling",
                "joins a mangled name with its demangled form",
                Some(("_ZN5stone5crushEv", "stone::crush()")),
            ),
            JoinRule::SymbolHash => (
                "symbol-hash",
                "removes hashes from Rust names; functions with equal hashes stay separate from others",
                Some(("mill::grind::h0123456789abcdef", "mill::grind")),
            ),
            JoinRule::SymbolVersion => (
                "symbol-version",
                "removes versions from the names of symbols",
                Some(("memcpy@@GLIBC_2.14", "memcpy")),
            ),
            JoinRule::LlvmSuffix => (
                "llvm-suffix",
                "removes the numbers that LLVM adds to local names",
                Some(("grind.llvm.1234567", "grind")),
            ),
            JoinRule::ColdPart => (
                "cold-part",
                "joins a function with its rarely executed part",
                Some(("grind(int) [clone .cold]", "grind(int)")),
            ),
            JoinRule::SplitPart => (
                "split-part",
                "joins a function with the parts that the compiler split off",
                Some(("grind.part.0", "grind")),
            ),
            JoinRule::Isra => (
                "isra",
                "joins a function with its copy that has other parameters",
                Some(("grind.isra.0", "grind")),
            ),
            JoinRule::Constprop => (
                "constprop",
                "joins a function with its copy for constant arguments",
                Some(("grind.constprop.0", "grind")),
            ),
            JoinRule::LtoPrivate => (
                "lto-private",
                "removes the numbers that link-time optimization adds to local names",
                Some(("grind.lto_priv.3", "grind")),
            ),
            JoinRule::ClosureNumber => (
                "closure-number",
                "removes numbers and lines from names of closures and lambdas, unless both sides have the same ones",
                Some(("mill::main::{closure#2}", "mill::main::{closure}")),
            ),
            JoinRule::Address => (
                "address",
                "removes addresses from names; functions with equal addresses stay separate from others",
                Some(("0x000000000001ab70", "0x")),
            ),
            JoinRule::RecursionLevel => {
                ("recursion-level", "joins the levels of a recursion if the sides have different ones", None)
            }
            JoinRule::GenericArguments => (
                "generic-arguments",
                "joins instances of a generic function or template in one file if only one side has each of them",
                None,
            ),
            JoinRule::OtherObject => (
                "other-object",
                "joins functions that are the only ones of their name and file, in any object",
                None,
            ),
            JoinRule::OtherFile => {
                ("other-file", "joins functions that are the only ones of their name, in any file", None)
            }
            JoinRule::Rename => (
                "rename",
                "joins a vanished function with a new one that has similar cost, the same callers and the same file, or the same cost",
                None,
            ),
        };
        JoinRuleDescription { name, about, example }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// Finds a rule by its name.
    pub fn from_name(name: &str) -> Option<JoinRule> {
        JoinRule::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

impl fmt::Display for JoinRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of rules. See the example of [`JoinRule`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JoinRules(u32);

impl JoinRules {
    /// The empty set.
    pub const NONE: JoinRules = JoinRules(0);

    /// Returns the set of all rules.
    pub fn all() -> Self {
        JoinRule::ALL.into_iter().fold(JoinRules::NONE, JoinRules::with)
    }

    /// Adds a rule.
    #[must_use]
    pub fn with(self, rule: JoinRule) -> Self {
        JoinRules(self.0 | 1 << rule as u32)
    }

    /// Removes a rule.
    #[must_use]
    pub fn without(self, rule: JoinRule) -> Self {
        JoinRules(self.0 & !(1 << rule as u32))
    }

    /// Returns the union.
    #[must_use]
    pub fn and(self, other: JoinRules) -> Self {
        JoinRules(self.0 | other.0)
    }

    /// Returns `true` if a rule is in the set.
    pub fn has(self, rule: JoinRule) -> bool {
        self.0 & 1 << rule as u32 != 0
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Goes through the rules in the order of [`JoinRule::ALL`].
    pub fn iter(self) -> impl Iterator<Item = JoinRule> {
        JoinRule::ALL.into_iter().filter(move |&rule| self.has(rule))
    }
}

impl fmt::Debug for JoinRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
