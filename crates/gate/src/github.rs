//! The report as workflow commands, which GitHub shows beside the source line most responsible.

use std::io::{self, Write};
use std::path::Path;

use gristmill_output::github::{data, property};
use gristmill_output::printable;

use crate::report::{Annotation, GateReport};
use crate::verdict::Outcome;

impl GateReport {
    /// Writes the report as workflow commands of GitHub. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_github(&self, out: &mut dyn Write) -> io::Result<()> {
        self.annotations.iter().try_for_each(|annotation| write_annotation(annotation, out))?;
        // The end of a log.
        writeln!(out, "{}", self.summary())
    }
}

fn write_annotation(annotation: &Annotation, out: &mut dyn Write) -> io::Result<()> {
    let (command, outcome) = match annotation.outcome {
        Outcome::Within => return Ok(()),
        Outcome::Over => ("error", "is over budget"),
        Outcome::Advice => ("warning", "is worth a look"),
        Outcome::Unknown => ("error", "is not determined"),
    };
    let title = format!("{} {outcome}", annotation.benchmark);
    writeln!(
        out,
        "::{command} file={},line={},title={}::{}",
        property(&printable(shown_path(&annotation.path).as_bytes())),
        annotation.line.max(1),
        property(&printable(title.as_bytes())),
        data(&printable(annotation.message.as_bytes()))
    )
}

/// Returns a path without a leading `./`: GitHub matches paths of the repository.
fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.strip_prefix("./").unwrap_or(&text).to_owned()
}
