#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod amount;
mod baseline;
mod bound;
mod changes;
mod config;
mod error;
mod github;
mod json;
mod junit;
mod lost;
mod markdown;
mod measurement;
mod nearest;
mod options;
mod own_code;
mod reasons;
mod refusal;
mod report;
mod sarif;
mod settings;
mod template;
mod text;
mod verdict;

pub use amount::{Increase, Share};
pub use baseline::{Baseline, BenchmarkBaseline, BudgetBaseline, FunctionBaseline, Noise};
pub use bound::CostBound;
pub use changes::FunctionChange;
pub use config::{
    Benchmark, Budget, BudgetScope, Config, FIXED_CACHES, FunctionPattern, ProfileSource, Recording,
    UnknownBenchmark,
};
pub use error::FileError;
pub use measurement::{FunctionCost, FunctionName, Measurement};
pub use nearest::OwnFunction;
pub use options::{is_quiet_option, refused_option};
pub use refusal::{Refusal, refusals};
pub use report::{Annotation, GateReport, difference, percent_change};
pub use settings::{FILES, RECORDED_PROCESSES};
pub use template::first_config;
pub use verdict::{BenchmarkVerdict, BudgetVerdict, Failure, Outcome, Reason};
