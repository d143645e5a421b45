//! Called as cg_merge.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use gristmill_compat::argparse::{Declared, Given};
use gristmill_compat::{
    CachegrindFault, CachegrindFaultKind, CachegrindFile, CachegrindRecord, CachegrindWriter,
};
use gristmill_format::Cost;
use gristmill_profile::{LineSums, SummedLines};

use super::cachegrind_tool::{Failure, Tool, check_size, different_events, missing, unrecognized};
use crate::output::Target;
use crate::session::Session;

const TOOL: Tool = Tool {
    name: "cg_merge",
    usage: "\
usage: cg_merge [-h] [--version] [-o FILE]
                cachegrind-out-file [cachegrind-out-file ...]
",
    help: "\
Adds files of Cachegrind up, line by line, and writes the sum as such a file.

  cachegrind-out-file     written by Cachegrind of any version
  -h, --help              show this
  --version               show the version
  -o FILE                 write this file, not standard output
",
};

#[derive(Clone, Copy)]
struct Output;

const OPTIONS: &[Declared<Output>] = &[Declared::valued("-o", Output)];

pub(super) fn run(words: &[OsString]) -> ExitCode {
    TOOL.run(words, merge)
}

fn merge(words: &[OsString], session: &Session) -> Result<(), Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut target = Target::Stdout;
    let rest = TOOL.read_words(OPTIONS, words, session, |word| {
        match word {
            Given::Positional(file) => files.push(file.into()),
            Given::Option(Output, path) => target = Target::File(path.into()),
        }
        Ok(())
    })?;
    let Some(rest) = rest else { return Ok(()) };
    if files.is_empty() {
        return Err(missing(&["cachegrind-out-file"]));
    }
    unrecognized(rest.iter().map(|word| word.display()))?;
    let merged = read(&files, session)?;
    let (head, lines) = (merged.head, merged.lines.finish());
    check_size(lines.len(), head.events.len())?;
    // As the original does, and so do scripts that call it expect, a file that is there is replaced.
    session.write_to(&target, true, |out| Ok(head.write(&lines, out)?))?;
    Ok(())
}

/// The sum of files, under the head of the first.
struct Merged {
    head: Head,
    lines: LineSums,
}

struct Head {
    descriptions: Vec<Vec<u8>>,
    command: Vec<u8>,
    events: Vec<Vec<u8>>,
    /// Of all files.
    total: Vec<Cost>,
}

/// Reads one file after the other, so that there is never more than one of them beside the sum.
fn read(files: &[PathBuf], session: &Session) -> Result<Merged, Failure> {
    let mut merged: Option<Merged> = None;
    for path in files {
        let input = TOOL.read(path, session)?;
        let refused = |fault| Failure::of(path, &fault);
        let file = CachegrindFile::read(&input.bytes).map_err(refused)?;
        let merged = merged.get_or_insert_with(|| Merged::under(&file));
        if file.events != merged.head.events {
            return Err(different_events());
        }
        merged.add(&file).map_err(refused)?;
    }
    merged.ok_or_else(|| missing(&["cachegrind-out-file"]))
}

impl Merged {
    /// Nothing yet, under the head of a file.
    fn under(file: &CachegrindFile<'_>) -> Self {
        let owned = |texts: &[&[u8]]| texts.iter().map(|text| text.to_vec()).collect();
        Merged {
            head: Head {
                descriptions: owned(&file.descriptions),
                command: file.command.to_vec(),
                events: owned(&file.events),
                total: vec![0; file.events.len()],
            },
            lines: LineSums::new(file.events.len()),
        }
    }

    /// The sum that the file claims is not looked at, only the one that it has.
    fn add(&mut self, file: &CachegrindFile<'_>) -> Result<(), CachegrindFault> {
        let result = file.each(|record| match record {
            CachegrindRecord::Names { file, function } => self.lines.begin(file, function),
            CachegrindRecord::Line { line, costs } => {
                self.lines.add(line, costs);
                self.head.total.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
            }
        });
        match result {
            Err(fault) if fault.kind != CachegrindFaultKind::SummaryMismatch => Err(fault),
            _ => Ok(()),
        }
    }
}

impl Head {
    fn write(&self, lines: &SummedLines, out: &mut dyn Write) -> std::io::Result<()> {
        let descriptions: Vec<&[u8]> = self.descriptions.iter().map(Vec::as_slice).collect();
        let events: Vec<&[u8]> = self.events.iter().map(Vec::as_slice).collect();
        let mut writer = CachegrindWriter::new(out, &descriptions, &self.command, &events)?;
        let (mut last_file, mut last_function) = (None, None);
        let mut result = Ok(());
        lines.each(|sum| {
            let mut write = || {
                if last_file.as_deref() != Some(sum.file) {
                    writer.file(sum.file)?;
                    last_file = Some(sum.file.to_vec());
                    last_function = None;
                }
                if last_function.as_deref() != Some(sum.function) {
                    writer.function(sum.function)?;
                    last_function = Some(sum.function.to_vec());
                }
                writer.costs(sum.line, sum.costs)
            };
            if result.is_ok() {
                result = write();
            }
        });
        result?;
        writer.finish(&self.total)?;
        Ok(())
    }
}
