//! Options for the search for programs: the objects of a profile.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ProgramArgs {
    /// Replace FROM at the start of the path of a program by TO; repeatable
    #[arg(long, value_name = "FROM=TO", help_heading = "Programs", hide_short_help = true)]
    pub(crate) binary: Vec<String>,

    /// Directory with debug information of programs, or with sources that were installed with it; repeatable
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Programs", hide_short_help = true)]
    pub(crate) debuginfo_dir: Vec<PathBuf>,

    /// Ask the servers of DEBUGINFOD_URLS for programs and debug information that are not found here
    #[arg(long, help_heading = "Programs", hide_short_help = true)]
    pub(crate) debuginfod: bool,

    /// Read no program outside this directory, links resolved; repeatable [default: that of --sources-below]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Programs", hide_short_help = true)]
    pub(crate) programs_below: Vec<PathBuf>,
}
