//! The options of `gristmill rewrite`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct RewriteArgs {
    #[arg(value_name = "IN", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Output file [default: standard output]. For several inputs, an existing directory; each
    /// keeps its file name
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// Style of names [default: that of the input]
    #[arg(long, value_name = "STYLE")]
    pub(crate) names: Option<NameStyle>,

    /// Style of positions [default: that of the input]
    #[arg(long, value_name = "STYLE")]
    pub(crate) positions: Option<PositionStyle>,

    /// Lines or columns to leave out; repeatable, or separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) drop: Vec<Dropped>,

    /// Name the file wherever only Callgrind's own rule determines it, for other readers; implies `--positions absolute`
    #[arg(long)]
    pub(crate) explicit_files: bool,

    /// Remove this directory from the start of paths; repeatable
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) strip_prefix: Vec<PathBuf>,

    /// Repair damaged profiles, and report each change. Without this option they are refused
    #[arg(long)]
    pub(crate) repair: bool,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameStyle {
    /// Each name once, then its number
    Compressed,
    /// Each name in full
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PositionStyle {
    /// Relative to the line before
    Compressed,
    /// In full
    Absolute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dropped {
    /// Jumps between lines (jump= and jcnd=)
    Jumps,
    /// Addresses of instructions and basic blocks, where there are source lines. Each cost keeps its own line, even if
    /// several then have the same position
    Instr,
    /// Comment lines
    Comments,
}
