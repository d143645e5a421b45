//! Called as cg_diff.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gristmill_compat::argparse::{Declared, Given};
use gristmill_compat::{CachegrindFile, CachegrindRecord, CachegrindWriter, Substitution};
use gristmill_profile::LineSums;

use super::cachegrind_tool::{
    Failure, Tool, check_size, different_events, missing, substitution, unrecognized,
};
use crate::input::Input;
use crate::session::Session;

const TOOL: Tool = Tool {
    name: "cg_diff",
    usage: "\
usage: cg_diff [-h] [--version] [--mod-filename REGEX] [--mod-funcname REGEX]
               cachegrind-out-file1 cachegrind-out-file2
",
    help: "\
Writes how the second of two files of Cachegrind differs from the first, by function,
as such a file. cg_annotate --diff shows it, by line as well.

  cachegrind-out-file1    written by Cachegrind
  cachegrind-out-file2    the same
  -h, --help              show this
  --version               show the version
  --mod-filename REGEX    change file names, as with s/old/new/
  --mod-funcname REGEX    change function names, as with s/old/new/
",
};

#[derive(Clone, Copy)]
enum Meaning {
    ModFilename,
    ModFuncname,
}

const OPTIONS: &[Declared<Meaning>] = &[
    Declared::valued("--mod-filename", Meaning::ModFilename),
    Declared::valued("--mod-funcname", Meaning::ModFuncname),
];

pub(super) fn run(words: &[OsString]) -> ExitCode {
    TOOL.run(words, diff)
}

fn diff(words: &[OsString], session: &Session) -> Result<(), Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut renaming = Renaming::default();
    let rest = TOOL.read_words(OPTIONS, words, session, |word| {
        match word {
            Given::Positional(file) => files.push(file.into()),
            Given::Option(Meaning::ModFilename, value) => {
                renaming.file = Some(substitution("--mod-filename", &value)?);
            }
            Given::Option(Meaning::ModFuncname, value) => {
                renaming.function = Some(substitution("--mod-funcname", &value)?);
            }
        }
        Ok(())
    })?;
    let Some(rest) = rest else { return Ok(()) };
    let [first, second] = match &files[..] {
        [] => return Err(missing(&["cachegrind-out-file1", "cachegrind-out-file2"])),
        [_] => return Err(missing(&["cachegrind-out-file2"])),
        [first, second, more @ ..] => {
            let more = more.iter().map(|file| file.as_os_str());
            unrecognized(rest.iter().map(OsString::as_os_str).chain(more).map(|word| word.display()))?;
            [first, second]
        }
    };
    let first = (first, TOOL.read(first, session)?);
    let second = (second, TOOL.read(second, session)?);
    difference(&first, &second, &renaming, session)
}

/// How names are changed before they are compared.
#[derive(Default)]
struct Renaming {
    file: Option<Substitution>,
    function: Option<Substitution>,
}

fn renamed<'n>(substitution: Option<&Substitution>, name: &'n [u8]) -> Cow<'n, [u8]> {
    substitution.map_or(Cow::Borrowed(name), |substitution| substitution.apply(name))
}

fn difference(
    (first, first_input): &(&PathBuf, Input),
    (second, second_input): &(&PathBuf, Input),
    renaming: &Renaming,
    session: &Session,
) -> Result<(), Failure> {
    let first_file = CachegrindFile::read(&first_input.bytes).map_err(|fault| Failure::of(first, &fault))?;
    let second_file =
        CachegrindFile::read(&second_input.bytes).map_err(|fault| Failure::of(second, &fault))?;
    let events = &first_file.events;
    if *events != second_file.events {
        return Err(different_events());
    }
    let mut sums = LineSums::new(events.len());
    let mut total = vec![0; events.len()];
    let mut row = Vec::new();
    for (path, file, sign) in [(first, &first_file, -1), (second, &second_file, 1)] {
        file.each(|record| match record {
            CachegrindRecord::Names { file, function } => {
                let function = renamed(renaming.function.as_ref(), function);
                sums.begin(&renamed(renaming.file.as_ref(), file), &function);
            }
            // Lines move from one version of a source file to the next, so the functions are compared.
            CachegrindRecord::Line { costs, .. } => {
                row.clear();
                row.extend(costs.iter().map(|cost| sign * cost));
                total.iter_mut().zip(&row).for_each(|(sum, cost)| *sum += cost);
                sums.add(0, &row);
            }
        })
        .map_err(|fault| Failure::of(path, &fault))?;
    }
    let sums = sums.finish_by_name();
    check_size(sums.len(), events.len())?;
    let name = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    let description = [b"Files compared:   ", &name(first)[..], b"; ", &name(second)].concat();
    let command = [first_file.command, b"; ", second_file.command].concat();
    let mut out = session.stdout();
    let mut writer = CachegrindWriter::new(&mut *out, &[&description], &command, events)?;
    let mut result = Ok(());
    sums.each(|sum| {
        if result.is_ok() {
            result = writer
                .file(sum.file)
                .and_then(|()| writer.function(sum.function))
                .and_then(|()| writer.costs(sum.line, sum.costs));
        }
    });
    result?;
    writer.finish(&total)?;
    Ok(())
}
