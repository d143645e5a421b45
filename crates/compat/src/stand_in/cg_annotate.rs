//! The stand-in for cg_annotate.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use super::argparse::{Declared, Given, quoted};
use super::cg_tool::{self, Failure, Tool, different_events, missing, substitution, unrecognized};
use super::{Host, Outcome};
use crate::cg_annotate::{self as layout, FileCosts, Options, Recording, Report, SelfCosts, summands};

const TOOL: Tool = Tool {
    name: "cg_annotate",
    usage: "\
usage: cg_annotate [-h] [--version] [--diff] [--mod-filename REGEX]
                   [--mod-funcname REGEX] [--show A,B,C] [--sort A,B,C]
                   [--threshold N:[0,20]] [--show-percs | --no-show-percs]
                   [--show-percs=yes] [--show-percs=no]
                   [--annotate | --no-annotate] [--auto=yes] [--auto=no]
                   [--context N]
                   cachegrind-out-file [cachegrind-out-file ...]
",
    help: "\
Shows the cost of files, functions and source lines as Cachegrind measured it. Several
files are added up. Defaults are in [ ].

  cachegrind-out-file     written by Cachegrind
  -h, --help              show this help
  --version               show the version
  --diff                  show how the second of two files differs from the first
  --mod-filename REGEX    change file names, as with s/old/new/
  --mod-funcname REGEX    change function names, as with s/old/new/
  --show A,B,C            event types to show, in this order [all]
  --sort A,B,C            event types to sort by [as recorded]
  --threshold N:[0,20]    show functions with at least this percentage of the
                          first event type that is sorted by [0.1]
  --show-percs, --no-show-percs
                          show percentages beside costs [on]
  --annotate, --no-annotate
                          annotate the files of all listed functions [on]
  --context N             lines to show around those with costs [8]
",
};

#[derive(Clone, Copy)]
enum Meaning {
    Diff,
    ModFilename,
    ModFuncname,
    Show,
    Sort,
    Threshold,
    ShowPercs(bool),
    Annotate(bool),
    Context,
}

const OPTIONS: &[Declared<Meaning>] = &[
    Declared::flag("--diff", "--diff", Meaning::Diff),
    Declared::valued("--mod-filename", Meaning::ModFilename),
    Declared::valued("--mod-funcname", Meaning::ModFuncname),
    Declared::valued("--show", Meaning::Show),
    Declared::valued("--sort", Meaning::Sort),
    Declared::valued("--threshold", Meaning::Threshold),
    Declared::flag("--show-percs", "--show-percs/--no-show-percs", Meaning::ShowPercs(true)),
    Declared::flag("--no-show-percs", "--show-percs/--no-show-percs", Meaning::ShowPercs(false)),
    Declared::flag("--show-percs=yes", "--show-percs=yes", Meaning::ShowPercs(true)),
    Declared::flag("--show-percs=no", "--show-percs=no", Meaning::ShowPercs(false)),
    Declared::flag("--annotate", "--annotate/--no-annotate", Meaning::Annotate(true)),
    Declared::flag("--no-annotate", "--annotate/--no-annotate", Meaning::Annotate(false)),
    Declared::flag("--auto=yes", "--auto=yes", Meaning::Annotate(true)),
    Declared::flag("--auto=no", "--auto=no", Meaning::Annotate(false)),
    Declared::valued("--context", Meaning::Context),
];

/// A parsed command line.
#[derive(Debug, Default)]
struct Request {
    files: Vec<PathBuf>,
    diff: bool,
    show: Option<String>,
    sort: Option<String>,
    options: Options,
}

pub(super) fn run(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Outcome {
    TOOL.run(out, |out| {
        let Some(mut request) = parse(words.get(1..).unwrap_or_default(), out)? else { return Ok(()) };
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_encoded_bytes()).collect();
        request.options.invocation = words.join(&b' ');
        report(request, host, out)
    })
}

/// Parses a command line. Returns `None` if help or the version was asked for.
fn parse(words: &[OsString], out: &mut dyn Write) -> Result<Option<Box<Request>>, Failure> {
    let mut request = Request::default();
    let rest = TOOL.read_words(OPTIONS, words, out, |word| {
        let (option, value) = match word {
            Given::Positional(file) => {
                request.files.push(file.into());
                return Ok(());
            }
            Given::Option(option, value) => (option, value),
        };
        let text = value.to_string_lossy();
        match option {
            Meaning::Diff => request.diff = true,
            Meaning::ModFilename => {
                request.options.mod_filename = Some(substitution("--mod-filename", &value)?);
            }
            Meaning::ModFuncname => {
                request.options.mod_funcname = Some(substitution("--mod-funcname", &value)?);
            }
            Meaning::Show => request.show = Some(text.into_owned()),
            Meaning::Sort => request.sort = Some(text.into_owned()),
            Meaning::Threshold => request.options.threshold = threshold(&text)?,
            Meaning::ShowPercs(show) => request.options.show_percs = show,
            Meaning::Annotate(annotate) => request.options.annotate = annotate,
            Meaning::Context => request.options.context = context(&text)?,
        }
        Ok(())
    })?;
    let Some(rest) = rest else { return Ok(None) };
    if request.files.is_empty() {
        return Err(missing(&["cachegrind-out-file"]));
    }
    unrecognized(rest.iter().map(|word| word.display()))?;
    Ok(Some(Box::new(request)))
}

fn threshold(text: &str) -> Result<f64, Failure> {
    let number = text.trim().parse().ok().filter(|number| (0.0..=20.0).contains(number));
    number.ok_or_else(|| {
        Failure::Usage(format!("argument --threshold: invalid threshold value: {}", quoted(text)))
    })
}

/// Parses a number of lines. A negative number means none.
fn context(text: &str) -> Result<u64, Failure> {
    let number: Result<i64, _> = text.trim().parse();
    match number {
        Ok(number) => Ok(number.max(0).unsigned_abs()),
        Err(_) => Err(Failure::Usage(format!("argument --context: invalid int value: {}", quoted(text)))),
    }
}

fn report(request: Box<Request>, host: &dyn Host, out: &mut dyn Write) -> Result<(), Failure> {
    let Request { files, diff, show, sort, mut options } = *request;
    if diff && files.len() != 2 {
        let message = "argument --diff: requires exactly two Cachegrind output files";
        return Err(Failure::WrongFiles(message.to_owned()));
    }
    let inputs: Vec<_> = files.iter().map(|file| cg_tool::read(file, host)).collect::<Result<_, _>>()?;
    let costs: Vec<FileCosts<'_>> = inputs
        .iter()
        .zip(&files)
        .map(|(input, file)| FileCosts::read(input).map_err(|error| Failure::refused(file, &error)))
        .collect::<Result<_, _>>()?;
    let events = costs.first().map(|costs| costs.events()).unwrap_or_default();
    if costs.iter().any(|costs| costs.events() != events) {
        return Err(different_events());
    }
    let columns = |option: &str, names: &Option<String>| {
        let names: Vec<&str> = names.as_deref().map(|names| names.split(',').collect()).unwrap_or_default();
        layout::columns(&names, &events).map_err(|name| {
            Failure::Data(format!("{option} event `{name}` did not appear in `events:` line"))
        })
    };
    options.recorded = events.len();
    options.shown = columns("--show", &show)?;
    options.sort = columns("--sort", &sort)?;
    let recordings = costs.iter().zip(&files);
    options.recordings =
        recordings.map(|(costs, path)| Recording::new(costs.file(), path, host.modified(path))).collect();
    let costs: Vec<&dyn SelfCosts> = costs.iter().map(|costs| costs as &dyn SelfCosts).collect();
    let summands = summands(&costs, diff);
    let report = Report::new(&options, &summands).map_err(|error| Failure::Data(error.to_string()))?;
    let sources = host.sources(&[], None);
    Ok(report.print(out, &*sources, host.look())?)
}
