//! The options of `gristmill view`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::profile::per_mille;
use super::{FOUND_FILE_HELP, ProgramArgs, SourceArgs, at_least};

const EXPORT: &str = "Export";
/// Options that mean something to the server only.
const SERVER_OPTIONS: [&str; 4] = ["watch", "port", "bind", "no_open"];

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[arg(value_name = "FILE", help = FOUND_FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Runs before the change, to compare with; several files are one profile
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "files", value_hint = ValueHint::FilePath)]
    pub(crate) base: Vec<PathBuf>,

    /// Load the profile again whenever its file, or one of --base, changes
    #[arg(long)]
    pub(crate) watch: bool,

    /// Port to listen on [default: one that is free]
    #[arg(long, value_name = "N", value_parser = at_least::<1, u16>)]
    pub(crate) port: Option<u16>,

    /// Address to listen on; any but 127.0.0.1 and ::1 lets other machines ask, without encryption
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = address)]
    pub(crate) bind: IpAddr,

    /// Do not open the browser, print the address only
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Print the answer to one question of the page, as JSON, and end
    #[arg(long, value_name = "JSON", conflicts_with_all = SERVER_OPTIONS)]
    pub(crate) answer: Option<String>,

    /// Write the page, the library and the profile into one HTML file, and end
    ///
    /// The file opens from the disk and needs no server. `-` is standard output.
    #[arg(
        long,
        value_name = "HTML",
        conflicts_with_all = SERVER_OPTIONS,
        conflicts_with_all = ["answer", "inlined"],
        value_hint = ValueHint::FilePath,
        help_heading = EXPORT
    )]
    pub(crate) export: Option<PathBuf>,

    /// Also put the sources that the profile names into the exported file
    #[arg(long, requires = "export", help_heading = EXPORT, hide_short_help = true)]
    pub(crate) embed_sources: bool,

    /// Keep what makes up this share of each event type, and join the rest
    ///
    /// The costs and calls of other lines are joined for each function. In large profiles, cheap functions are joined by object and
    /// cycle. The numbers of functions that stay, of cycles and parts, and the self cost of objects stay exact.
    #[arg(long, requires = "export", value_name = "PERCENT", value_parser = per_mille, help_heading = EXPORT)]
    pub(crate) export_share: Option<u32>,

    /// Write the viewer without a profile into a directory, for any web space, and end
    ///
    /// Visitors open files of theirs in it. Nothing that they open leaves their machine.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = SERVER_OPTIONS,
        conflicts_with_all = ["answer", "inlined", "export", "files", "base", "set"],
        value_hint = ValueHint::DirPath,
        help_heading = EXPORT
    )]
    pub(crate) site: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long, help_heading = EXPORT)]
    pub(crate) force: bool,

    /// Also load the other files of the same recording
    ///
    /// They are its dumps and threads, as identified by their headers.
    #[arg(long, help_heading = "Selection")]
    pub(crate) set: bool,

    /// Give self costs to inlined functions
    ///
    /// Reads the debug information of the programs. Exact with addresses (--dump-instr=yes), else partly an estimate; the head of
    /// each view says how much.
    #[arg(long)]
    pub(crate) inlined: bool,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

impl ViewArgs {
    /// The profiles of both sides.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        [&self.files[..], &self.base].concat()
    }
}

/// Parses an address of this machine.
fn address(text: &str) -> Result<IpAddr, String> {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    text.parse()
        .map_err(|_| "expected an IP address of this machine, such as 127.0.0.1 or 0.0.0.0".to_owned())
}
