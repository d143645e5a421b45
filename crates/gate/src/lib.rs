#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod amount;
mod baseline;
mod config;
mod error;
mod github;
mod json;
mod junit;
mod markdown;
mod measurement;
mod reasons;
mod report;
mod sarif;
mod template;
mod text;
mod verdict;

pub use amount::{Increase, Share};
pub use baseline::{Baseline, BenchmarkBaseline, BudgetBaseline, FunctionBaseline, Noise};
pub use config::{Benchmark, Budget, BudgetScope, Config, ProfileSource, Recording, UnknownBenchmark};
pub use error::FileError;
pub use measurement::{FunctionCost, FunctionName, Measurement};
pub use report::{Annotation, GateReport, difference, percent_change};
pub use template::first_config;
pub use verdict::{BenchmarkVerdict, BudgetVerdict, FunctionChange, Outcome, Reason};
