//! What a person sees: whether there is colour, how wide a line is, and text from files made safe to show.
//!
//! Everything that comes out of a profile or a file system is untrusted: a function may be called `\x1b[2J`. It goes
//! through [`printable`] before it reaches a terminal.

use std::ffi::OsStr;
use std::io::IsTerminal;

pub(crate) use gristmill_output::{Painter, byte_size, grouped, printable, printable_path};

use crate::args::ColorChoice;

/// The width of reports that go to a pipe or a file, so that the same input gives the same bytes.
pub(crate) const PIPE_WIDTH: usize = 80;

/// Below this no table is readable; the terminal wraps instead.
const LEAST_WIDTH: usize = 40;

/// Whether to colour what goes to `stream`.
pub(crate) fn use_color(choice: ColorChoice, stream: &impl IsTerminal) -> bool {
    use_color_where(
        choice,
        stream.is_terminal(),
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
}

/// The decision without the world around it. An option outranks the environment.
fn use_color_where(
    choice: ColorChoice,
    terminal: bool,
    no_color: Option<&OsStr>,
    term: Option<&OsStr>,
) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // NO_COLOR counts when it is set to anything but nothing (no-color.org).
        ColorChoice::Auto => {
            terminal && no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
        }
    }
}

/// The columns that a report on standard output may fill.
pub(crate) fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        return PIPE_WIDTH;
    }
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).max(LEAST_WIDTH),
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
