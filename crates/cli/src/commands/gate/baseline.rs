//! The costs that were accepted: a text in the repository, sorted so that a review sees what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use super::config::{Config, line_of};
use super::measured::Measured;
use crate::error::CliError;
use crate::output::Target;
use crate::session::Session;
use crate::terminal::printable_path;

const HEAD: &str = "# The costs that `gristmill gate bless` accepted, and by how much they differ from run to run\n\
                    # (`gristmill gate noise`). Written by these commands; review it like code.\n";
const VERSION: u32 = 1;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    version: u32,
    #[serde(default)]
    pub(super) benchmark: BTreeMap<String, Blessed>,
}

/// The accepted costs of a benchmark, by event type wherever there is a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blessed {
    pub(super) events: Vec<String>,
    #[serde(deserialize_with = "costs")]
    pub(super) total: Vec<i128>,
    /// A function that is not listed cost less than this of every event type.
    #[serde(deserialize_with = "costs")]
    pub(super) listed_from: Vec<i128>,
    #[serde(default)]
    pub(super) noise: Option<Noise>,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) budgets: Vec<BlessedBudget>,
    #[serde(default)]
    pub(super) functions: Vec<BlessedFunction>,
}

/// By how much the totals of runs differ though nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Noise {
    pub(super) runs: u32,
    /// Most less least.
    #[serde(deserialize_with = "costs")]
    pub(super) spread: Vec<i128>,
    /// What the functions of budgets differ by.
    #[serde(default)]
    pub(super) budgets: Vec<BlessedBudget>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlessedBudget {
    pub(super) name: String,
    #[serde(deserialize_with = "costs")]
    pub(super) cost: Vec<i128>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlessedFunction {
    pub(super) name: String,
    pub(super) file: String,
    #[serde(deserialize_with = "cost")]
    pub(super) calls: i128,
    #[serde(rename = "self", deserialize_with = "costs")]
    pub(super) costs: Vec<i128>,
}

// Costs have up to 128 bits everywhere else, but integers of TOML have 64.
fn cost<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
    i64::deserialize(deserializer).map(i128::from)
}

fn costs<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<i128>, D::Error> {
    Ok(Vec::<i64>::deserialize(deserializer)?.into_iter().map(i128::from).collect())
}

impl Baseline {
    /// Nothing yet.
    fn new() -> Self {
        Baseline { version: VERSION, benchmark: BTreeMap::new() }
    }

    /// Reads it; one that is not there is empty.
    pub(super) fn read(path: &Path) -> Result<Baseline, CliError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Baseline::new()),
            Err(error) => return Err(fault(path, None, &crate::input::reason(&error))),
        };
        let baseline: Baseline = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| line_of(&text, span.start));
            fault(path, line, &error.message().replace('\n', " "))
        })?;
        if baseline.version != VERSION {
            return Err(fault(
                path,
                None,
                &format!("has version {}, and only {VERSION} is known", baseline.version),
            ));
        }
        for (name, blessed) in &baseline.benchmark {
            if !blessed.is_even() {
                return Err(fault(
                    path,
                    None,
                    &format!("`{name}` has lists that are not as long as its `events`"),
                ));
            }
        }
        Ok(baseline)
    }

    /// Writes all of it, or leaves the file as it was.
    pub(super) fn write(&self, config: &Config, session: &Session) -> Result<(), CliError> {
        let text =
            self.text().ok_or_else(|| fault(&config.baseline, None, "has costs that 64 bits do not hold"))?;
        session
            .write_to(&Target::File(config.baseline.clone()), true, |out| Ok(out.write_all(text.as_bytes())?))
    }

    fn text(&self) -> Option<String> {
        let mut text = format!("{HEAD}version = {VERSION}\n");
        for (name, blessed) in &self.benchmark {
            // Writing to a String does not fail.
            let _ = write!(text, "\n[benchmark.{}]\n", quoted(name));
            blessed.write(&mut text)?;
        }
        Some(text)
    }
}

fn fault(path: &Path, line: Option<usize>, message: &str) -> CliError {
    let line = line.map_or_else(String::new, |line| format!("{line}:"));
    CliError::Usage {
        message: format!("{}:{line} {message}", printable_path(path)),
        hint: Some("gristmill gate bless writes it anew, once it is out of the way".to_owned()),
    }
}

impl Blessed {
    /// What is to be written down of a measurement. What was known of the noise stays if it is of the same event types.
    pub(super) fn of(measured: &Measured, config: &Config, before: Option<&Blessed>) -> Blessed {
        let listed_from: Vec<i128> = measured.totals.iter().map(|&total| config.share.of(total)).collect();
        let is_listed = |costs: &[i128]| {
            costs.iter().zip(&listed_from).any(|(cost, least)| cost.abs() >= *least && *cost != 0)
        };
        let functions = measured.functions.iter().filter(|(_, function)| is_listed(&function.costs));
        let functions = functions.map(|(name, function)| BlessedFunction {
            name: name.name.clone(),
            file: name.file.clone(),
            calls: function.calls,
            costs: function.costs.clone(),
        });
        let budgets = measured.subjects.iter();
        Blessed {
            events: measured.events.clone(),
            total: measured.totals.clone(),
            noise: before
                .filter(|before| before.events == measured.events)
                .and_then(|before| before.noise.clone()),
            environment: measured.environment.clone(),
            budgets: budgets
                .map(|(name, cost)| BlessedBudget { name: name.clone(), cost: cost.clone() })
                .collect(),
            functions: functions.collect(),
            listed_from,
        }
    }

    fn is_even(&self) -> bool {
        let width = self.events.len();
        let noise = self.noise.iter().flat_map(|noise| {
            std::iter::once(&noise.spread).chain(noise.budgets.iter().map(|budget| &budget.cost))
        });
        let mut lists = [&self.total, &self.listed_from]
            .into_iter()
            .chain(self.budgets.iter().map(|budget| &budget.cost))
            .chain(self.functions.iter().map(|function| &function.costs))
            .chain(noise);
        lists.all(|list| list.len() == width)
    }

    fn write(&self, text: &mut String) -> Option<()> {
        let events: Vec<String> = self.events.iter().map(|event| quoted(event)).collect();
        let _ = writeln!(text, "events = [{}]", events.join(", "));
        let _ = writeln!(text, "total = {}", list(&self.total)?);
        let _ = writeln!(text, "listed_from = {}", list(&self.listed_from)?);
        if let Some(noise) = &self.noise {
            let _ = write!(text, "noise = {{ runs = {}, spread = {}", noise.runs, list(&noise.spread)?);
            let budgets: Option<Vec<String>> = noise.budgets.iter().map(BlessedBudget::text).collect();
            let _ = writeln!(text, ", budgets = [{}] }}", budgets?.join(", "));
        }
        if !self.environment.is_empty() {
            let answers: Vec<String> = self
                .environment
                .iter()
                .map(|(kind, value)| format!("{} = {}", quoted(kind), quoted(value)))
                .collect();
            let _ = writeln!(text, "environment = {{ {} }}", answers.join(", "));
        }
        if !self.budgets.is_empty() {
            text.push_str("budgets = [\n");
            for budget in &self.budgets {
                let _ = writeln!(text, "    {},", budget.text()?);
            }
            text.push_str("]\n");
        }
        text.push_str("functions = [\n");
        for function in &self.functions {
            let _ = writeln!(
                text,
                "    {{ name = {}, file = {}, calls = {}, self = {} }},",
                quoted(&function.name),
                quoted(&function.file),
                i64::try_from(function.calls).ok()?,
                list(&function.costs)?
            );
        }
        text.push_str("]\n");
        Some(())
    }
}

impl BlessedBudget {
    fn text(&self) -> Option<String> {
        Some(format!("{{ name = {}, cost = {} }}", quoted(&self.name), list(&self.cost)?))
    }
}

/// A text as it stands in TOML.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list(costs: &[i128]) -> Option<String> {
    let costs: Option<Vec<String>> =
        costs.iter().map(|&cost| i64::try_from(cost).ok().map(|cost| cost.to_string())).collect();
    Some(format!("[{}]", costs?.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let budget = BlessedBudget { name: "a \"b\"".to_owned(), cost: vec![3, -4] };
        let function = |name: &str| BlessedFunction {
            name: name.to_owned(),
            file: "src\\ö.rs".to_owned(),
            calls: 7,
            costs: vec![i64::MAX.into(), 0],
        };
        let blessed = Blessed {
            events: vec!["Ir".to_owned(), "Dr".to_owned()],
            total: vec![10, 2],
            listed_from: vec![1, 0],
            noise: Some(Noise { runs: 5, spread: vec![1, 0], budgets: vec![budget.clone()] }),
            environment: BTreeMap::from([("D1 cache".to_owned(), "32768 B".to_owned())]),
            budgets: vec![budget],
            functions: vec![function("operator\"\" _x'2"), function("f\u{7}")],
        };
        let mut baseline = Baseline::new();
        baseline.benchmark.insert("a b".to_owned(), blessed.clone());
        let text = baseline.text().unwrap();
        let read: Baseline = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read.benchmark["a b"], blessed, "{text}");
        assert!(blessed.is_even());
        let large = Blessed { total: vec![i128::MAX, 0], ..blessed };
        baseline.benchmark.insert("large".to_owned(), large);
        assert_eq!(baseline.text(), None);
    }
}
