//! Options for the search for source files.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SourceArgs {
    /// Directory to search for source files; repeatable
    #[arg(long, short = 'I', value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub(crate) include: Vec<PathBuf>,

    /// Replace FROM at the start of paths by TO; repeatable
    #[arg(long, value_name = "FROM=TO", help_heading = "Sources")]
    pub(crate) source_map: Vec<String>,

    /// Directory to search recursively for files whose paths end like those in the profile; repeatable
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub(crate) search: Vec<PathBuf>,

    /// Read no source file outside this directory, links resolved; repeatable
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub(crate) sources_below: Vec<PathBuf>,
}
