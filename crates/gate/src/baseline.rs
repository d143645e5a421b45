//! The baseline: accepted costs, as sorted text in the repository, so that a review sees what changed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gristmill_format::Cost;
use gristmill_output::printable;
use gristmill_profile::event::is_memory;
use serde::Deserialize;

use crate::amount::Share;
use crate::config::{Benchmark, Budget, BudgetScope};
use crate::error::{FileError, line_at};
use crate::measurement::{FunctionName, Measurement};

const HEAD: &str = "# Costs that `gristmill gate bless` accepted, and their variation from run to run\n\
                    # (`gristmill gate noise`). Written by these commands; review it like code.\n";
const VERSION: u32 = 2;

/// The accepted costs of all benchmarks.
///
/// ```
/// use std::path::Path;
///
/// use gristmill_gate::Baseline;
///
/// let text = "version = 2\n[benchmark.parse]\nevents = [\"Ir\"]\ntotal = [1200]\nlisted_from = [1]\n";
/// let baseline = Baseline::parse(Path::new("gristmill-baseline.toml"), text)?;
/// assert_eq!(baseline.benchmarks["parse"].total, [1200]);
/// assert!(baseline.to_toml().unwrap().contains("total = [1200]"));
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    /// The accepted costs of each benchmark, by its name.
    #[serde(default, rename = "benchmark")]
    pub benchmarks: BTreeMap<String, BenchmarkBaseline>,
}

impl Default for Baseline {
    fn default() -> Self {
        Baseline { version: VERSION, benchmarks: BTreeMap::new() }
    }
}

/// The accepted costs of a benchmark. Every list of costs has one entry per event type. See the example of [`Baseline`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkBaseline {
    /// The event types.
    pub events: Vec<String>,
    /// Costs of all functions that are not ignored.
    #[serde(deserialize_with = "costs")]
    pub total: Vec<Cost>,
    /// Costs from which on a function is listed: one that is not listed has less of every event type.
    #[serde(deserialize_with = "costs")]
    pub listed_from: Vec<Cost>,
    /// Variation from run to run, if it was measured.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// Settings of the configuration, which must be the same for costs to be comparable.
    #[serde(default)]
    pub settings: BTreeMap<String, Vec<String>>,
    /// Tool, command, caches and string functions, which must be the same, too.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Costs of the functions that budgets are about.
    #[serde(default)]
    pub budgets: Vec<BudgetBaseline>,
    /// The most expensive functions, and those of the user's own code with a high inclusive cost.
    #[serde(default)]
    pub functions: Vec<FunctionBaseline>,
}

/// Variation of costs from run to run. See the example of [`Noise::new`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Number of runs.
    pub runs: u32,
    /// Range of the totals: the highest minus the lowest.
    #[serde(deserialize_with = "costs")]
    pub spread: Vec<Cost>,
    /// Ranges of the costs that budgets are about.
    #[serde(default)]
    pub budgets: Vec<BudgetBaseline>,
}

/// Costs, or ranges of costs, of the functions of a budget. See the example of [`Baseline`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetBaseline {
    /// Name of the budget.
    pub name: String,
    /// Pattern of its functions. Ranges have none.
    #[serde(default)]
    pub function: Option<String>,
    /// `true` if the costs are upper bounds.
    #[serde(default)]
    pub upper_bound: bool,
    /// `true` if it is about their inclusive costs.
    #[serde(default)]
    pub inclusive: bool,
    /// One cost per event type.
    #[serde(deserialize_with = "costs")]
    pub cost: Vec<Cost>,
}

/// The accepted costs of a function. See the example of [`Baseline`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionBaseline {
    /// Its name.
    pub name: String,
    /// Its source file.
    pub file: String,
    /// Number of calls.
    #[serde(deserialize_with = "cost")]
    pub calls: Cost,
    /// Self costs.
    #[serde(rename = "self", deserialize_with = "costs")]
    pub costs: Vec<Cost>,
    /// Inclusive costs, if it is of the user's own code and they differ from the self costs. Empty if calls of functions of this name
    /// lead back to them, so that these costs are not known.
    #[serde(default, deserialize_with = "optional_costs")]
    pub inclusive: Option<Vec<Cost>>,
}

impl FunctionBaseline {
    pub(crate) fn function(&self) -> FunctionName {
        FunctionName { name: self.name.clone(), file: self.file.clone() }
    }
}

// Integers of TOML have 64 bits.
fn cost<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
    i64::deserialize(deserializer).map(Cost::from)
}

fn costs<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Cost>, D::Error> {
    Ok(Vec::<i64>::deserialize(deserializer)?.into_iter().map(Cost::from).collect())
}

fn optional_costs<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Cost>>, D::Error> {
    costs(deserializer).map(Some)
}

impl Baseline {
    /// Parses a baseline. The path is for errors only; nothing is opened.
    ///
    /// # Errors
    ///
    /// If the text is not a baseline of the known version.
    pub fn parse(path: &Path, text: &str) -> Result<Baseline, FileError> {
        let error = |line, message| FileError { path: path.to_owned(), line, message };
        let baseline: Baseline = toml::from_str(text).map_err(|fault| {
            let line = fault.span().map_or(0, |span| line_at(text, span.start));
            error(line, fault.message().replace('\n', " "))
        })?;
        if baseline.version != VERSION {
            return Err(error(
                0,
                format!("the version is {}, and only {VERSION} is supported", baseline.version),
            ));
        }
        match baseline.benchmarks.iter().find(|(_, benchmark)| !benchmark.is_even()) {
            Some((name, _)) => {
                Err(error(0, format!("`{name}` has lists that are not as long as its `events`")))
            }
            None => match baseline.benchmarks.iter().find(|(_, benchmark)| !benchmark.is_consistent()) {
                Some((name, _)) => Err(error(
                    0,
                    format!(
                        "the costs of `{name}` do not add up: they were edited, or merged from two baselines"
                    ),
                )),
                None => Ok(baseline),
            },
        }
    }

    /// Returns the baseline as text, or `None` if a cost is beyond the integers of TOML, which have 64 bits with their sign.
    pub fn to_toml(&self) -> Option<String> {
        let mut text = format!("{HEAD}version = {VERSION}\n");
        for (name, benchmark) in &self.benchmarks {
            // Writing to a String does not fail.
            let _ = write!(text, "\n[benchmark.{}]\n", toml_string(name));
            benchmark.write(&mut text)?;
        }
        Some(text)
    }
}

impl BenchmarkBaseline {
    /// Makes a baseline of a measurement. The noise of the previous baseline is kept if that was measured with the same settings
    /// and for the same event types.
    pub fn new(
        measurement: &Measurement,
        benchmark: &Benchmark,
        share: Share,
        previous: Option<&BenchmarkBaseline>,
    ) -> Self {
        let listed_from: Vec<Cost> = measurement.totals.iter().map(|&total| share.amount(total)).collect();
        let is_listed = |costs: &[Cost]| {
            costs.iter().zip(&listed_from).any(|(cost, lowest)| cost.abs() >= *lowest && *cost != 0)
        };
        // The others can cost more than all then.
        let is_below_0 = |costs: &[Cost]| {
            let mut events = costs.iter().zip(&measurement.events);
            events.any(|(cost, event)| *cost < 0 && !is_memory(event))
        };
        let functions = measurement.functions.iter().filter(|(_, function)| {
            is_listed(&function.costs)
                || is_below_0(&function.costs)
                || (function.is_own && is_listed(&function.inclusive))
        });
        let functions = functions.map(|(name, function)| FunctionBaseline {
            name: name.name.clone(),
            file: name.file.clone(),
            calls: function.calls,
            costs: function.costs.clone(),
            // Most functions of a profile call nothing: one list is enough for them.
            inclusive: match function.is_own && function.inclusive != function.costs {
                true if function.is_inclusive_doubtful => Some(Vec::new()),
                true => Some(function.inclusive.clone()),
                false => None,
            },
        });
        let scopes: BTreeMap<&str, &BudgetScope> =
            benchmark.budgets.iter().map(|budget| (budget.scope.name(), &budget.scope)).collect();
        let budgets = measurement.budgets.iter().map(|(name, cost)| {
            let (function, inclusive) = match scopes.get(name.as_str()) {
                Some(BudgetScope::Functions { pattern, is_inclusive, .. }) => {
                    (Some(pattern.as_str().to_owned()), *is_inclusive)
                }
                _ => (None, false),
            };
            let is_doubtful = |budget: &&Budget| {
                let column = measurement.column(&budget.event);
                let bound = measurement.bounds.get(name);
                bound.zip(column).is_some_and(|(bound, column)| bound.is_doubtful(column))
            };
            let mut of_name = benchmark.budgets.iter().filter(|budget| budget.scope.name() == name);
            let upper_bound = of_name.any(|budget| is_doubtful(&budget));
            BudgetBaseline { name: name.clone(), function, upper_bound, inclusive, cost: cost.clone() }
        });
        let mut baseline = BenchmarkBaseline {
            events: measurement.events.clone(),
            total: measurement.totals.clone(),
            noise: None,
            settings: measurement.settings.clone(),
            environment: measurement.environment.clone(),
            budgets: budgets.collect(),
            functions: functions.collect(),
            listed_from,
        };
        baseline.noise = previous.and_then(|previous| previous.noise_for(&baseline));
        baseline
    }

    /// Returns the noise if it is that of another baseline, too: without ranges of budgets that are about other functions there.
    fn noise_for(&self, other: &BenchmarkBaseline) -> Option<Noise> {
        let is_same = self.events == other.events && self.settings == other.settings;
        let mut noise = self.noise.clone().filter(|_| is_same)?;
        let functions = |budgets: &[BudgetBaseline], name: &str| {
            let mut budgets = budgets.iter();
            budgets
                .find(|budget| budget.name == name)
                .map(|budget| (budget.function.clone(), budget.inclusive))
        };
        noise
            .budgets
            .retain(|range| functions(&self.budgets, &range.name) == functions(&other.budgets, &range.name));
        Some(noise)
    }

    /// Returns the column of an event type.
    pub fn column(&self, event: &str) -> Option<usize> {
        self.events.iter().position(|other| other == event)
    }

    /// `true` if the listed functions cost no more than all of them. Memory can be below 0, and so can costs that no budget is about: then
    /// functions with such costs are listed.
    fn is_consistent(&self) -> bool {
        let listed = |column: usize| self.functions.iter().map(move |function| function.costs[column]);
        (0..self.events.len()).filter(|column| !is_memory(&self.events[*column])).all(|column| {
            let is_negative = listed(column).any(|cost| cost < 0);
            is_negative || listed(column).sum::<Cost>() <= self.total[column]
        })
    }

    /// `true` if every list has one cost per event type.
    fn is_even(&self) -> bool {
        let noise = self.noise.iter().flat_map(|noise| {
            std::iter::once(&noise.spread).chain(noise.budgets.iter().map(|budget| &budget.cost))
        });
        let mut lists = [&self.total, &self.listed_from]
            .into_iter()
            .chain(self.budgets.iter().map(|budget| &budget.cost))
            .chain(self.functions.iter().map(|function| &function.costs))
            .chain(
                self.functions
                    .iter()
                    .filter_map(|row| row.inclusive.as_ref())
                    .filter(|list| !list.is_empty()),
            )
            .chain(noise);
        lists.all(|list| list.len() == self.events.len())
    }

    fn write(&self, text: &mut String) -> Option<()> {
        let events: Vec<String> = self.events.iter().map(|event| toml_string(event)).collect();
        let _ = writeln!(text, "events = [{}]", events.join(", "));
        let _ = writeln!(text, "total = {}", toml_list(&self.total)?);
        let _ = writeln!(text, "listed_from = {}", toml_list(&self.listed_from)?);
        if let Some(noise) = &self.noise {
            let _ = write!(text, "noise = {{ runs = {}, spread = {}", noise.runs, toml_list(&noise.spread)?);
            let budgets: Option<Vec<String>> = noise.budgets.iter().map(BudgetBaseline::to_toml).collect();
            let _ = writeln!(text, ", budgets = [{}] }}", budgets?.join(", "));
        }
        if !self.settings.is_empty() {
            let entries = self.settings.iter().map(|(kind, values)| {
                let values: Vec<String> = values.iter().map(|value| toml_string(value)).collect();
                format!("{} = [{}]", toml_string(kind), values.join(", "))
            });
            let entries: Vec<String> = entries.collect();
            let _ = writeln!(text, "settings = {{ {} }}", entries.join(", "));
        }
        if !self.environment.is_empty() {
            let entries: Vec<String> = self
                .environment
                .iter()
                .map(|(kind, value)| format!("{} = {}", toml_string(kind), toml_string(value)))
                .collect();
            let _ = writeln!(text, "environment = {{ {} }}", entries.join(", "));
        }
        if !self.budgets.is_empty() {
            text.push_str("budgets = [\n");
            for budget in &self.budgets {
                let _ = writeln!(text, "    {},", budget.to_toml()?);
            }
            text.push_str("]\n");
        }
        text.push_str("functions = [\n");
        for function in &self.functions {
            let inclusive = match &function.inclusive {
                None => String::new(),
                Some(costs) => format!(", inclusive = {}", toml_list(costs)?),
            };
            let _ = writeln!(
                text,
                "    {{ name = {}, file = {}, calls = {}, self = {}{inclusive} }},",
                toml_string(&function.name),
                toml_string(&function.file),
                i64::try_from(function.calls).ok()?,
                toml_list(&function.costs)?
            );
        }
        text.push_str("]\n");
        Some(())
    }
}

impl Noise {
    /// Calculates the variation of runs of one benchmark, for these event types.
    ///
    /// ```
    /// use gristmill_gate::{Measurement, Noise};
    ///
    /// let run = |total| Measurement { events: vec!["Ir".to_owned()], totals: vec![total], ..Measurement::default() };
    /// let noise = Noise::new(&[run(100), run(103), run(101)], &["Ir".to_owned()]);
    /// assert_eq!((noise.runs, noise.spread), (3, vec![3]));
    /// ```
    pub fn new(runs: &[Measurement], events: &[String]) -> Noise {
        let spread = |cost: &dyn Fn(&Measurement, usize) -> Option<Cost>| -> Vec<Cost> {
            let columns = events.iter().map(|event| {
                let costs = runs.iter().filter_map(|run| cost(run, run.column(event)?));
                costs.clone().max().unwrap_or(0) - costs.min().unwrap_or(0)
            });
            columns.collect()
        };
        let names = runs.first().map(|run| run.budgets.keys()).into_iter().flatten();
        let budgets = names.map(|name| BudgetBaseline {
            name: name.clone(),
            function: None,
            upper_bound: false,
            inclusive: false,
            cost: spread(&|run, column| Some(run.budgets.get(name)?[column])),
        });
        Noise {
            runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            budgets: budgets.collect(),
            spread: spread(&|run, column| Some(run.totals[column])),
        }
    }
}

impl BudgetBaseline {
    fn to_toml(&self) -> Option<String> {
        let function = self.function.as_ref().map_or_else(String::new, |pattern| {
            let inclusive = if self.inclusive { ", inclusive = true" } else { "" };
            format!(", function = {}{inclusive}", toml_string(pattern))
        });
        let upper_bound = if self.upper_bound { ", upper_bound = true" } else { "" };
        let (name, cost) = (toml_string(&self.name), toml_list(&self.cost)?);
        Some(format!("{{ name = {name}{function}, cost = {cost}{upper_bound} }}"))
    }
}

/// Quotes a text for TOML. A name of a profile can have characters that show another one, so these are escaped.
pub(crate) fn toml_string(text: &str) -> String {
    if printable(text.as_bytes()) == text {
        return toml::Value::String(text.to_owned()).to_string();
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        let is_safe = matches!(printable(character.encode_utf8(&mut [0; 4]).as_bytes()), Cow::Borrowed(_));
        match u32::from(character) {
            _ if is_safe && !matches!(character, '"' | '\\') => quoted.push(character),
            code @ 0x1_0000.. => quoted.push_str(&format!("\\U{code:08X}")),
            code => quoted.push_str(&format!("\\u{code:04X}")),
        }
    }
    quoted.push('"');
    quoted
}

fn toml_list(costs: &[Cost]) -> Option<String> {
    let costs: Option<Vec<String>> =
        costs.iter().map(|&cost| i64::try_from(cost).ok().map(|cost| cost.to_string())).collect();
    Some(format!("[{}]", costs?.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_baselines_parse_to_the_same() {
        let budget = BudgetBaseline {
            name: "a \"b\"".to_owned(),
            function: Some("^a".to_owned()),
            upper_bound: true,
            inclusive: true,
            cost: vec![3, -4],
        };
        let function = |name: &str| FunctionBaseline {
            name: name.to_owned(),
            file: "src\\ö.rs".to_owned(),
            calls: 7,
            costs: vec![i64::from(i32::MAX).into(), 0],
            inclusive: (name == "f\u{7}").then(|| vec![2, 3]),
        };
        let benchmark = BenchmarkBaseline {
            events: vec!["Ir".to_owned(), "Dr".to_owned()],
            total: vec![i64::MAX.into(), 2],
            listed_from: vec![1, 0],
            noise: Some(Noise { runs: 5, spread: vec![1, 0], budgets: vec![budget.clone()] }),
            settings: BTreeMap::from([("command".to_owned(), vec!["a b".to_owned(), "c".to_owned()])]),
            environment: BTreeMap::from([("D1 cache".to_owned(), "32768 B".to_owned())]),
            budgets: vec![budget],
            functions: vec![
                function("operator\"\" _x'2"),
                function("f\u{7}"),
                function("\u{202e}\"\\\n\u{9b}1m\u{e0041}ö"),
            ],
        };
        let mut baseline = Baseline::default();
        baseline.benchmarks.insert("a b".to_owned(), benchmark.clone());
        let text = baseline.to_toml().unwrap();
        let parsed = Baseline::parse(Path::new("a"), &text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(parsed.benchmarks["a b"], benchmark, "{text}");
        assert!(text.contains(r#""\u202E\u0022\u005C\u000A\u009B1m\U000E0041ö""#), "{text}");
        let is_safe = |line: &str| printable(line.as_bytes()) == line;
        assert!(text.lines().all(is_safe), "{text}");
        let large = BenchmarkBaseline { total: vec![Cost::MAX, 0], ..benchmark };
        baseline.benchmarks.insert("large".to_owned(), large);
        assert_eq!(baseline.to_toml(), None);
    }

    #[test]
    fn documented_baseline_parses() {
        let text = include_str!("../../../docs/gate.md");
        let block = text.split("```toml\n").nth(2).unwrap().split("```").next().unwrap();
        Baseline::parse(Path::new("a"), &format!("version = 2\n{block}")).unwrap();
    }
}
