//! The options of `gristmill control`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::at_least;

#[derive(Debug, Args)]
pub(crate) struct ControlArgs {
    /// Process id of the program, or of the gristmill that records it
    #[arg(value_name = "PID", value_parser = at_least::<1, u32>)]
    pub(crate) pid: u32,

    /// Request
    #[arg(value_name = "REQUEST")]
    pub(crate) request: Request,

    /// Words for dump and stop, which the part has in its trigger
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Longest time to wait for an answer; a large program takes long to write its profile
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = at_least::<1, u32>)]
    pub(crate) timeout: u32,

    /// Program of Valgrind [default: GRISTMILL_VALGRIND, or valgrind on the path]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath)]
    pub(crate) valgrind: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Request {
    /// Print what runs, and what was counted so far
    Status,
    /// Write what was counted so far as a part, and print its path
    Dump,
    /// Set all costs to zero
    Zero,
    /// Count from now on
    On,
    /// Count no more, and run faster
    Off,
    /// Write the profile as dump does, then end the program
    Stop,
}
