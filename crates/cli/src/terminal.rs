//! The terminal: use of colours, and the width of lines.
//!
//! Everything that comes out of a profile or a file system is untrusted: a function may be called `\x1b[2J`. It goes
//! through [`printable`] before it reaches a terminal.

use std::ffi::OsStr;
use std::io::IsTerminal;

pub(crate) use gristmill_output::{Painter, byte_size, grouped, printable, printable_path};

use crate::args::{ColorChoice, MAX_WIDTH};

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

/// The width of reports on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputWidth {
    pub(crate) columns: usize,
    /// `true` if names are shortened to fit it. A pipe or a file takes names of any length.
    pub(crate) is_limit: bool,
}

/// Returns the width of reports on standard output.
pub(crate) fn width(option: Option<usize>) -> OutputWidth {
    let terminal = || {
        if !std::io::stdout().is_terminal() {
            return None;
        }
        let size = terminal_size::terminal_size();
        Some(size.map_or(PIPE_WIDTH, |(terminal_size::Width(columns), _)| usize::from(columns)))
    };
    width_where(option, std::env::var_os("COLUMNS").as_deref(), terminal())
}

/// Decides on the width, given the environment. The option outranks the environment, and that the terminal.
fn width_where(option: Option<usize>, columns: Option<&OsStr>, terminal: Option<usize>) -> OutputWidth {
    let columns = columns.and_then(OsStr::to_str).and_then(|columns| columns.parse().ok());
    match option.or(columns.filter(|&columns| columns > 0)).or(terminal) {
        Some(columns) => OutputWidth { columns: columns.clamp(MIN_WIDTH, MAX_WIDTH), is_limit: true },
        None => OutputWidth { columns: PIPE_WIDTH, is_limit: false },
    }
}

/// Rows of a terminal that does not tell how many it has.
const USUAL_HEIGHT: usize = 24;

/// Returns the rows of the terminal.
pub(crate) fn height() -> usize {
    let size = terminal_size::terminal_size();
    size.map_or(USUAL_HEIGHT, |(_, terminal_size::Height(rows))| usize::from(rows).max(1))
}

/// `true` if text is UTF-8. A system that says nothing is taken for one where it is.
pub(crate) fn is_utf8() -> bool {
    is_utf8_where(|name| std::env::var(name).ok())
}

/// Decides on the character set, given the environment.
fn is_utf8_where(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|locale| !locale.is_empty());
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_decides() {
        let is_utf8 = |all: &str, ctype: &str, lang: &str| {
            let values = [("LC_ALL", all), ("LC_CTYPE", ctype), ("LANG", lang)]
                .map(|(name, it)| (name, it.to_owned()));
            is_utf8_where(|name| {
                values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
            })
        };
        assert!(is_utf8("", "", "") && is_utf8_where(|_| None));
        assert!(is_utf8("", "", "de_DE.UTF-8") && is_utf8("C.utf8", "C", "C"));
        assert!(
            !is_utf8("C", "", "en_US.UTF-8") && !is_utf8("", "POSIX", "C.UTF-8") && !is_utf8("", "", "de_DE")
        );
    }

    #[test]
    fn width_is_decided_in_order() {
        let width = |option, columns: &str, terminal| {
            let width = width_where(option, Some(OsStr::new(columns)), terminal);
            (width.columns, width.is_limit)
        };
        assert_eq!(width(Some(100), "60", Some(120)), (100, true));
        assert_eq!(width(None, "60", Some(120)), (60, true));
        assert_eq!(width(None, "60", None), (60, true));
        assert_eq!(width(None, "7", None), (MIN_WIDTH, true));
        assert_eq!(width(None, "18446744073709551615", None), (MAX_WIDTH, true));
        for columns in ["", "0", "wide", "-3"] {
            assert_eq!(width(None, columns, Some(120)), (120, true));
            assert_eq!(width(None, columns, None), (PIPE_WIDTH, false));
        }
        assert_eq!(width_where(None, None, None), OutputWidth { columns: PIPE_WIDTH, is_limit: false });
    }

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
