//! `gristmill merge`: its options.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use gristmill_profile::merge::Ratio;

use super::FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Output file; `-` is standard output [default: -]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Write all parts unchanged, one after the other, without summing them
    #[arg(long, conflicts_with_all = ["mean", "median", "scale"])]
    pub(crate) keep_parts: bool,

    /// Divide each sum by the count of runs that have its event type; a merged file counts for the runs it was made of
    #[arg(long, conflicts_with = "median")]
    pub(crate) mean: bool,

    /// Write the median of each line, not the sum; it keeps all files in memory, in compact form
    #[arg(long)]
    pub(crate) median: bool,

    /// Multiply all numbers by this factor, such as 0.25 or 1/3
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub(crate) scale: Option<Ratio>,

    /// Skip incomplete files with a warning, not an error
    #[arg(long)]
    pub(crate) skip_broken: bool,

    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}
