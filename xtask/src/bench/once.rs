//! One run of one contender in its own process, so that its memory can be measured.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use gristmill_profile::analysis::{Cycles, Inclusive};
use gristmill_profile::{Input, Loader, Profile, Selection};

use super::others;
use super::process::{self, Run};
use crate::failure::{Context as _, Failure};

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[arg(value_enum)]
    work: Work,
    path: PathBuf,
}

/// The work on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Work {
    /// Visits each line end.
    Scan,
    /// Loads a profile with one thread.
    LoadAlone,
    /// Loads a profile with all cores.
    Load,
    /// Loads a profile with all cores and calculates the inclusive costs of all functions.
    Inclusive,
    /// Loads a profile with the other crate.
    Peer,
}

impl Work {
    pub(super) fn name(self) -> &'static str {
        match self {
            Work::Scan => others::SCAN,
            Work::LoadAlone => "gristmill, one thread",
            Work::Load => "gristmill",
            Work::Inclusive => "gristmill with inclusive costs",
            Work::Peer => others::PEER,
        }
    }

    /// Runs the work in another process.
    pub(super) fn measure(self, path: &Path) -> Result<Run, Failure> {
        let mut command = Command::new(std::env::current_exe().context(|| "cannot find xtask".to_owned())?);
        let work = clap::ValueEnum::to_possible_value(&self);
        command.args(["bench", "load-once", work.as_ref().map_or("", |work| work.get_name())]).arg(path);
        let (printed, mut run) = process::measure(command)?;
        // The child's own times exclude its start and end.
        let mut times = printed.split_whitespace().filter_map(|nanos| nanos.parse().ok());
        let (Some(reading), Some(whole)) = (times.next(), times.next()) else {
            return Err(Failure::new(format!("{}: no times", self.name())));
        };
        run.whole = Duration::from_nanos(whole);
        run.reading = Some(Duration::from_nanos(reading)).filter(|reading| !reading.is_zero());
        Ok(run)
    }
}

/// Prints the nanoseconds for reading the file, 0 if unknown, and for everything.
pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let path = &options.path;
    let start = Instant::now();
    if options.work == Work::Peer {
        return done(start, Duration::ZERO, others::peer(path)?);
    }
    let input = Input::open(path).context(|| format!("cannot read {}", path.display()))?;
    let reading = start.elapsed();
    match options.work {
        Work::Scan => done(start, reading, others::scan(&input.bytes)),
        Work::LoadAlone => done(start, reading, load(Loader::new().threads(1), input)),
        Work::Load => done(start, reading, load(Loader::new(), input)),
        Work::Inclusive | Work::Peer => {
            let profile = load(Loader::new(), input);
            let graph = profile.call_graph(&Selection::default());
            let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
            done(start, reading, (profile, graph, inclusive))
        }
    }
}

fn load(loader: Loader<'_>, input: Input) -> Profile {
    loader.load(vec![input])
}

/// Dropping the result is not measured.
fn done<T>(start: Instant, reading: Duration, made: T) -> Result<(), Failure> {
    let made = black_box(made);
    let whole = start.elapsed();
    println!("{} {}", reading.as_nanos(), whole.as_nanos());
    drop(made);
    Ok(())
}
