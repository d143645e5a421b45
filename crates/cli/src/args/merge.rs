//! `gristmill merge`: its options.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use gristmill_profile::merge::Ratio;

use super::FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// File to write; - or nothing is standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Keep all parts as they are, one after the other in one file, instead of adding them up
    #[arg(long, conflicts_with_all = ["mean", "median", "scale"])]
    pub(crate) keep_parts: bool,

    /// Divide each sum by the number of runs that have its event type. A merged file counts for as many runs as it was
    /// made of
    #[arg(long, conflicts_with = "median")]
    pub(crate) mean: bool,

    /// Take the number in the middle for each line, not the sum. All files are kept in memory for that, in short form
    #[arg(long)]
    pub(crate) median: bool,

    /// Multiply all numbers by this, such as 0.25 or 1/3
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub(crate) scale: Option<Ratio>,

    /// Leave out files that cannot be read to their end, with a warning, instead of giving up
    #[arg(long)]
    pub(crate) skip_broken: bool,

    /// Overwrite a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}
