//! Words of a command that a person copies into a shell.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Quotes a word for a shell, where it needs that. Characters that a terminal must not get are escaped.
///
/// ```
/// use gristmill_output::shell_word;
///
/// assert_eq!(shell_word(b"callgrind.out.1"), "callgrind.out.1");
/// assert_eq!(shell_word(b"sort<int>(int*)"), "'sort<int>(int*)'");
/// assert_eq!(shell_word(b"fib'2"), r"'fib'\''2'");
/// assert_eq!(shell_word(b"a\x1b[2J"), r"$'a\033[2J'");
/// ```
pub fn shell_word(word: &[u8]) -> String {
    // A `=` at the start of a word is one of Zsh's.
    let plain: &[u8] = if word.starts_with(b"=") { b"_-./:,+%" } else { b"_-./:,+%=" };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || plain.contains(byte);
    match crate::printable(word) {
        Cow::Borrowed(text) if !word.is_empty() && word.iter().all(is_plain) => text.to_owned(),
        Cow::Borrowed(text) => format!("'{}'", text.replace('\'', r"'\''")),
        // The form of Bash, Zsh and POSIX 2024.
        Cow::Owned(_) => escaped(word),
    }
}

fn escaped(word: &[u8]) -> String {
    let mut quoted = "$'".to_owned();
    for &byte in word {
        match byte {
            b'\\' | b'\'' => quoted.extend(['\\', char::from(byte)]),
            // `#` and `:` begin commands in the log of a build.
            b' '..=b'~' if !b"#:".contains(&byte) => quoted.push(char::from(byte)),
            // Three digits, so that no digit that follows belongs to them. Writing to a String does not fail.
            _ => {
                let _ = write!(quoted, "\\{byte:03o}");
            }
        }
    }
    quoted.push('\'');
    quoted
}
