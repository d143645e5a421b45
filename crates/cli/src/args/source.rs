//! Where to look for source files.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Default, Args)]
pub(crate) struct SourceArgs {
    /// Look for source files in this directory, too; may be repeated
    #[arg(long, short = 'I', value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub(crate) include: Vec<PathBuf>,

    /// Where a path of the profile begins with FROM, read TO instead; may be repeated
    #[arg(long, value_name = "FROM=TO", help_heading = "Sources")]
    pub(crate) source_map: Vec<String>,

    /// Look anywhere below this directory for files whose path ends alike; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub(crate) search: Vec<PathBuf>,

    /// Look for sources that were installed with debugging information below this directory; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub(crate) debuginfo_dir: Vec<PathBuf>,
}
