//! The program `gristmill`; the [library](gristmill_cli) has all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    gristmill_cli::main()
}
