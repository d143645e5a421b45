//! The stand-in for cg_merge.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use gristmill_format::Cost;
use gristmill_profile::{LineSums, SummedLines};

use super::argparse::{Declared, Given};
use super::cg_tool::{self, Failure, Tool, check_size, different_events, missing, unrecognized};
use super::{Host, Outcome};
use crate::known_names::KnownNames;
use crate::{CachegrindError, CachegrindErrorKind, CachegrindFile, CachegrindRecord, CachegrindWriter};

const TOOL: Tool = Tool {
    name: "cg_merge",
    usage: "\
usage: cg_merge [-h] [--version] [-o FILE]
                cachegrind-out-file [cachegrind-out-file ...]
",
    help: "\
Adds up files of Cachegrind, line by line, and writes the sum as a file of Cachegrind.

  cachegrind-out-file     written by Cachegrind of any version
  -h, --help              show this help
  --version               show the version
  -o FILE                 write this file instead of standard output
",
};

#[derive(Clone, Copy)]
struct Output;

const OPTIONS: &[Declared<Output>] = &[Declared::valued("-o", Output)];

pub(super) fn run(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Outcome {
    TOOL.run(out, |out| merge(words, host, out))
}

fn merge(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Result<(), Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut target: Option<PathBuf> = None;
    let rest = TOOL.read_words(OPTIONS, words, out, |word| {
        match word {
            Given::Positional(file) => files.push(file.into()),
            Given::Option(Output, path) => target = Some(path.into()),
        }
        Ok(())
    })?;
    let Some(rest) = rest else { return Ok(()) };
    if files.is_empty() {
        return Err(missing(&["cachegrind-out-file"]));
    }
    unrecognized(rest.iter().map(|word| word.display()))?;
    let merged = read(&files, host)?;
    let (head, lines) = (merged.head, merged.lines.finish());
    check_size(lines.len(), head.events.len())?;
    match target {
        // The original replaces an existing file, and scripts rely on that.
        Some(path) => host.write_file(&path, &mut |file| head.write(&lines, file)).map_err(Failure::Data),
        None => Ok(head.write(&lines, out)?),
    }
}

/// The sum of files with the header of the first.
struct Merged {
    head: Head,
    lines: LineSums,
}

struct Head {
    descriptions: Vec<Vec<u8>>,
    command: Vec<u8>,
    events: Vec<Vec<u8>>,
    /// The sum of the costs of all files.
    total: Vec<Cost>,
}

/// Reads one file after the other, so that memory holds one of them at a time.
fn read(files: &[PathBuf], host: &dyn Host) -> Result<Merged, Failure> {
    let mut merged: Option<Merged> = None;
    for path in files {
        let input = cg_tool::read(path, host)?;
        let refused = |error| Failure::refused(path, &error);
        let file = CachegrindFile::read(&input).map_err(refused)?;
        let merged = merged.get_or_insert_with(|| Merged::new(&file));
        if file.events != merged.head.events {
            return Err(different_events());
        }
        merged.add(&file).map_err(refused)?;
    }
    merged.ok_or_else(|| missing(&["cachegrind-out-file"]))
}

impl Merged {
    /// An empty sum with the header of a file.
    fn new(file: &CachegrindFile<'_>) -> Self {
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

    /// Adds a file. A wrong `summary:` is ignored: the sum is computed again.
    fn add(&mut self, file: &CachegrindFile<'_>) -> Result<(), CachegrindError> {
        let (mut files, mut functions) = (KnownNames::default(), KnownNames::default());
        let result = file.each(|record| match record {
            CachegrindRecord::Names { file, function } => {
                let file = files.get(file, || self.lines.file(file));
                let function = functions.get(function, || self.lines.function(function));
                self.lines.begin_at(file, function);
            }
            CachegrindRecord::Line { line, costs } => {
                self.lines.add(line, costs);
                self.head.total.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
            }
        });
        match result {
            Err(error) if error.kind != CachegrindErrorKind::SummaryMismatch => Err(error),
            _ => Ok(()),
        }
    }
}

impl Head {
    fn write(&self, lines: &SummedLines, out: &mut dyn Write) -> io::Result<()> {
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
