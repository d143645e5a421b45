//! `gristmill merge`: its options.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use gristmill_profile::merge::{Ratio, RatioError};

use super::FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Write the parts one after the other instead of summing them; names and positions are compressed
    #[arg(long, conflicts_with_all = ["mean", "median", "scale"])]
    pub(crate) keep_parts: bool,

    /// Divide each sum by the count of runs that have its event type; a merged file counts for the runs it was made of
    #[arg(long, conflicts_with = "median")]
    pub(crate) mean: bool,

    /// Write the median of each line, not the sum; it keeps all files in memory, in compact form
    #[arg(long)]
    pub(crate) median: bool,

    /// Multiply all numbers by this factor above 0, such as 0.25 or 1/3
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = factor)]
    pub(crate) scale: Option<Ratio>,

    /// Skip incomplete files with a warning instead of failing
    #[arg(long)]
    pub(crate) skip_broken: bool,

    /// Use profiles that are cut off or have errors as they are, with a warning
    #[arg(long)]
    pub(crate) allow_damaged: bool,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Parses a factor that leaves something of costs.
fn factor(text: &str) -> Result<Ratio, String> {
    let factor: Ratio = text.parse().map_err(|error: RatioError| error.to_string())?;
    match factor.is_positive() {
        true => Ok(factor),
        false => {
            Err("a factor must be above 0, or nothing is left of the costs that were measured".to_owned())
        }
    }
}
