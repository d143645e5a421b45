//! The look of text: width and colours.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// The look of a report: how wide it is, and which means there are to set text apart.
///
/// ```
/// use gristmill_output::Look;
///
/// let look = Look::plain(80);
/// assert_eq!(look.bold("main").to_string(), "main");
/// let coloured = Look { has_color: true, ..look };
/// assert_eq!(coloured.bold("main").to_string(), "\x1b[1mmain\x1b[0m");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns that a line may fill.
    pub width: usize,
    /// `true` if a person watches: bars are drawn, and titles set apart.
    pub is_terminal: bool,
    /// `true` if colours are used.
    pub has_color: bool,
    /// `true` if names and paths are shown in full, however long they are.
    pub has_full_names: bool,
}

impl Look {
    /// The look of text in a file or a pipe.
    pub const fn plain(width: usize) -> Self {
        Look { width, is_terminal: false, has_color: false, has_full_names: true }
    }

    /// Returns the columns that a name may take where `columns` are left for it.
    pub const fn name_columns(&self, columns: usize) -> usize {
        if self.has_full_names { usize::MAX } else { columns }
    }

    /// The painter for this look.
    pub const fn painter(&self) -> Painter {
        Painter::new(self.has_color)
    }

    /// Sets text apart that matters less.
    pub fn dim<T: fmt::Display>(&self, text: T) -> Painted<T> {
        self.painter().dim(text)
    }

    /// Sets text apart that matters more.
    pub fn bold<T: fmt::Display>(&self, text: T) -> Painted<T> {
        self.painter().bold(text)
    }
}

/// A painter, which puts text into a style or leaves it alone. The width of a format string (`{:>12}`) applies to the
/// text, not to the escape sequences around it.
///
/// ```
/// use gristmill_output::Painter;
///
/// assert_eq!(format!("[{:>3}]", Painter::new(false).red("x")), "[  x]");
/// assert!(format!("{:>3}", Painter::new(true).red("x")).contains("  x"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Painter {
    is_on: bool,
}

impl Painter {
    /// A painter that uses colours, or one that does not.
    pub const fn new(is_on: bool) -> Self {
        Self { is_on }
    }

    /// `true` if colours are used.
    pub const fn is_on(self) -> bool {
        self.is_on
    }

    /// Text that matters more.
    pub fn bold<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(Style::new().bold(), text)
    }

    /// Text that matters less.
    pub fn dim<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(Style::new().dimmed(), text)
    }

    /// An error.
    pub fn red<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// A warning.
    pub fn yellow<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    /// A success.
    pub fn green<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// A note.
    pub fn cyan<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    /// Text in the colour of a tone.
    pub fn toned<T: fmt::Display>(self, tone: Tone, text: T) -> Painted<T> {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::More => AnsiColor::Red.on_default(),
            Tone::Less => AnsiColor::Green.on_default(),
        };
        self.paint(style, text)
    }

    fn paint<T: fmt::Display>(self, style: Style, text: T) -> Painted<T> {
        Painted { style: if self.is_on { style } else { Style::new() }, text }
    }
}

/// The direction of a change. Its sign is beside it: colour is never the only difference.
///
/// ```
/// use gristmill_output::{Painter, Tone};
///
/// assert_eq!(Tone::from_change(-12), Tone::Less);
/// assert_eq!(Painter::new(true).toned(Tone::Less, "-12").to_string(), "\x1b[32m-12\x1b[0m");
/// assert_eq!(Painter::new(true).toned(Tone::Plain, "0").to_string(), "0");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// No change.
    #[default]
    Plain,
    /// A higher cost.
    More,
    /// A lower cost.
    Less,
}

impl Tone {
    /// Returns the tone of a change of costs.
    pub fn from_change(change: i128) -> Self {
        match change.signum() {
            1 => Tone::More,
            -1 => Tone::Less,
            _ => Tone::Plain,
        }
    }
}

/// Text in a style. See the example of [`Painter`].
#[derive(Debug, Clone, Copy)]
pub struct Painted<T> {
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
    fn paint_only_when_on() {
        assert_eq!(Painter::new(false).red("x").to_string(), "x");
        let painted = Painter::new(true).bold("x").to_string();
        assert!(painted.starts_with('\x1b') && painted.ends_with('m') && painted.contains('x'));
        assert_eq!(format!("[{:>3}]", Painter::new(false).cyan("x")), "[  x]");
        assert!(format!("{:>3}", Painter::new(true).green("x")).contains("  x"));
    }
}
