//! The stand-in for cg_diff.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use gristmill_profile::{InputBytes, LineSums};

use super::argparse::{Declared, Given};
use super::cg_tool::{
    self, Failure, Tool, check_size, different_events, missing, substitution, unrecognized,
};
use super::{Host, Outcome};
use crate::known_names::KnownNames;
use crate::{CachegrindFile, CachegrindRecord, CachegrindWriter, Substitution};

const TOOL: Tool = Tool {
    name: "cg_diff",
    usage: "\
usage: cg_diff [-h] [--version] [--mod-filename REGEX] [--mod-funcname REGEX]
               cachegrind-out-file1 cachegrind-out-file2
",
    help: "\
Writes the difference of two files of Cachegrind, by function, as a file of Cachegrind.
cg_annotate --diff shows the difference by line, too.

  cachegrind-out-file1    written by Cachegrind
  cachegrind-out-file2    written by Cachegrind
  -h, --help              show this help
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

pub(super) fn run(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Outcome {
    TOOL.run(out, |out| diff(words, host, out))
}

fn diff(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Result<(), Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut renaming = Renaming::default();
    let rest = TOOL.read_words(OPTIONS, words, out, |word| {
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
    let first = (first, cg_tool::read(first, host)?);
    let second = (second, cg_tool::read(second, host)?);
    difference(&first, &second, &renaming, out)
}

/// The substitutions in names before they are compared.
#[derive(Default)]
struct Renaming {
    file: Option<Substitution>,
    function: Option<Substitution>,
}

fn renamed<'n>(substitution: Option<&Substitution>, name: &'n [u8]) -> Cow<'n, [u8]> {
    substitution.map_or(Cow::Borrowed(name), |substitution| substitution.apply(name))
}

fn difference(
    (first, first_input): &(&PathBuf, InputBytes),
    (second, second_input): &(&PathBuf, InputBytes),
    renaming: &Renaming,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let first_file = CachegrindFile::read(first_input).map_err(|error| Failure::refused(first, &error))?;
    let second_file = CachegrindFile::read(second_input).map_err(|error| Failure::refused(second, &error))?;
    let events = &first_file.events;
    if *events != second_file.events {
        return Err(different_events());
    }
    let mut sums = LineSums::new(events.len());
    let mut total = vec![0; events.len()];
    let mut row = Vec::new();
    for (path, file, sign) in [(first, &first_file, -1), (second, &second_file, 1)] {
        let (mut files, mut functions) = (KnownNames::default(), KnownNames::default());
        file.each(|record| match record {
            CachegrindRecord::Names { file, function } => {
                let file = files.get(file, || sums.file(&renamed(renaming.file.as_ref(), file)));
                let function =
                    functions.get(function, || sums.function(&renamed(renaming.function.as_ref(), function)));
                sums.begin_at(file, function);
            }
            // Lines move from one version of a source file to the next, so the functions are compared.
            CachegrindRecord::Line { costs, .. } => {
                row.clear();
                row.extend(costs.iter().map(|cost| sign * cost));
                total.iter_mut().zip(&row).for_each(|(sum, cost)| *sum += cost);
                sums.add(0, &row);
            }
        })
        .map_err(|error| Failure::refused(path, &error))?;
    }
    let sums = sums.finish_by_name();
    check_size(sums.len(), events.len())?;
    let name = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    let description = [b"Files compared:   ", &name(first)[..], b"; ", &name(second)].concat();
    let command = [first_file.command, b"; ", second_file.command].concat();
    let mut writer = CachegrindWriter::new(out, &[&description], &command, events)?;
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
