//! `gristmill gate`: holds benchmarks to budgets, and names the functions that are responsible.

mod baseline_lock;
mod inputs;
mod parallel;
mod process;
mod processes;
mod recording;
mod sources;
mod symbols;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gristmill_gate::{
    Baseline, Benchmark, BenchmarkBaseline, BenchmarkVerdict, Config, Failure, FileError, GateReport,
    Measurement, Noise, Outcome, ProfileSource, difference, first_config, percent_change, refusals,
};
use gristmill_output::{grouped, printable, printable_path};
use gristmill_profile::Profile;
use gristmill_report::diff::sentence;

use self::baseline_lock::BaselineLock;
use self::inputs::Inputs;
use self::parallel::in_order;
use self::recording::{Measured, Recorder};
use self::sources::Generation;
use crate::args::{
    GateArgs, GateBlessArgs, GateCommand, GateConfigArgs, GateFormat, GateInitArgs, GateNoiseArgs,
    GateRunArgs, is_dash,
};
use crate::canonical::canonical;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::input::Waiting;
use crate::load::complete::{self, Damaged};
use crate::output::{self, Target};
use crate::profile_files::warn_of_damage;
use crate::session::Session;

/// Characters of a function's name in a reason.
const NAME_WIDTH: usize = 60;

/// The limit of a configuration or a baseline: some hundred thousand functions.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Lines of a failed command that an error shows.
const MAX_OUTPUT_LINES: usize = 20;

pub(crate) fn run(args: &GateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    match &args.command {
        GateCommand::Run(args) => judge(args, session),
        GateCommand::Bless(args) => bless(args, session),
        GateCommand::Noise(args) => noise(args, session),
        GateCommand::Init(args) => init(args, session),
    }
}

/// The configuration, with a benchmark for each folder of gungraun.
struct Gate {
    config: Config,
    /// Verdicts on tables of the configuration that have no benchmark.
    failed: Vec<(Benchmark, Failure)>,
}

impl Gate {
    fn read(args: &GateConfigArgs) -> Result<Gate, CliError> {
        let mut config = read_config(&args.config)?;
        match &args.baseline {
            // The user may name a pipe; a configuration must not.
            Some(baseline) => config.baseline.clone_from(baseline),
            None => check_baseline(&config.baseline, &config)?,
        }
        Ok(Gate { config, failed: Vec::new() })
    }

    /// Replaces each folder of gungraun by its benchmarks, after its setup, which may write them.
    fn expand(&mut self, names: &[String], generation: Generation<'_>, session: &Session) {
        let tables = std::mem::take(&mut self.config.benchmarks);
        let mut benchmarks = Vec::new();
        for table in tables {
            let ProfileSource::Gungraun(folder) = &table.source else {
                benchmarks.push(table);
                continue;
            };
            match self.expanded(&table, folder, names, generation, session) {
                Ok(expanded) => benchmarks.extend(expanded),
                Err(failure) => self.failed.push((table, failure)),
            }
        }
        self.config.benchmarks = benchmarks;
    }

    fn expanded(
        &self,
        table: &Benchmark,
        folder: &str,
        names: &[String],
        generation: Generation<'_>,
        session: &Session,
    ) -> Result<Vec<Benchmark>, Failure> {
        let config = &self.config;
        let is_selected = names.is_empty() || names.iter().any(|name| is_of_table(name, table));
        if table.setup.is_empty() || !is_selected || generation != Generation::Newest {
            return sources::gungraun(table, folder, generation, config);
        }
        let files = |benchmarks: &[Benchmark]| -> Vec<PathBuf> {
            let files = benchmarks.iter().map(|benchmark| match &benchmark.source {
                ProfileSource::Files(files) => files.iter().map(PathBuf::from).collect(),
                _ => Vec::new(),
            });
            files.collect::<Vec<_>>().concat()
        };
        // Before the setup there may be none.
        let before = sources::gungraun(table, folder, generation, config).unwrap_or_default();
        let before = sources::Before::new(&files(&before));
        Recorder::new(config, session.max_size).set_up(table)?;
        let benchmarks = sources::gungraun(table, folder, generation, config)?;
        before.check_written(&files(&benchmarks), config)?;
        Ok(benchmarks)
    }

    /// Returns the failures of tables that are selected.
    fn failed(&self, names: &[String]) -> impl Iterator<Item = &(Benchmark, Failure)> {
        let is_selected =
            |table: &Benchmark| names.is_empty() || names.iter().any(|name| is_of_table(name, table));
        self.failed.iter().filter(move |(table, _)| is_selected(table))
    }

    /// Returns the benchmarks with these names. The benchmarks of a table that failed are not known.
    fn selected(&self, names: &[String]) -> Result<Vec<&Benchmark>, CliError> {
        let is_lost = |name: &String| self.failed.iter().any(|(table, _)| is_of_table(name, table));
        let known: Vec<String> = names.iter().filter(|name| !is_lost(name)).cloned().collect();
        if known.is_empty() && !names.is_empty() {
            return Ok(Vec::new());
        }
        self.config.select(&known).map_err(|error| CliError::Usage {
            message: error.to_string(),
            hint: Some(format!("use one of {}", printable(error.known.join(", ").as_bytes()))),
        })
    }
}

/// `true` if a name is that of a table of the configuration, or of a benchmark in its folder.
fn is_of_table(name: &str, table: &Benchmark) -> bool {
    name.strip_prefix(&table.entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn judge(args: &GateRunArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut gate = Gate::read(&args.config)?;
    gate.expand(&args.benchmarks, Generation::Newest, session);
    let config = &gate.config;
    let baseline = read_baseline(&config.baseline, config)?;
    let recorder =
        Recorder::new(config, session.max_size).damaged(Damaged::from_option(args.damage.allow_damaged));
    let benchmarks = gate.selected(&args.benchmarks)?;
    let reports =
        args.output.iter().chain(args.also.iter().map(|(_, path)| path)).filter(|path| !is_dash(path));
    Inputs::new(config).refuse(reports.cloned().chain(kept_paths(args.keep.as_deref(), &benchmarks)))?;
    let mut verdicts: Vec<BenchmarkVerdict> = gate
        .failed(&args.benchmarks)
        .map(|(table, failure)| BenchmarkVerdict::failed(table, failure.clone()))
        .collect();
    let mut measured: Vec<(&Benchmark, Measurement)> = Vec::new();
    in_order(
        &benchmarks,
        args.jobs.jobs(),
        |benchmark| recorder.measure(benchmark),
        |benchmark, result| {
            verdicts.push(match result {
                Ok(result) => {
                    let verdict = judge_profile(benchmark, &result, config, &baseline, args, session)?;
                    measured.push((benchmark, result.measurement));
                    verdict
                }
                Err(failure) => BenchmarkVerdict::failed(benchmark, failure),
            });
            Ok::<(), CliError>(())
        },
    )?;
    recorder.warnings().iter().for_each(|warning| session.warn(warning));
    let measured: Vec<(&Benchmark, &Measurement)> =
        measured.iter().map(|(benchmark, measurement)| (*benchmark, measurement)).collect();
    let mut refusals = refusals(config, &baseline, &measured);
    // The benchmarks of a folder that cannot be read are not gone.
    let is_lost = |message: &str| {
        gate.failed.iter().any(|(table, _)| message.starts_with(&format!("benchmark `{}/", table.entry)))
    };
    refusals.retain(|refusal| !is_lost(&refusal.message));
    let report = GateReport::new(config, verdicts, refusals, args.limit, Path::is_file);
    write_report(&report, args.format, args.output.as_deref(), session)?;
    for (format, path) in &args.also {
        write_report(&report, *format, Some(path), session)?;
    }
    Ok(match report.outcome {
        Outcome::Within | Outcome::Advice => ExitStatus::Success,
        Outcome::Over => ExitStatus::Findings,
        Outcome::Unknown => ExitStatus::Failure,
    })
}

fn judge_profile(
    benchmark: &Benchmark,
    measured: &Measured,
    config: &Config,
    baseline: &Baseline,
    args: &GateRunArgs,
    session: &Session,
) -> Result<BenchmarkVerdict, CliError> {
    let profile = &measured.profile;
    let accepted = baseline.benchmarks.get(&benchmark.name);
    let mut verdict = BenchmarkVerdict::new(benchmark, &measured.measurement, accepted, args.allow_unlike);
    verdict.notes.extend(measured.notes.iter().cloned());
    if let Some(directory) = &args.against {
        let path = directory.join(profile_name(&benchmark.name));
        let root = config.root.clone().into_os_string().into_encoded_bytes();
        let damaged = Damaged::from_option(args.damage.allow_damaged);
        let base = sources::check_kind(&path, config).map_err(|failure| failure.message).and_then(|()| {
            complete::load(&path, session.max_size, 1, damaged).map_err(|error| error.to_string())
        });
        base.iter().for_each(|base| warn_of_damage(base, session));
        let explained = base.and_then(|base| {
            let added = verdict.add_reasons(&base, profile, &root, |comparison, cause, column| {
                sentence(comparison, cause, column, NAME_WIDTH)
            });
            added.map_err(|error| error.to_string())
        });
        verdict.notes.extend(explained.err().map(|error| format!("no reasons: {error}")));
    }
    // After the profile of the base was read: both may be in one folder.
    if let Some(directory) = &args.keep {
        keep(profile, directory, &benchmark.name, session)?;
    }
    Ok(verdict)
}

/// Reads the configuration. Its paths become absolute, so that messages can show them relative to the root of the repository.
fn read_config(path: &Path) -> Result<Config, CliError> {
    let waiting = Waiting::begin(path);
    let text = read_text(path).map_err(|error| CliError::Usage {
        message: match error.kind() {
            io::ErrorKind::NotFound => format!("{}: no such file", printable_path(path)),
            _ => format!("{}: {}", printable_path(path), crate::input::reason(&error)),
        },
        hint: Some("write a first one with `gristmill gate init`".to_owned()),
    })?;
    drop(waiting);
    let whole = canonical(path);
    let root = repository_root(&whole);
    let parsed = Config::parse(&whole, &text);
    let mut config = parsed.map_err(|error| {
        let shown = whole.strip_prefix(&root).unwrap_or(&whole).to_owned();
        let message = FileError { path: shown, ..error }.to_string();
        // It may quote the file.
        CliError::Usage { message: printable(message.as_bytes()).into_owned(), hint: None }
    })?;
    config.root = root;
    Ok(config)
}

/// Reads a text file. A pipe or a device may have no end.
fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(io::Error::other(format!("is larger than {} MiB", MAX_TEXT_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("is not text in UTF-8"))
}

/// Returns the root of the repository that a file is in, or else its folder.
fn repository_root(file: &Path) -> PathBuf {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let folder = file.parent().unwrap_or(Path::new("/"));
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}

/// Refuses a baseline that is a pipe or a device, unopened.
fn check_baseline(path: &Path, config: &Config) -> Result<(), CliError> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Err(baseline_error(FileError {
            path: config.shown_path(path),
            line: 0,
            message: sources::NOT_A_FILE.to_owned(),
        })),
        _ => Ok(()),
    }
}

/// Reads the baseline; a missing file is an empty one.
fn read_baseline(path: &Path, config: &Config) -> Result<Baseline, CliError> {
    let error = |error: FileError| baseline_error(FileError { path: config.shown_path(path), ..error });
    let waiting = Waiting::begin(path);
    let read = read_text(path);
    drop(waiting);
    match read {
        Ok(text) => Baseline::parse(path, &text).map_err(error),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        Err(unread) => {
            let message = crate::input::reason(&unread);
            Err(error(FileError { path: path.to_owned(), line: 0, message }))
        }
    }
}

/// Writes the whole baseline, or leaves the file as it was.
fn write_baseline(baseline: &Baseline, path: &Path, session: &Session) -> Result<(), CliError> {
    let Some(text) = baseline.to_toml() else {
        let path = printable_path(path);
        let message = format!("{path} is not written: it cannot have a cost above 2^63-1 or below -2^63");
        return Err(CliError::Usage { message, hint: None });
    };
    session.write_to(&Target::File(path.to_owned()), true, |out| Ok(out.write_all(text.as_bytes())?))
}

fn baseline_error(error: FileError) -> CliError {
    CliError::Usage {
        message: printable(error.to_string().as_bytes()).into_owned(),
        hint: Some("move the file away and write a new one with `gristmill gate bless`".to_owned()),
    }
}

/// Returns the file name of the profile of a benchmark.
fn profile_name(benchmark: &str) -> PathBuf {
    PathBuf::from(format!("{benchmark}.callgrind"))
}

/// Returns the paths of the profiles that are kept.
fn kept_paths(directory: Option<&Path>, benchmarks: &[&Benchmark]) -> Vec<PathBuf> {
    let Some(directory) = directory else { return Vec::new() };
    benchmarks.iter().map(|benchmark| directory.join(profile_name(&benchmark.name))).collect()
}

fn keep(profile: &Profile, directory: &Path, name: &str, session: &Session) -> Result<(), CliError> {
    let path = directory.join(profile_name(name));
    // The name of a benchmark in a folder has folders.
    let folder = path.parent().unwrap_or(directory);
    std::fs::create_dir_all(folder).map_err(|error| CliError::Usage {
        message: format!("{}: {}", printable_path(folder), crate::input::reason(&error)),
        hint: None,
    })?;
    session.write_to(&Target::File(path), true, |out| Ok(out.write_all(&profile.save())?))
}

/// Writes a report; one of an earlier run is overwritten.
fn write_report(
    report: &GateReport,
    format: GateFormat,
    output: Option<&Path>,
    session: &Session,
) -> Result<(), CliError> {
    let target = match output {
        Some(path) if !is_dash(path) => Target::File(path.to_owned()),
        _ => Target::Stdout,
    };
    let look = if target == Target::Stdout { session.look() } else { session.look_of_files() };
    session.write_to(&target, true, |out| {
        match format {
            GateFormat::Text => report.write_text(&look, out),
            GateFormat::Markdown => report.write_markdown(out),
            GateFormat::Json => report.write_json(out),
            GateFormat::Junit => report.write_junit(out),
            GateFormat::Sarif => report.write_sarif(out),
            GateFormat::Github => report.write_github(out),
        }?;
        Ok(())
    })
}

/// Accepts the present costs. Nothing is written before all benchmarks are measured.
fn bless(args: &GateBlessArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let measure = |recorder: &Recorder<'_>, benchmark: &Benchmark| Ok((recorder.measure(benchmark)?, None));
    let generation = args.generation.as_deref().map_or(Generation::Newest, Generation::Older);
    let damaged = Damaged::from_option(args.damage.allow_damaged);
    let choice = Choice { names: &args.benchmarks, generation, job_count: args.jobs.jobs(), damaged };
    accept(&args.config, &choice, args.keep.as_deref(), measure, session)
}

/// Measures each benchmark several times, and accepts the median and the variation.
fn noise(args: &GateNoiseArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let measure = |recorder: &Recorder<'_>, benchmark: &Benchmark| {
        let (median, runs) = recorder.runs(benchmark, args.runs)?;
        let noise = runs.first().map(|first| Noise::new(&runs, &first.events));
        Ok((median, noise))
    };
    let names = &args.benchmarks;
    let damaged = Damaged::from_option(args.damage.allow_damaged);
    let choice = Choice { names, generation: Generation::Newest, job_count: args.jobs.jobs(), damaged };
    accept(&args.config, &choice, None, measure, session)
}

/// The benchmarks to accept.
struct Choice<'a> {
    names: &'a [String],
    generation: Generation<'a>,
    job_count: usize,
    damaged: Damaged,
}

/// Measures benchmarks and writes their costs into the baseline, with the noise if `measure` returns it.
fn accept(
    config: &GateConfigArgs,
    &Choice { names, generation, job_count, damaged }: &Choice<'_>,
    kept: Option<&Path>,
    measure: impl Fn(&Recorder<'_>, &Benchmark) -> Result<(Measured, Option<Noise>), Failure> + Sync,
    session: &Session,
) -> Result<ExitStatus, CliError> {
    let mut gate = Gate::read(config)?;
    gate.expand(names, generation, session);
    if let Some((table, failure)) = gate.failed(names).next() {
        return Err(not_measured(table, failure));
    }
    let config = &gate.config;
    let before = read_baseline(&config.baseline, config)?;
    let recorder = Recorder::new(config, session.max_size).damaged(damaged);
    let mut benchmarks = gate.selected(names)?;
    if generation != Generation::Newest {
        // Others have no generations.
        benchmarks.retain(|benchmark| sources::is_of_folder(benchmark));
        if benchmarks.is_empty() {
            return Err(CliError::Usage {
                message: "no benchmark has generations: only those of a folder of gungraun have".to_owned(),
                hint: None,
            });
        }
    }
    Inputs::new(config).refuse(kept_paths(kept, &benchmarks))?;
    let mut measured: Vec<(&Benchmark, Measurement)> = Vec::new();
    let mut all_accepted: Vec<(String, BenchmarkBaseline)> = Vec::new();
    in_order(
        &benchmarks,
        job_count,
        |benchmark| measure(&recorder, benchmark),
        |benchmark, result| {
            let (result, noise) = result.map_err(|failure| not_measured(benchmark, &failure))?;
            let measurement = result.measurement;
            if let Some(defect) = defect(benchmark, &measurement) {
                return Err(not_measured(benchmark, &defect.into()));
            }
            if let Some(directory) = kept {
                keep(&result.profile, directory, &benchmark.name, session)?;
            }
            let previous = before.benchmarks.get(&benchmark.name);
            let mut accepted = BenchmarkBaseline::new(&measurement, benchmark, config.share, previous);
            print_changes(&benchmark.name, previous, &accepted, session);
            let name = printable(benchmark.name.as_bytes());
            result.notes.iter().for_each(|note| session.tell(&format!("{name}: note: {note}")));
            for budget in accepted.budgets.iter().filter(|budget| budget.upper_bound) {
                let Some(bound) = measurement.bounds.get(&budget.name) else { continue };
                let budget = &budget.name;
                let text =
                    format!("the cost of `{budget}` counts some calls more than once: {}", bound.advice());
                session.tell(&format!("{name}: note: {}", printable(text.as_bytes())));
            }
            if let Some(noise) = noise {
                print_noise(&name, &accepted, &noise, session);
                accepted.noise = Some(noise);
            }
            all_accepted.push((benchmark.name.clone(), accepted));
            measured.push((benchmark, measurement));
            Ok::<(), CliError>(())
        },
    )?;
    recorder.warnings().iter().for_each(|warning| session.warn(warning));
    let measured: Vec<(&Benchmark, &Measurement)> =
        measured.iter().map(|(benchmark, measurement)| (*benchmark, measurement)).collect();
    if let Some(refusal) = refusals(config, &Baseline::default(), &measured).first() {
        let path = printable_path(&config.shown_path(&config.path)).into_owned();
        return Err(CliError::Usage {
            message: format!("{path}:{}: {}", refusal.line, printable(refusal.message.as_bytes())),
            hint: Some(UNCHANGED.to_owned()),
        });
    }
    // What is gone is accepted with all the others only, and one that has no file of an earlier generation is not gone.
    let accepts_gone = names.is_empty() && generation == Generation::Newest;
    let is_known = |name: &&String| config.benchmarks.iter().any(|benchmark| benchmark.name == **name);
    let gone = before.benchmarks.keys().filter(|name| accepts_gone && !is_known(name));
    let gone: Vec<String> = gone.cloned().collect();
    let _lock = BaselineLock::take(&config.path, &config.baseline).map_err(|_| CliError::Usage {
        message: format!(
            "another program has locked {} or {}",
            printable_path(&config.path),
            printable_path(&config.baseline)
        ),
        hint: Some("let the other `gristmill gate bless` end, and run this one again".to_owned()),
    })?;
    // Measuring takes its time, and another command may have accepted other benchmarks meanwhile. A pipe is read once.
    let mut baseline = match config.baseline.is_file() {
        true => read_baseline(&config.baseline, config)?,
        false => before,
    };
    baseline.benchmarks.extend(all_accepted);
    for name in gone {
        baseline.benchmarks.remove(&name);
        session
            .tell(&format!("{}: removed, as the configuration no longer has it", printable(name.as_bytes())));
    }
    write_baseline(&baseline, &config.baseline, session)?;
    Ok(ExitStatus::Success)
}

/// Returns the reason why a measurement is no baseline.
fn defect(benchmark: &Benchmark, measurement: &Measurement) -> Option<String> {
    let is_common = |budget: &&gristmill_gate::Budget| {
        // Another benchmark may have the functions.
        budget.is_common && measurement.column(&budget.event).is_some()
    };
    let budgets = benchmark.budgets.iter().filter(|budget| !is_common(budget));
    let budgets = budgets.filter_map(|budget| measurement.budget_defect(budget));
    measurement.defect(benchmark).into_iter().chain(budgets).next()
}

fn print_noise(name: &str, accepted: &BenchmarkBaseline, noise: &Noise, session: &Session) {
    for ((event, spread), &total) in accepted.events.iter().zip(&noise.spread).zip(&accepted.total) {
        let percent = percent_change(total, total + spread).unwrap_or_default();
        let event = printable(event.as_bytes());
        let (spread, total) = (grouped(*spread), grouped(total));
        session.tell(&format!("{name}: {event} varies by {spread} of {total} ({percent})"));
    }
}

fn print_changes(
    name: &str,
    previous: Option<&BenchmarkBaseline>,
    accepted: &BenchmarkBaseline,
    session: &Session,
) {
    let name = printable(name.as_bytes());
    for (event, &total) in accepted.events.iter().zip(&accepted.total) {
        let event_name = printable(event.as_bytes());
        let before = previous.and_then(|previous| Some(previous.total[previous.column(event)?]));
        let change = match before {
            None => String::new(),
            Some(before) if before == total => ", unchanged".to_owned(),
            Some(before) => format!(", {}", difference(before, total)),
        };
        session.tell(&format!("{name}: {event_name} {}{change}", grouped(total)));
    }
}

fn init(args: &GateInitArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let path = &args.config.config;
    let Target::File(_) = output::target(Some(path), &[], args.force)? else {
        return Err(CliError::Usage {
            message: "the configuration cannot be written to standard output".to_owned(),
            hint: Some("name a file with --config".to_owned()),
        });
    };
    let text = first_config(&args.command, symbols::has_main(&args.command, path));
    session.write_to(&Target::File(path.clone()), args.force, |out| Ok(out.write_all(text.as_bytes())?))?;
    let config = read_config(path)?;
    if let Some(hint) = args.command.first().and_then(|program| recording::hint(program, &config)) {
        session.warn(&format!("`{}` is not a path: {hint}", printable(args.command[0].as_bytes())));
    }
    let path = printable_path(path);
    session
        .tell(&format!("wrote {path}; edit it, then run `gristmill gate bless` to accept the first costs"));
    Ok(ExitStatus::Success)
}

const UNCHANGED: &str = "fix it and run the command again; the baseline is unchanged";

fn not_measured(benchmark: &Benchmark, failure: &Failure) -> CliError {
    // The message may quote the configuration.
    let message = format!("{}: {}", benchmark.name, failure.message);
    let mut message = printable(message.as_bytes()).into_owned();
    for line in failure.output.iter().take(MAX_OUTPUT_LINES) {
        message.push_str("\n    ");
        message.push_str(line);
    }
    CliError::Usage { message, hint: Some(UNCHANGED.to_owned()) }
}
