//! `gristmill merge`: sums many profiles.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gristmill_format::ErrorKind;
use gristmill_profile::Profile;
use gristmill_profile::merge::{Combine, Concatenation, MergeFormat, Merger};
use gristmill_profile::threads::cores;
use gristmill_report::{DamageRow, doubts};

use crate::args::MergeArgs;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::input;
use crate::load::complete::{self, Damaged};
use crate::load::refusal::without_base_files;
use crate::load::together::check_paths;
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size::Size;
use crate::terminal::{grouped, printable};

/// The limit of values in a warning.
const MAX_VALUES: usize = 3;

/// The limit of event types in a warning: all of Callgrind fit.
const MAX_EVENTS: usize = 26;

/// The limit of halvings that find a factor with which numbers fit: sums of a million files do.
const MAX_HALVINGS: u32 = 20;

pub(crate) fn run(args: &MergeArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let target = output::target(args.output.as_deref(), &args.files, args.force)?;
    let files = without_base_files(&args.files);
    check_paths(&files, session);
    if args.keep_parts {
        return keep_parts(args, &files, &target, session);
    }
    let merger = merged(args, &files, session)?;
    if merger.runs() == 0 {
        return Err(CliError::Usage {
            message: "nothing to merge: no file has costs".to_owned(),
            hint: None,
        });
    }
    warn(args, &merger, session);
    let combine = match (args.mean, args.median) {
        (true, _) => Combine::Mean,
        (_, true) => Combine::Median,
        _ => Combine::Sum,
    };
    let how = MergeFormat { combine, scale: args.scale };
    session.write_profile_to(&target, args.force, |out| {
        merger.write(&how, out).map(drop).map_err(|error| writing_failed(&error, || smaller(&merger, how)))
    })?;
    Ok(ExitStatus::Success)
}

/// Warns of what makes the sum doubtful.
fn warn(args: &MergeArgs, merger: &Merger, session: &Session) {
    for (kind, values) in merger.differences() {
        let shown = |value: &String| match value.as_str() {
            "" => "(none)".to_owned(),
            value => printable(value.as_bytes()).into_owned(),
        };
        let values: Vec<String> = values.iter().map(shown).collect();
        let first = values.iter().take(MAX_VALUES).map(String::as_str).collect::<Vec<_>>().join(" | ");
        let more = if values.len() > MAX_VALUES { " | …" } else { "" };
        let kind = if kind.is_empty() { "description" } else { &kind };
        let kind = printable(kind.as_bytes());
        session.warn(&format!("the profiles differ in {kind}: {first}{more}"));
    }
    let runs = merger.runs();
    let mut incomplete: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (event, with) in merger.incomplete_events() {
        incomplete.entry(with).or_default().push(printable(event.as_bytes()).into_owned());
    }
    for (with, events) in incomplete {
        let (with, runs) = (grouped(with), grouped(runs));
        let more = events.len().saturating_sub(MAX_EVENTS);
        let mut events = events.into_iter().take(MAX_EVENTS).collect::<Vec<_>>().join(", ");
        if more > 0 {
            events.push_str(&format!(" and {more} more"));
        }
        session.warn(&format!("only {with} of {runs} runs have {events}; the sums are over those"));
    }
    if let Some(with) = merger.runs_with_calls() {
        let (with, runs) = (grouped(with), grouped(runs));
        session
            .warn(&format!("only {with} of {runs} runs have calls; counts and inclusive costs are of those"));
    }
    if args.median {
        session.tell("the total is the sum of the medians of lines, not the median of the totals");
        // Their size in bytes depends on which thread read which file.
        let lines = match merger.line_count() {
            1 => "1 line".to_owned(),
            count => format!("{} lines", grouped(count as i128)),
        };
        session.tell(&format!("kept {lines} of all files for the median"));
        let files = args.files.len() as u64;
        if runs > files {
            session.warn("a merged file counts as one run of the median, although it was made of several");
        }
    }
}

/// The files, and the state that all threads share.
struct Work<'a> {
    args: &'a MergeArgs,
    files: &'a [PathBuf],
    max_size: Size,
    next: AtomicUsize,
    /// The count of threads that load a file.
    threads: usize,
    notes: Mutex<Vec<(usize, Note)>>,
    progress: Mutex<Progress>,
}

/// An event about a file.
enum Note {
    Warning(String),
    Failure(CliError),
}

/// Reads the files on all cores, one per thread, and keeps their sums only.
fn merged(args: &MergeArgs, files: &[PathBuf], session: &Session) -> Result<Merger, CliError> {
    let cores = cores();
    let workers = cores.min(files.len()).max(1);
    let total = files.iter().filter_map(|path| input::stored_size(path)).sum();
    let first = files.first().map_or(Path::new("-"), PathBuf::as_path);
    let work = Work {
        args,
        files,
        max_size: session.max_size,
        next: AtomicUsize::new(0),
        threads: cores / workers,
        notes: Mutex::default(),
        progress: Mutex::new(session.progress("merging", first, Some(total))),
    };
    let mergers: Vec<Merger> = thread::scope(|scope| {
        // Where no more threads can be started, fewer do the work: this one at least.
        let start = |_| thread::Builder::new().spawn_scoped(scope, || work.run()).ok();
        let threads: Vec<_> = (1..workers).map_while(start).collect();
        let own = work.run();
        let joined = threads.into_iter().map(|thread| thread.join());
        let joined = joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(joined).collect()
    });
    let Work { notes, progress, .. } = work;
    drop(progress);
    let mut notes = notes.into_inner().unwrap_or_default();
    notes.sort_by_key(|(place, _)| *place);
    for (_, note) in notes {
        match note {
            Note::Warning(message) => session.warn(&message),
            // Files are read in order, so the first failure is always the same.
            Note::Failure(error) => return Err(error),
        }
    }
    let mut mergers = mergers.into_iter();
    let mut merger = mergers.next().unwrap_or_default();
    for other in mergers {
        merger.merge(other).map_err(|error| usage(error.to_string()))?;
    }
    Ok(merger)
}

impl Work<'_> {
    fn run(&self) -> Merger {
        let merger = if self.args.median { Merger::keeping_runs() } else { Merger::new() };
        let mut merger = merger.threads(self.threads);
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = self.files.get(place) else { return merger };
            if let Err(error) = self.add(place, path, &mut merger) {
                self.note(place, Note::Failure(error));
                // No thread needs to read another one.
                self.next.store(self.files.len(), Ordering::Relaxed);
            }
        }
    }

    fn add(&self, place: usize, path: &Path, merger: &mut Merger) -> Result<(), CliError> {
        let profile = match complete::load(
            path,
            self.max_size,
            self.threads,
            Damaged::from_option(self.args.allow_damaged),
        ) {
            Ok(profile) => profile,
            Err(error) if self.args.skip_broken => {
                self.note(place, Note::Warning(format!("left out: {error}")));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let bytes = profile.inputs().iter().map(|input| input.bytes.len() as u64).sum();
        for warning in oddities(&profile) {
            self.note(place, Note::Warning(warning));
        }
        merger.add(&profile).map_err(|error| usage(error.to_string()))?;
        if let Ok(mut progress) = self.progress.lock() {
            progress.advance(bytes);
        }
        Ok(())
    }

    fn note(&self, place: usize, note: Note) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.push((place, note));
        }
    }
}

/// Returns warnings about a file that can still be merged.
fn oddities(profile: &Profile) -> Vec<String> {
    let name = profile.inputs().first().map_or("", |input| input.name.as_str());
    let mut oddities: Vec<String> = DamageRow::list(profile).into_iter().map(|damage| damage.text).collect();
    oddities.extend(doubts(profile).map(|doubts| format!("{name}: {doubts}")));
    oddities
}

fn keep_parts(
    args: &MergeArgs,
    files: &[PathBuf],
    target: &output::Target,
    session: &Session,
) -> Result<ExitStatus, CliError> {
    let mut notes = Vec::new();
    session.write_profile_to(target, args.force, |out| {
        let mut parts = Concatenation::new(out);
        for path in files {
            let profile =
                match complete::load(path, session.max_size, 1, Damaged::from_option(args.allow_damaged)) {
                    Ok(profile) => profile,
                    Err(error) if args.skip_broken => {
                        notes.push(format!("left out: {error}"));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
            notes.extend(oddities(&profile));
            let Some(input) = profile.inputs().first() else { continue };
            let left_out =
                parts.add(&input.name, &input.bytes).map_err(|error| writing_failed(&error, || None))?;
            if left_out.lines > 0 {
                let message = format!("{}:{}: cannot be carried over", input.name, left_out.first);
                if !args.allow_damaged {
                    return Err(complete::incomplete(message));
                }
                notes.push(message);
            }
        }
        parts.finish().map(drop).map_err(|error| writing_failed(&error, || None))
    })?;
    notes.iter().for_each(|note| session.warn(note));
    Ok(ExitStatus::Success)
}

/// Makes the error of a failed writer. `smaller` returns options that make too large numbers fit.
fn writing_failed(error: &gristmill_format::Error, smaller: impl FnOnce() -> Option<String>) -> CliError {
    CliError::from_sink(error).unwrap_or_else(|| CliError::Profile {
        message: format!("the result cannot be written: {}", error.kind()),
        hint: matches!(error.kind(), ErrorKind::CostTooLarge)
            .then(smaller)
            .flatten()
            .map(|options| format!("{options} makes its numbers small enough")),
    })
}

/// Returns options with which the result can be written, as trying them shows.
fn smaller(merger: &Merger, how: MergeFormat) -> Option<String> {
    let fits = |how: &MergeFormat| merger.write(how, io::sink()).is_ok();
    let mean = MergeFormat { combine: Combine::Mean, ..how };
    if how.combine == Combine::Sum && merger.runs() > 1 && fits(&mean) {
        return Some("--mean".to_owned());
    }
    let factors = (1..=MAX_HALVINGS).map(|halvings| format!("1/{}", 1_u64 << halvings));
    factors
        .filter_map(|factor| Some((factor.parse().ok()?, factor)))
        .find(|&(scale, _)| fits(&MergeFormat { scale: Some(scale), ..how }))
        .map(|(_, factor)| format!("--scale {factor}"))
}

fn usage(message: String) -> CliError {
    CliError::Usage { message, hint: None }
}
