//! Command lines as Python's `argparse` reads them. Long options can be abbreviated if they stay unambiguous, values
//! follow after `=` or as the next word, and errors have the words of `argparse`.

use std::ffi::{OsStr, OsString};

/// An option of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared<T: 'static> {
    /// The option as it is written. A fixed value is part of it, as in `--auto=yes`.
    spelling: &'static str,
    /// The name of the option in messages.
    name: &'static str,
    takes_value: bool,
    meaning: T,
}

impl<T> Declared<T> {
    /// Declares an option without a value.
    pub(super) const fn flag(spelling: &'static str, name: &'static str, meaning: T) -> Self {
        Declared { spelling, name, takes_value: false, meaning }
    }

    /// Declares an option with a value.
    pub(super) const fn valued(name: &'static str, meaning: T) -> Self {
        Declared { spelling: name, name, takes_value: true, meaning }
    }
}

/// The meaning of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning<T> {
    /// `-h` and `--help`.
    Help,
    /// `--version`.
    Version,
    /// An option of the program.
    Own(T),
}

/// The options of all programs.
const fn common<T>() -> [Declared<Meaning<T>>; 3] {
    [
        Declared::flag("-h", "-h/--help", Meaning::Help),
        Declared::flag("--help", "-h/--help", Meaning::Help),
        Declared::flag("--version", "--version", Meaning::Version),
    ]
}

/// A word that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given<T> {
    /// An option, with its value if it takes one.
    Option(T, OsString),
    /// Any other word, such as a file.
    Positional(OsString),
}

/// The words of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words<T> {
    /// The words that were understood, in order.
    pub(super) given: Vec<Given<Meaning<T>>>,
    /// The unknown options.
    pub(super) unrecognized: Vec<OsString>,
}

/// Reads a command line; `own` are the options of the program.
///
/// # Errors
///
/// Returns the message about a wrong word.
pub(super) fn read<T: Copy>(own: &[Declared<T>], words: &[OsString]) -> Result<Words<T>, String> {
    let of_own = |&Declared { spelling, name, takes_value, meaning }: &Declared<T>| Declared {
        spelling,
        name,
        takes_value,
        meaning: Meaning::Own(meaning),
    };
    let options: Vec<Declared<Meaning<T>>> = common().into_iter().chain(own.iter().map(of_own)).collect();
    let mut read = Words { given: Vec::new(), unrecognized: Vec::new() };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            read.given.extend(rest.by_ref().cloned().map(Given::Positional));
            break;
        }
        if !is_option(word) {
            read.given.push(Given::Positional(word.clone()));
            continue;
        }
        let Some((option, attached)) = find(&options, word)? else {
            read.unrecognized.push(word.clone());
            continue;
        };
        let value = match (option.takes_value, attached) {
            (true, Some(value)) => value,
            (true, None) => {
                let next = rest.next().filter(|next| !is_option(next) && *next != "--");
                next.cloned().ok_or_else(|| format!("argument {}: expected one argument", option.name))?
            }
            (false, None) => OsString::new(),
            (false, Some(value)) => {
                let value = value.to_string_lossy();
                return Err(format!(
                    "argument {}: ignored explicit argument {}",
                    option.name,
                    quoted(&value)
                ));
            }
        };
        read.given.push(Given::Option(option.meaning, value));
    }
    Ok(read)
}

/// `true` if a word looks like an option: not a negative number, nor a text with spaces.
fn is_option(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let Some(after) = text.strip_prefix('-') else { return false };
    let is_number = !after.is_empty()
        && after.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && after.bytes().any(|byte| byte.is_ascii_digit());
    !(after.is_empty() || is_number || text.contains(' ') && !text.contains('='))
}

/// An option with the value that is attached to it.
type Found<'o, T> = (&'o Declared<T>, Option<OsString>);

/// Finds the option that a word means, if there is one.
fn find<'o, T>(options: &'o [Declared<T>], word: &OsStr) -> Result<Option<Found<'o, T>>, String> {
    let exactly = |spelling: &OsStr| options.iter().find(|option| spelling == option.spelling);
    if let Some(option) = exactly(word) {
        return Ok(Some((option, None)));
    }
    let (spelling, value) = split_at_equals(word);
    if let Some(option) = exactly(&spelling) {
        return Ok(Some((option, value)));
    }
    if let Some(text) = word.to_str()
        && let Some((short, value)) = text.split_at_checked(2)
        && let Some(option) = exactly(OsStr::new(short)).filter(|option| option.takes_value)
    {
        return Ok(Some((option, Some(value.into()))));
    }
    let start = spelling.to_string_lossy().into_owned();
    let fitting: Vec<&Declared<T>> = options
        .iter()
        .filter(|option| start.starts_with("--") && option.spelling.starts_with(&start))
        .collect();
    match fitting[..] {
        [] => Ok(None),
        [only] => Ok(Some((only, value))),
        _ => {
            let spellings: Vec<&str> = fitting.iter().map(|option| option.spelling).collect();
            let word = word.to_string_lossy();
            Err(format!("ambiguous option: {word} could match {}", spellings.join(", ")))
        }
    }
}

fn split_at_equals(word: &OsStr) -> (OsString, Option<OsString>) {
    match word.to_str().and_then(|text| text.split_once('=')) {
        Some((spelling, value)) => (spelling.into(), Some(value.into())),
        None => split_bytes_at_equals(word),
    }
}

/// Splits a word that is not Unicode.
#[cfg(unix)]
fn split_bytes_at_equals(word: &OsStr) -> (OsString, Option<OsString>) {
    use std::os::unix::ffi::OsStrExt as _;

    let bytes = word.as_bytes();
    match bytes.iter().position(|&byte| byte == b'=') {
        Some(at) => {
            (OsStr::from_bytes(&bytes[..at]).to_owned(), Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
        }
        None => (word.to_owned(), None),
    }
}

#[cfg(not(unix))]
fn split_bytes_at_equals(word: &OsStr) -> (OsString, Option<OsString>) {
    (word.to_owned(), None)
}

/// Quotes a text as Python does.
pub(super) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c == quote => shown.extend(['\\', c]),
            c if c.is_ascii_control() => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => shown.push_str(&c.escape_unicode().to_string()),
            c => shown.push(c),
        }
    }
    shown.push(quote);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[Declared<char>] = &[
        Declared::valued("--show", 's'),
        Declared::flag("--show-percs", "--show-percs", 'p'),
        Declared::flag("--show-percs=no", "--show-percs=no", 'n'),
        Declared::flag("--auto=yes", "--auto=yes", 'y'),
        Declared::flag("--auto=no", "--auto=no", 'n'),
        Declared::valued("--context", 'c'),
        Declared::valued("-o", 'o'),
    ];

    fn shown(line: &str) -> String {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        match read(OPTIONS, &words) {
            Ok(words) => {
                let given = words.given.iter().map(|given| match given {
                    Given::Option(Meaning::Help, _) => "h".to_owned(),
                    Given::Option(Meaning::Version, _) => "v".to_owned(),
                    Given::Option(Meaning::Own(meaning), value) if value.is_empty() => meaning.to_string(),
                    Given::Option(Meaning::Own(meaning), value) => format!("{meaning}:{}", value.display()),
                    Given::Positional(word) => format!("<{}>", word.display()),
                });
                let unrecognized = words.unrecognized.iter().map(|word| format!("?{}", word.display()));
                given.chain(unrecognized).collect::<Vec<_>>().join(" ")
            }
            Err(message) => message,
        }
    }

    /// The results of `argparse` of Python 3.11.
    #[test]
    fn words_are_read_as_argparse_does() {
        for (line, expected) in [
            ("-h", "h"),
            ("--version --v a", "v v <a>"),
            ("a --show Ir,Dr b", "<a> s:Ir,Dr <b>"),
            ("--show=Ir=2", "s:Ir=2"),
            ("--show=", "s"),
            ("--show-percs --show-percs=no", "p n"),
            ("--con 3 --con=4", "c:3 c:4"),
            ("--context -1", "c:-1"),
            ("-o x -oy -o=z", "o:x o:y o:z"),
            ("--he", "h"),
            ("-- --he", "<--he>"),
            ("- -1", "<-> <-1>"),
            ("--foo a", "<a> ?--foo"),
            ("-x", "?-x"),
            ("--show", "argument --show: expected one argument"),
            ("--show --he", "argument --show: expected one argument"),
            ("--help=x", "argument -h/--help: ignored explicit argument 'x'"),
            ("--show-percs=maybe", "argument --show-percs: ignored explicit argument 'maybe'"),
            ("--auto", "ambiguous option: --auto could match --auto=yes, --auto=no"),
            ("--auto=x", "ambiguous option: --auto=x could match --auto=yes, --auto=no"),
            ("--s", "ambiguous option: --s could match --show, --show-percs, --show-percs=no"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn texts_are_quoted_as_python_does() {
        for (text, shown) in
            [("a", "'a'"), ("it's", "\"it's\""), ("'\"", "'\\'\"'"), ("\\\n\x1b", "'\\\\\\n\\x1b'")]
        {
            assert_eq!(quoted(text), shown);
        }
    }
}
