//! Commands that services execute when they find them in the log of a build, wherever the log comes from.
//!
//! | service | form | where in a line |
//! |---|---|---|
//! | GitHub | `::error file=a::message` | at the start, after blanks |
//! | GitHub, Azure | `##[error]message` | anywhere |
//! | Azure | `##vso[task.complete result=Succeeded;]` | anywhere |
//! | TeamCity | `##teamcity[buildStatus status='SUCCESS']` | at the start, after blanks |
//!
//! A name of a function or a line of source text that looks like one could fail a build, or hide that it failed.

use std::borrow::Cow;

/// The commands of GitHub. Other names can begin with `::`, as those of Tcl do.
const GITHUB: &[&str] = &[
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// Replaces the first character of each command by an escape: `\x23#[error]`.
pub(crate) fn without_commands(text: Cow<'_, str>) -> Cow<'_, str> {
    // Nearly every text has no command, and is not copied.
    let Some(first) = find(text.as_bytes(), 0) else { return text };
    let mut shown = String::with_capacity(text.len() + 16);
    let (mut done, mut next) = (0, Some(first));
    while let Some(at) = next {
        shown.push_str(&text[done..at]);
        shown.push_str(if text.as_bytes()[at] == b':' { "\\x3a" } else { "\\x23" });
        done = at + 1;
        next = find(text.as_bytes(), done);
    }
    shown.push_str(&text[done..]);
    Cow::Owned(shown)
}

/// Returns `true` if a text has commands.
#[inline]
pub(crate) fn has_command(text: &[u8]) -> bool {
    find(text, 0).is_some()
}

/// Returns the offset of the first command from an offset on.
#[inline]
fn find(text: &[u8], from: usize) -> Option<usize> {
    if from == 0 && matches!(text.first(), Some(b':' | b' ' | b'\t')) && is_of_github(text.trim_ascii_start())
    {
        return text.iter().position(|&byte| byte == b':');
    }
    let signs = memchr::memchr_iter(b'#', &text[from..]).map(|at| from + at);
    signs.into_iter().find(|&at| begins_log_command(&text[at..]))
}

/// Returns `true` for text that begins with what a service would take for a command anywhere in the log of a build.
///
/// ```
/// assert!(gristmill_output::begins_log_command(b"##[error]x"));
/// assert!(!gristmill_output::begins_log_command(b"#[error]x"));
/// ```
pub fn begins_log_command(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"##") else { return false };
    matches!(rest, [b'[', b'a'..=b'z', ..]) || rest.starts_with(b"vso[") || rest.starts_with(b"teamcity[")
}

/// Returns `true` for the start of a command of GitHub.
#[cold]
fn is_of_github(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"::") else { return false };
    let end = rest.iter().position(|byte| !matches!(byte, b'a'..=b'z' | b'-')).unwrap_or(rest.len());
    GITHUB.iter().any(|command| command.as_bytes() == &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_lose_their_first_character() {
        for (text, shown) in [
            ("##[error]x", "\\x23#[error]x"),
            ("a ##[add-mask]##[group]", "a \\x23#[add-mask]\\x23#[group]"),
            ("x###vso[task.complete]", "x#\\x23#vso[task.complete]"),
            ("##teamcity[a]", "\\x23#teamcity[a]"),
            ("::error file=a::b", "\\x3a:error file=a::b"),
            ("  ::stop-commands::x", "  \\x3a:stop-commands::x"),
            ("::warning::##[error]", "\\x3a:warning::\\x23#[error]"),
        ] {
            assert_eq!(without_commands(Cow::Borrowed(text)), shown);
            assert!(!has_command(shown.as_bytes()), "{shown}");
        }
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "",
            "main",
            "{closure#0}",
            "{{impl}}#2",
            "##",
            "##[",
            "a ## b",
            "##[]",
            "::tcl::clock::scan",
            "::main()",
            "::errors::new",
            "std::error::Error",
            "a ::error::",
            "#[inline]",
            "#define A(a, b) a##b",
            ":",
            "##[0]",
        ] {
            assert!(
                matches!(without_commands(Cow::Borrowed(text)), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }
}
