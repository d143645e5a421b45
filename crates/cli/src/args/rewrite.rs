//! The options of `gristmill rewrite`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct RewriteArgs {
    #[arg(value_name = "IN", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// File to write; - or nothing is standard output. With several inputs, an existing directory in which each keeps
    /// its file name
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// How to write names: each once and then by its number, or always in full. Without it, as in the input
    #[arg(long, value_name = "STYLE")]
    pub(crate) names: Option<NameStyle>,

    /// How to write positions: relative to the line before, or in full. Without it, as in the input
    #[arg(long, value_name = "STYLE")]
    pub(crate) positions: Option<PositionStyle>,

    /// Leave this out; may be repeated or separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) drop: Vec<Dropped>,

    /// Remove this directory from the start of file and object names; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) strip_prefix: Vec<PathBuf>,

    /// Mend what is broken, and say what was changed. Without it, a profile that cannot be carried over as it is gets
    /// refused
    #[arg(long)]
    pub(crate) repair: bool,

    /// Overwrite files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameStyle {
    Compressed,
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PositionStyle {
    Compressed,
    Absolute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dropped {
    /// Jumps between lines (jump= and jcnd=)
    Jumps,
    /// Addresses of instructions and basic blocks, where there are source lines. Each cost stays a line of its own,
    /// also where several then say the same position
    Instr,
    /// Comment lines
    Comments,
}
