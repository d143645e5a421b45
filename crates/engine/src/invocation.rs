//! A program with its words, as the kernel runs it: the program of a script is its interpreter.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Scripts whose interpreter is a script whose interpreter is one: the kernel has this limit.
const MAX_SCRIPTS: usize = 4;

/// The longest first line of a script that the kernel reads.
const MAX_SCRIPT_LINE_BYTES: u64 = 256;

/// A program with its words.
///
/// ```
/// use gristmill_engine::Invocation;
///
/// let invocation = Invocation::find("/bin/sh".as_ref(), vec!["sh".into(), "-c".into(), "true".into()]);
/// assert_eq!((invocation.words.len(), invocation.command.len()), (3, 3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program to load, by its path without links. That of a script is its interpreter.
    pub program: PathBuf,
    /// The words that it gets.
    pub words: Vec<OsString>,
    /// The words of the command, the first as the program was called.
    pub command: Vec<OsString>,
}

impl Invocation {
    /// Finds what to load for a program that was found by the first word of a command.
    pub fn find(program: &Path, words: Vec<OsString>) -> Invocation {
        // The interpreter gets the script as it was given, or as it was found.
        let given = words.first().filter(|word| word.as_bytes().contains(&b'/')).cloned();
        let script = given.unwrap_or_else(|| program.into());
        Invocation::resolve(program, words.clone(), words, script)
    }

    /// Finds what to load for a program that another one runs in its place. Its words can begin with any.
    pub fn executed(path: &Path, words: Vec<OsString>) -> Invocation {
        let command = [path.into()].into_iter().chain(words.iter().skip(1).cloned()).collect();
        Invocation::resolve(path, words, command, path.into())
    }

    fn resolve(
        program: &Path,
        words: Vec<OsString>,
        command: Vec<OsString>,
        mut script: OsString,
    ) -> Invocation {
        let mut found = Invocation { program: without_links(program), words, command };
        for _ in 0..MAX_SCRIPTS {
            let Some((interpreter, argument)) = interpreter(&found.program) else { break };
            let rest = found.words.split_off(found.words.len().min(1));
            found.words = [interpreter.clone()].into_iter().chain(argument).chain([script]).collect();
            found.words.extend(rest);
            found.program = without_links(Path::new(&interpreter));
            script = interpreter;
        }
        found
    }
}

fn without_links(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the interpreter of a script, and its argument.
fn interpreter(path: &Path) -> Option<(OsString, Option<OsString>)> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_SCRIPT_LINE_BYTES).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (name, argument) = line.split_at(end);
    let argument = Some(argument.trim_ascii()).filter(|argument| !argument.is_empty());
    Some((OsString::from_vec(name.to_vec()), argument.map(|argument| OsString::from_vec(argument.to_vec()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn scripts_are_run_by_their_interpreters() {
        let folder = std::env::temp_dir().join(format!("gristmill-invocation-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (inner, outer) = (folder.join("inner"), folder.join("outer"));
        std::fs::write(&inner, "#!/bin/sh -e \n").unwrap();
        std::fs::write(&outer, format!("#! {}\n", inner.display())).unwrap();
        let found = Invocation::executed(&outer, words("any a b"));
        let expected = format!("/bin/sh -e {} {} a b", inner.display(), outer.display());
        assert_eq!(found.words, words(&expected));
        assert_eq!(found.command, words(&format!("{} a b", outer.display())));
        assert_eq!(found.program, std::fs::canonicalize("/bin/sh").unwrap());
        // Programs such as busybox do what the name of the link says.
        let link = folder.join("link");
        std::os::unix::fs::symlink(&inner, &link).unwrap();
        let found = Invocation::find(&link, words("link a"));
        assert_eq!(found.words, words(&format!("/bin/sh -e {} a", link.display())));
        assert_eq!(found.command, words("link a"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
