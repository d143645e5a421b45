//! The terminal: use of colours, and the width of lines.
//!
//! Everything that comes out of a profile or a file system is untrusted: a function may be called `\x1b[2J`. It goes
//! through [`printable`] before it reaches a terminal.

use std::ffi::OsStr;
use std::io::IsTerminal;

pub(crate) use gristmill_output::{Painter, byte_size, grouped, printable, printable_path};

use crate::args::ColorChoice;

/// The width of reports that go to a pipe or a file, so that the same input gives the same bytes.
pub(crate) const PIPE_WIDTH: usize = 80;

/// Narrowest width of a report; in a narrower terminal lines wrap.
const MIN_WIDTH: usize = 40;

/// `true` if output to `stream` has colours.
pub(crate) fn use_color(choice: ColorChoice, stream: &impl IsTerminal) -> bool {
    use_color_where(
        choice,
        stream.is_terminal(),
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
}

/// Decides on colours, given the environment. The option outranks the environment.
fn use_color_where(
    choice: ColorChoice,
    terminal: bool,
    no_color: Option<&OsStr>,
    term: Option<&OsStr>,
) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // NO_COLOR counts if it is set and not empty (no-color.org).
        ColorChoice::Auto => {
            terminal && no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
        }
    }
}

/// Returns the width of reports on standard output.
pub(crate) fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        return PIPE_WIDTH;
    }
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).max(MIN_WIDTH),
        None => PIPE_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_is_decided_in_order() {
        let set = Some(OsStr::new("1"));
        let dumb = Some(OsStr::new("dumb"));
        let empty = Some(OsStr::new(""));
        assert!(use_color_where(ColorChoice::Auto, true, None, None));
        assert!(use_color_where(ColorChoice::Auto, true, empty, Some(OsStr::new("xterm"))));
        assert!(!use_color_where(ColorChoice::Auto, false, None, None));
        assert!(!use_color_where(ColorChoice::Auto, true, set, None));
        assert!(!use_color_where(ColorChoice::Auto, true, None, dumb));
        assert!(use_color_where(ColorChoice::Always, false, set, dumb));
        assert!(!use_color_where(ColorChoice::Never, true, None, None));
    }
}
