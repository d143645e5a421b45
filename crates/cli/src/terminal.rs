//! What a person sees: whether there is colour, how wide a line is, and text from files made safe to show.
//!
//! Everything that comes out of a profile or a file system is untrusted: a function may be called `\x1b[2J`. It goes
//! through [`printable`] before it reaches a terminal.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::io::IsTerminal;
use std::path::Path;

use anstyle::{AnsiColor, Style};

pub(crate) use gristmill_report::{grouped, printable};

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

/// A path made safe to show.
pub(crate) fn printable_path(path: &Path) -> Cow<'_, str> {
    printable(path.as_os_str().as_encoded_bytes())
}

/// `999 bytes`, `1.5 KiB`, `16.0 GiB`
pub(crate) fn byte_size(bytes: u64) -> String {
    if bytes < 1024 {
        return match bytes {
            1 => "1 byte".to_owned(),
            _ => format!("{bytes} bytes"),
        };
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for larger in ["MiB", "GiB", "TiB", "PiB", "EiB"] {
        // What would be shown as 1024.0 is 1.0 of the next unit.
        if size < 1023.95 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

/// Dresses text in colour, or leaves it alone. The width of a format string (`{:>12}`) applies to the text, not to the
/// escape sequences around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painter {
    on: bool,
}

impl Painter {
    pub(crate) const fn new(on: bool) -> Self {
        Self { on }
    }

    /// Whether there are any colours.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(Style::new().bold(), text)
    }

    pub(crate) fn dim<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(Style::new().dimmed(), text)
    }

    pub(crate) fn red<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    pub(crate) fn yellow<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    pub(crate) fn green<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn cyan<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    fn paint<T: fmt::Display>(self, style: Style, text: T) -> Painted<T> {
        Painted { style: if self.on { style } else { Style::new() }, text }
    }
}

/// Text in a style; see [`Painter`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.style.render())?;
        self.text.fmt(f)?;
        write!(f, "{}", self.style.render_reset())
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

    #[test]
    fn sizes_in_bytes() {
        for (bytes, shown) in [
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (16 << 30, "16.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(byte_size(bytes), shown);
        }
    }

    #[test]
    fn paint_only_when_on() {
        assert_eq!(Painter::new(false).red("x").to_string(), "x");
        let painted = Painter::new(true).bold("x").to_string();
        assert!(painted.starts_with('\x1b') && painted.ends_with('m') && painted.contains('x'));
        assert_eq!(format!("[{:>3}]", Painter::new(false).cyan("x")), "[  x]");
        assert!(format!("{:>3}", Painter::new(true).green("x")).contains("  x"));
    }
}
