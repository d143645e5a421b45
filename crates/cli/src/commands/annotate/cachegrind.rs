//! The layout of cg_annotate: from its options to the report.

use std::io::Write;

use gristmill_compat::cg_annotate::{
    FileCosts, Options, ProfileCosts, Recording, Report, SelfCosts, Summand, columns, summands,
};
use gristmill_compat::{CachegrindErrorKind, Substitution};
use gristmill_output::source::Sources;
use gristmill_output::{Look, printable};
use gristmill_profile::{Loader, MemoryBudget, Part, Profile};
use gristmill_report::DamageRow;
use gristmill_report::has_capital_letter;
use regex::bytes::{Regex, RegexBuilder};

use super::{Job, is_cachegrind, usage};
use crate::args::{AnnotateArgs, AnnotateTree, YesNo};
use crate::error::CliError;
use crate::load;
use crate::profile_files::{modified, warn_of_doubts};
use crate::session::Session;

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    let Job { args, profile, files, .. } = *job;
    refuse_foreign_options(args)?;
    if let Some(source) = files.sources.first() {
        return Err(usage(
            format!("{}: is no profile", crate::terminal::printable_path(source)),
            "this layout annotates the files of all functions shown; --file says which of them",
        ));
    }
    if args.diff && files.profiles.len() != 2 {
        return Err(usage(
            "--diff takes two profiles",
            "the costs of the first are taken from those of the second",
        ));
    }
    let mut options = options(job)?;
    // All wrong files are reported, even if the strict reading is not used.
    let strict = strict_costs(profile, job.session);
    let asks_for_more = !load::selection(&args.selection).is_all() || !args.derive.is_empty();
    if let Some(strict) = &strict
        && !asks_for_more
        && strict.iter().all(|costs| costs.file().events == strict[0].file().events)
    {
        let costs: Vec<&dyn SelfCosts> = strict.iter().map(|costs| costs as &dyn SelfCosts).collect();
        let recorded = costs[0].events();
        if columns(job.show, &recorded).is_ok() {
            options.recordings = strict
                .iter()
                .zip(&files.profiles)
                .map(|(costs, path)| Recording::new(costs.file(), path, modified(path)))
                .collect();
            options.recorded = recorded.len();
            choose_columns(job, &mut options, &recorded)?;
            let summands = summands(&costs, args.diff);
            return print(&options, &summands, job.sources, job.look(), out);
        }
    }
    // Wrong files of Cachegrind were reported above.
    if strict.is_some() || !profile.producers().all(is_cachegrind) {
        warn_of_doubts(job.profile, job.session);
    } else {
        let cut = DamageRow::list(profile)
            .into_iter()
            .filter(|damage| damage.kind == "cut-off" || damage.is_joined());
        cut.for_each(|damage| job.session.warn(&damage.text));
    }
    super::refuse_many_costs(profile)?;
    let mut single = Vec::new();
    if args.diff {
        single.extend(profile.inputs().iter().map(|input| Loader::new().load(vec![input.clone()])));
    }
    let profiles: Vec<&Profile> = if args.diff { single.iter().collect() } else { vec![profile] };
    let (selection, derive) = (load::selection(&args.selection), load::definitions(&args.derive)?);
    let costs = profiles.iter().map(|profile| ProfileCosts::new(profile, &selection, &derive));
    let costs = costs.collect::<Result<Vec<_>, _>>().map_err(|error| super::refused(&error))?;
    let costs: Vec<&dyn SelfCosts> = costs.iter().map(|costs| costs as &dyn SelfCosts).collect();
    let events = costs.first().map(|costs| costs.events()).unwrap_or_default();
    if costs.iter().any(|costs| costs.events() != events) {
        return Err(usage(
            "the two profiles have different event types",
            "gristmill info tells which they have",
        ));
    }
    options.recordings = profiles.iter().flat_map(|profile| recordings_of(profile)).collect();
    for (recording, path) in options.recordings.iter_mut().zip(&files.profiles) {
        recording.written = modified(path);
    }
    options.recorded = profiles.first().map_or(0, |profile| profile.event_count());
    choose_columns(job, &mut options, &events)?;
    print(&options, &summands(&costs, args.diff), job.sources, job.look(), out)
}

/// Writes the report.
fn print(
    options: &Options,
    summands: &[Summand<'_>],
    sources: &dyn Sources,
    look: Look,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let report = Report::new(options, summands).map_err(|error| CliError::Profile {
        message: error.to_string(),
        hint: Some("gristmill info shows their count".to_owned()),
    })?;
    report.print(out, sources, look)?;
    Ok(())
}

/// Reads the inputs as strictly as the tools of Cachegrind, or returns `None` if they would refuse one of them. Files
/// of Cachegrind that they would refuse are reported.
fn strict_costs<'p>(profile: &'p Profile, session: &Session) -> Option<Vec<FileCosts<'p>>> {
    let mut all = Vec::new();
    let mut is_whole = !profile.inputs().is_empty();
    for (input, producer) in profile.inputs().iter().zip(profile.producers()) {
        match FileCosts::read(&input.bytes) {
            Ok(costs) => all.push(costs),
            Err(fault) => {
                is_whole = false;
                if is_cachegrind(producer) {
                    let what = match fault.kind {
                        CachegrindErrorKind::SummaryMismatch | CachegrindErrorKind::NoSummary => {
                            "the sums here are those of its lines"
                        }
                        _ => "cg_annotate would refuse it",
                    };
                    session.warn(&format!("{}:{}: {fault}; {what}", input.name, fault.line));
                }
            }
        }
    }
    is_whole.then_some(all)
}

/// Describes the parts of a profile, those of an input together.
fn recordings_of(profile: &Profile) -> Vec<Recording> {
    let of_input = |(nth, input): (usize, &gristmill_profile::Input)| {
        let part = profile.parts().find(|part| part.input() == nth);
        let description = |(kind, value): (&[u8], &[u8])| {
            let kind = format!("{}:", String::from_utf8_lossy(kind));
            [format!("{kind:<17} ").as_bytes(), value].concat()
        };
        Recording {
            name: input.name.clone(),
            descriptions: part.iter().flat_map(Part::descriptions).map(description).collect(),
            command: part.and_then(|part| part.command()).unwrap_or(b"(unknown)").to_vec(),
            written: None,
        }
    };
    profile.inputs().iter().enumerate().map(of_input).collect()
}

fn options(job: &Job<'_>) -> Result<Options, CliError> {
    let Job { args, .. } = *job;
    let defaults = Options::default();
    let threshold = match &args.threshold {
        None => defaults.threshold,
        Some(text) => {
            let number = text.strip_suffix('%').unwrap_or(text).parse();
            number.ok().filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| {
                usage("--threshold takes a number from 0 to 100", "in this layout 0.1, if nothing is said")
            })?
        }
    };
    let substitution = |option: &str, text: &Option<String>| {
        let parsed = text.as_deref().map(Substitution::parse).transpose();
        parsed.map_err(|error| {
            let text = text.as_deref().unwrap_or_default();
            usage(
                format!(
                    "{option}={}: {}",
                    printable(text.as_bytes()),
                    printable(error.to_string().as_bytes())
                ),
                r"a substitution looks like s/old/new/ or s/(old)/\1er/gi",
            )
        })
    };
    Ok(Options {
        invocation: invocation(),
        threshold,
        show_percs: job.shows_percentages(),
        annotate: job.annotates(),
        context: args.source_context(),
        mod_filename: substitution("--mod-filename", &args.mod_filename)?,
        mod_funcname: substitution("--mod-funcname", &args.mod_funcname)?,
        functions: pattern(&args.filter)?,
        files: pattern(&args.file)?,
        budget: MemoryBudget::new([&**job.profile]),
        ..defaults
    })
}

/// Compiles a pattern for names, which are bytes here.
fn pattern(text: &Option<String>) -> Result<Option<Regex>, CliError> {
    let Some(text) = text else { return Ok(None) };
    // This reports errors in the words of the other reports.
    load::pattern(text)?;
    Ok(RegexBuilder::new(text).case_insensitive(!has_capital_letter(text)).build().ok())
}

/// The command line with all its arguments.
fn invocation() -> Vec<u8> {
    let words = std::env::args_os().skip(1).map(|word| word.into_encoded_bytes());
    let words: Vec<Vec<u8>> = std::iter::once(b"gristmill".to_vec()).chain(words).collect();
    words.join(&b' ')
}

fn choose_columns(job: &Job<'_>, options: &mut Options, known: &[Vec<u8>]) -> Result<(), CliError> {
    let recorded = known.get(..options.recorded).unwrap_or(known);
    let chosen = |names: &[&str]| {
        let known = if names.is_empty() { recorded } else { known };
        columns(names, known).map_err(|name| {
            let message = format!("there is no event type `{}`", printable(name.as_bytes()));
            usage(message, &load::known_events(known.iter().map(Vec::as_slice)))
        })
    };
    let show: Vec<&str> = job.show.iter().map(String::as_str).collect();
    let sort: Vec<&str> = job.args.sort.as_deref().map(|sort| sort.split(',').collect()).unwrap_or_default();
    options.shown = chosen(&show)?;
    options.sort = chosen(&sort)?;
    Ok(())
}

/// Refuses options that only the other layout has.
fn refuse_foreign_options(args: &AnnotateArgs) -> Result<(), CliError> {
    let option = if args.inclusive.is_some_and(YesNo::is_yes) {
        "--inclusive=yes"
    } else if args.tree != AnnotateTree::None {
        "--tree"
    } else if args.jumps {
        "--jumps"
    } else {
        return Ok(());
    };
    Err(usage(format!("the layout of cg_annotate has no {option}"), "--style callgrind has"))
}
