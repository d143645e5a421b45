//! The pager: on a terminal, an answer that is longer than the screen goes through a program such as less, as with git.
//!
//! The first lines are kept until there are more than the screen has, so a short answer starts no other program.

use std::cell::Cell;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use crate::terminal;

/// The pager if the environment names none.
const DEFAULT: &str = "less";

/// Environment variables that name the pager, the first that is set counts.
const VARIABLES: [&str; 2] = ["GRISTMILL_PAGER", "PAGER"];

/// Bytes that are kept while the answer may be short. A screen has fewer.
const MAX_KEPT: usize = 1 << 20;

/// Bytes that are copied for the terminal, in case that the shell cannot run the pager. A pipe takes 64 KiB of what nobody reads.
const MAX_COPIED: usize = 2 * MAX_KEPT;

/// The exit codes of a shell that cannot run a program, or does not find it.
const NOT_RUN: [i32; 2] = [126, 127];

/// Returns the command of the pager, `None` if the user or the terminal wants none.
pub(crate) fn command() -> Option<OsString> {
    if !cfg!(unix) || env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return None;
    }
    let named = VARIABLES.into_iter().find_map(env::var_os);
    let command = named.unwrap_or_else(|| DEFAULT.into());
    let is_none = command.is_empty() || command == "cat";
    (!is_none && is_installed(&command)).then_some(command)
}

/// `true` if the program that a command begins with exists. Without it the shell would drop the answer.
fn is_installed(command: &OsStr) -> bool {
    let command = command.to_string_lossy();
    let Some(program) = command.split_ascii_whitespace().next() else { return false };
    // Quotes and variables are for the shell.
    let is_plain = program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte));
    if !is_plain || program.contains('/') {
        return !is_plain || Path::new(program).is_file();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Standard output through a pager, if there is enough to page.
pub(crate) struct PagedOutput {
    state: State,
    command: OsString,
    terminal: Box<dyn Write>,
    is_paged: Rc<Cell<bool>>,
}

enum State {
    /// The answer may be short.
    Kept { bytes: Vec<u8>, lines: usize },
    /// The pager runs, and was given these bytes. `None` if they are too many to be copied.
    Paged { pager: Child, copied: Option<Vec<u8>> },
    /// Everything goes to the terminal.
    Direct,
}

impl PagedOutput {
    /// Pages what is written to the terminal. `is_paged` becomes true when the pager starts.
    pub(crate) fn new(command: OsString, terminal: Box<dyn Write>, is_paged: Rc<Cell<bool>>) -> Self {
        PagedOutput { state: State::Kept { bytes: Vec::new(), lines: 0 }, command, terminal, is_paged }
    }

    /// Starts the pager and gives it the bytes. If it cannot be started, they go to the terminal.
    fn start(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command).stdin(Stdio::piped());
        // As git has it: quit if everything fits the screen, pass colours on, and leave the text on the screen.
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let Ok(pager) = command.spawn() else {
            self.state = State::Direct;
            return self.terminal.write_all(bytes);
        };
        // At Ctrl-C the pager stays, and so must the program that it reads from.
        crate::interrupt::leave_ctrl_c_to_child();
        self.is_paged.set(true);
        self.state = State::Paged { pager, copied: Some(Vec::new()) };
        self.write_all(bytes)
    }

    /// Waits for the end of the pager. If the shell could not run it, the bytes go to the terminal, and the result is `true`.
    fn finish(&mut self) -> io::Result<bool> {
        let State::Paged { pager, copied } = &mut self.state else { return Ok(false) };
        drop(pager.stdin.take());
        let code = pager.wait().ok().and_then(|status| status.code());
        let is_run = code.is_none_or(|code| !NOT_RUN.contains(&code));
        let Some(copied) = copied.take().filter(|_| !is_run) else { return Ok(false) };
        self.state = State::Direct;
        self.is_paged.set(false);
        self.terminal.write_all(&copied)?;
        self.terminal.flush()?;
        Ok(true)
    }
}

impl Write for PagedOutput {
    fn write(&mut self, new: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Direct => self.terminal.write(new),
            State::Paged { pager, copied } => {
                let written = match &mut pager.stdin {
                    Some(pipe) => pipe.write(new),
                    None => Err(io::ErrorKind::BrokenPipe.into()),
                };
                match &written {
                    Ok(count) if copied.as_ref().is_some_and(|copied| copied.len() + count > MAX_COPIED) => {
                        *copied = None;
                    }
                    Ok(count) => {
                        if let Some(copied) = copied {
                            copied.extend_from_slice(&new[..*count]);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe && self.finish()? => {
                        return self.terminal.write(new);
                    }
                    Err(_) => {}
                }
                written
            }
            State::Kept { bytes, lines } => {
                bytes.extend_from_slice(new);
                *lines += new.iter().filter(|&&byte| byte == b'\n').count();
                if *lines >= terminal::height() || bytes.len() > MAX_KEPT {
                    let bytes = std::mem::take(bytes);
                    self.start(&bytes)?;
                }
                Ok(new.len())
            }
        }
    }

    /// The kept lines go to the terminal: a message comes next, or the answer is at its end.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Kept { bytes, .. } if bytes.is_empty() => Ok(()),
            State::Kept { bytes, .. } => {
                let bytes = std::mem::take(bytes);
                self.state = State::Direct;
                self.terminal.write_all(&bytes)?;
                self.terminal.flush()
            }
            State::Paged { pager, .. } => pager.stdin.as_mut().map_or(Ok(()), Write::flush),
            State::Direct => self.terminal.flush(),
        }
    }
}

impl Drop for PagedOutput {
    /// Waits until the user leaves the pager: the shell would take the terminal from it.
    fn drop(&mut self) {
        // A failure of the flush was reported by the one before.
        let _ = self.flush();
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_has_to_exist() {
        for (command, exists) in [
            ("sh", true),
            ("sh -c 'cat'", true),
            ("/bin/sh", true),
            ("no-such-pager -R", false),
            ("/no/such/pager", false),
            ("\"$HOME/bin/my pager\"", true),
        ] {
            assert_eq!(is_installed(OsStr::new(command)), exists, "{command}");
        }
    }
}
