//! The library of the page without a server: it runs in Node.js here, whose engine is that of Chromium.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::view::Answering;
use crate::failure::{Context as _, Failure};
use crate::workspace;

/// The library with a profile, in a process that ends when it is dropped.
pub(super) struct Library {
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Library {
    /// Starts the library that is committed, and returns it with the time that it took to load a profile.
    pub(super) fn start(profile: &Path) -> Result<(Library, Duration), Failure> {
        let ui = workspace::root().join("ui");
        let profile = profile.canonicalize().context(|| format!("cannot find {}", profile.display()))?;
        let mut command = Command::new("node");
        command.current_dir(ui).args(["dev/library.mjs", "dist/library.wasm.gz"]).arg(profile);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let shown = workspace::shown(&command);
        let mut child = command.spawn().context(|| format!("cannot run {shown}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| Failure::new(format!("{shown} has no pipes")))?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).context(|| format!("cannot read what {shown} prints"))?;
        let loading = line.trim().parse().map(Duration::from_millis);
        let loading = loading.map_err(|_| Failure::new(format!("{shown} loaded nothing")))?;
        Ok((Library { child, pipes: RefCell::new((input, output)) }, loading))
    }
}

impl Answering for Library {
    fn ask(&self, question: &Value) -> Result<(Duration, Value), Failure> {
        let doing = || format!("asking the library {question}");
        let (input, output) = &mut *self.pipes.borrow_mut();
        let start = Instant::now();
        let asked = json!({ "question": question });
        writeln!(input, "{asked}").and_then(|()| input.flush()).context(doing)?;
        let mut line = String::new();
        output.read_line(&mut line).context(doing)?;
        let time = start.elapsed();
        let answer: Value = serde_json::from_str(&line).context(doing)?;
        match answer.get("error") {
            Some(error) => Err(Failure::new(format!("{}: {error}", doing()))),
            None => Ok((time, answer)),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
