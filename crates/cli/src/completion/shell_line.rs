//! The command line of Bash, taken apart as Bash does, and the form in which it wants its candidates.
//!
//! Bash splits words at `=` and `:` as well, and replaces only what is behind the last of these.

use super::candidate::Candidate;

/// A command line up to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellLine {
    /// The words before the current one, without quotes.
    pub(super) words: Vec<String>,
    /// The word at the cursor, without quotes.
    pub(super) current: String,
    /// The part of it that Bash keeps.
    kept: String,
    /// The quote that is open at the cursor.
    quote: Option<char>,
}

impl ShellLine {
    /// Takes a line apart; `breaks` are the characters of `COMP_WORDBREAKS`.
    pub(super) fn parse(line: &str, breaks: &str) -> ShellLine {
        let mut parsed =
            ShellLine { words: Vec::new(), current: String::new(), kept: String::new(), quote: None };
        let mut is_in_word = false;
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match (parsed.quote, character) {
                (Some(quote), _) if character == quote => parsed.quote = None,
                (Some('"'), '\\') => match characters.next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => parsed.current.push(escaped),
                    other => parsed.current.extend(Some('\\').into_iter().chain(other)),
                },
                (Some(_), _) => parsed.current.push(character),
                (None, '\'' | '"') => {
                    parsed.quote = Some(character);
                    // Bash replaces what is behind an open quote.
                    parsed.kept.clone_from(&parsed.current);
                }
                (None, '\\') => parsed.current.extend(characters.next()),
                (None, ' ' | '\t' | '\n') => {
                    if is_in_word {
                        parsed.words.push(std::mem::take(&mut parsed.current));
                        parsed.kept.clear();
                    }
                    is_in_word = false;
                    continue;
                }
                (None, _) => {
                    parsed.current.push(character);
                    if breaks.contains(character) {
                        parsed.kept.clone_from(&parsed.current);
                    }
                }
            }
            is_in_word = true;
        }
        parsed
    }

    /// Returns a candidate as it replaces the end of the current word. `None` if it does not continue the word.
    pub(super) fn reply(&self, candidate: &Candidate) -> Option<String> {
        let rest = candidate.value.strip_prefix(&self.kept)?;
        let mut reply = String::new();
        for character in rest.chars() {
            match self.quote {
                Some('\'') if character == '\'' => reply.push_str(r"'\''"),
                Some('\'') => reply.push(character),
                Some(_) => {
                    if matches!(character, '"' | '\\' | '$' | '`') {
                        reply.push('\\');
                    }
                    reply.push(character);
                }
                None => {
                    let is_plain = character.is_alphanumeric() || "_-./:,+%=@^".contains(character);
                    // A tilde at the start is the home directory, as it is typed.
                    let is_home = character == '~' && reply.is_empty() && self.kept.is_empty();
                    if !is_plain && !is_home {
                        reply.push('\\');
                    }
                    reply.push(character);
                }
            }
        }
        if !candidate.is_open {
            reply.extend(self.quote);
            reply.push(' ');
        }
        Some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKS: &str = " \t\n\"'><=;|&(:";

    fn parsed(line: &str) -> (Vec<String>, String, String) {
        let ShellLine { words, current, kept, .. } = ShellLine::parse(line, BREAKS);
        (words, current, kept)
    }

    #[test]
    fn lines_are_split_as_the_shell_does() {
        for (line, words, current, kept) in [
            ("gristmill", &[][..], "gristmill", ""),
            ("gristmill ", &["gristmill"], "", ""),
            ("gristmill  show ma", &["gristmill", "show"], "ma", ""),
            ("g --event=I", &["g"], "--event=I", "--event="),
            ("g --from='operator n", &["g"], "--from=operator n", "--from="),
            ("g 'a b' c\\ d", &["g", "a b"], "c d", ""),
            ("g \"a \\\" b\" std::so", &["g", "a \" b"], "std::so", "std::"),
            ("g '' ", &["g", ""], "", ""),
        ] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(parsed(line), (words, current.to_owned(), kept.to_owned()), "{line}");
        }
    }

    #[test]
    fn replies_are_quoted() {
        for (line, value, reply) in [
            ("g op", "operator new(unsigned long)", Some(r"operator\ new\(unsigned\ long\) ")),
            ("g 'op", "operator new('x')", Some(r"operator new('\''x'\'')' ")),
            ("g \"op", "operator \"\"_x", Some(r#"operator \"\"_x" "#)),
            ("g --event=I", "--event=Ir", Some("Ir ")),
            ("g std::so", "std::sort", Some("sort ")),
            ("g std::so", "other", None),
        ] {
            let candidate = Candidate::new(value, "");
            assert_eq!(ShellLine::parse(line, BREAKS).reply(&candidate).as_deref(), reply, "{line}");
        }
        let open = Candidate { is_open: true, ..Candidate::new("~/src/", "") };
        assert_eq!(ShellLine::parse("g ~/s", BREAKS).reply(&open).as_deref(), Some("~/src/"));
    }
}
