//! The configuration file as it is written, before anything in it is checked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::FIXED_CACHES;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    #[serde(default)]
    pub(super) gate: GateTable,
    #[serde(default)]
    pub(super) benchmark: Vec<Spanned<BenchmarkTable>>,
    /// Budgets of all benchmarks.
    #[serde(default)]
    pub(super) budget: Vec<Spanned<BudgetTable>>,
}

/// The table `[gate]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GateTable {
    pub(super) baseline: PathBuf,
    pub(super) events: Vec<Spanned<String>>,
    pub(super) advise: Vec<Spanned<String>>,
    pub(super) increase: Spanned<IncreaseText>,
    pub(super) share: Spanned<String>,
    pub(super) ignore: Vec<Spanned<String>>,
    pub(super) valgrind: String,
    pub(super) caches: Vec<Spanned<String>>,
    pub(super) timeout: Spanned<u64>,
    pub(super) setup_timeout: Spanned<u64>,
    pub(super) pin_string_functions: bool,
}

impl Default for GateTable {
    fn default() -> Self {
        let spanned = |text: &str| Spanned::new(0..0, text.to_owned());
        GateTable {
            baseline: PathBuf::from("gristmill-baseline.toml"),
            events: vec![spanned("Ir")],
            advise: Vec::new(),
            increase: Spanned::new(0..0, IncreaseText("1%".to_owned())),
            share: spanned("0.1%"),
            ignore: Vec::new(),
            valgrind: "valgrind".to_owned(),
            caches: FIXED_CACHES.map(spanned).into(),
            timeout: Spanned::new(0..0, 600),
            setup_timeout: Spanned::new(0..0, 1800),
            pin_string_functions: true,
        }
    }
}

/// A table `[[benchmark]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BenchmarkTable {
    pub(super) name: Spanned<String>,
    pub(super) command: Option<Spanned<CommandLine>>,
    pub(super) profile: Option<OneOrMany>,
    pub(super) gungraun: Option<String>,
    #[serde(default)]
    pub(super) allow_old: bool,
    #[serde(default)]
    pub(super) inlined: bool,
    #[serde(default)]
    pub(super) setup: Vec<Spanned<CommandLine>>,
    #[serde(default)]
    pub(super) options: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) keep_environment: Vec<String>,
    #[serde(default)]
    pub(super) ignore: Vec<Spanned<String>>,
    pub(super) runs: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) budget: Vec<Spanned<BudgetTable>>,
}

/// A command with its arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum CommandLine {
    /// A text that is split at blanks; no shell interprets it.
    Text(String),
    Words(Vec<String>),
}

impl CommandLine {
    pub(super) fn into_words(self) -> Vec<String> {
        match self {
            CommandLine::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            CommandLine::Words(words) => words,
        }
    }
}

/// An allowed increase as text. A number needs no quotes.
#[derive(Debug)]
pub(super) struct IncreaseText(pub(super) String);

impl AsRef<str> for IncreaseText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for IncreaseText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = IncreaseText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as 5000 or a percentage such as \"1.5%\"")
            }

            fn visit_i64<E>(self, number: i64) -> Result<IncreaseText, E> {
                Ok(IncreaseText(number.to_string()))
            }

            fn visit_str<E>(self, text: &str) -> Result<IncreaseText, E> {
                Ok(IncreaseText(text.to_owned()))
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}

/// One pattern of paths or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// A table `[[budget]]` or `[[benchmark.budget]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetTable {
    pub(super) event: Option<Spanned<String>>,
    pub(super) max: Option<Spanned<i64>>,
    pub(super) increase: Option<Spanned<IncreaseText>>,
    pub(super) function: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) inclusive: bool,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) advise: bool,
}
