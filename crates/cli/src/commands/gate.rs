//! `gristmill gate`: holds benchmarks to budgets, and names the functions that are responsible.

mod recording;

use std::io;
use std::path::{Path, PathBuf};

use gristmill_gate::{
    Baseline, Benchmark, BenchmarkBaseline, BenchmarkVerdict, Config, FileError, GateReport, Measurement,
    Noise, Outcome, difference, first_config, percent_change,
};
use gristmill_output::{Painter, grouped, printable, printable_path};
use gristmill_profile::Profile;
use gristmill_report::diff::sentence;

use crate::args::{
    GateArgs, GateBlessArgs, GateCommand, GateFormat, GateInitArgs, GateNoiseArgs, GateRunArgs, is_dash,
};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load::complete;
use crate::output::{self, Target};
use crate::session::Session;

/// Characters of a function's name in a reason.
const NAME_WIDTH: usize = 60;

pub(crate) fn run(args: &GateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    match &args.command {
        GateCommand::Run(args) => judge(args, session),
        GateCommand::Bless(args) => bless(args, session),
        GateCommand::Noise(args) => noise(args, session),
        GateCommand::Init(args) => init(args, session),
    }
}

fn judge(args: &GateRunArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let config = read_config(&args.config.config)?;
    let baseline = read_baseline(&config.baseline)?;
    let mut verdicts = Vec::new();
    for benchmark in selected(&config, &args.benchmarks)? {
        verdicts.push(match recording::profile(benchmark, &config, session) {
            Ok(profile) => judge_profile(benchmark, &profile, &config, &baseline, args, session)?,
            Err(failure) => BenchmarkVerdict::failed(benchmark, failure),
        });
    }
    let report = GateReport::new(&config, verdicts, args.limit, Path::is_file);
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
    profile: &Profile,
    config: &Config,
    baseline: &Baseline,
    args: &GateRunArgs,
    session: &Session,
) -> Result<BenchmarkVerdict, CliError> {
    if let Some(directory) = &args.keep {
        keep(profile, directory, &benchmark.name, session)?;
    }
    let source_directory = source_directory(config);
    let measurement = Measurement::new(profile, benchmark, &source_directory);
    let accepted = baseline.benchmarks.get(&benchmark.name);
    let mut verdict = BenchmarkVerdict::new(benchmark, &measurement, accepted, args.allow_unlike);
    if let Some(directory) = &args.against {
        let path = directory.join(profile_name(&benchmark.name));
        let explained =
            complete::load(&path, session.max_size, 1).map_err(|error| error.to_string()).and_then(|base| {
                let added =
                    verdict.add_reasons(&base, profile, &source_directory, |comparison, cause, column| {
                        sentence(comparison, cause, column, NAME_WIDTH)
                    });
                added.map_err(|error| error.to_string())
            });
        verdict.notes.extend(explained.err().map(|error| format!("no reasons: {error}")));
    }
    Ok(verdict)
}

fn read_config(path: &Path) -> Result<Config, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| CliError::Usage {
        message: match error.kind() {
            io::ErrorKind::NotFound => format!("{}: no such file", printable_path(path)),
            _ => format!("{}: {}", printable_path(path), crate::input::reason(&error)),
        },
        hint: Some("write a first one with `gristmill gate init`".to_owned()),
    })?;
    Config::parse(path, &text).map_err(|error| CliError::Usage { message: error.to_string(), hint: None })
}

/// Reads the baseline; a missing file is an empty one.
fn read_baseline(path: &Path) -> Result<Baseline, CliError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Baseline::parse(path, &text).map_err(|error| baseline_error(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        Err(error) => {
            let message = crate::input::reason(&error);
            Err(baseline_error(&FileError { path: path.to_owned(), line: 0, message }))
        }
    }
}

/// Writes the whole baseline, or leaves the file as it was.
fn write_baseline(baseline: &Baseline, path: &Path, session: &Session) -> Result<(), CliError> {
    let Some(text) = baseline.to_toml() else {
        let message = "a cost needs more than 64 bits".to_owned();
        return Err(baseline_error(&FileError { path: path.to_owned(), line: 0, message }));
    };
    session.write_to(&Target::File(path.to_owned()), true, |out| Ok(out.write_all(text.as_bytes())?))
}

fn baseline_error(error: &FileError) -> CliError {
    CliError::Usage {
        message: error.to_string(),
        hint: Some("move the file away and write a new one with `gristmill gate bless`".to_owned()),
    }
}

fn selected<'c>(config: &'c Config, names: &[String]) -> Result<Vec<&'c Benchmark>, CliError> {
    config.select(names).map_err(|error| CliError::Usage {
        message: error.to_string(),
        hint: Some(format!("use one of {}", printable(error.known.join(", ").as_bytes()))),
    })
}

/// Returns the start of absolute paths of source files that belong to the project.
fn source_directory(config: &Config) -> Vec<u8> {
    let directory = std::fs::canonicalize(&config.directory).unwrap_or_else(|_| config.directory.clone());
    directory.into_os_string().into_encoded_bytes()
}

/// Returns the file name of the profile of a benchmark.
fn profile_name(benchmark: &str) -> PathBuf {
    PathBuf::from(format!("{benchmark}.callgrind"))
}

fn keep(profile: &Profile, directory: &Path, name: &str, session: &Session) -> Result<(), CliError> {
    std::fs::create_dir_all(directory).map_err(|error| CliError::Usage {
        message: format!("{}: {}", printable_path(directory), crate::input::reason(&error)),
        hint: None,
    })?;
    let path = directory.join(profile_name(name));
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
    let paint = if target == Target::Stdout { session.paint } else { Painter::new(false) };
    session.write_to(&target, true, |out| {
        match format {
            GateFormat::Text => report.write_text(paint, out),
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
    let config = read_config(&args.config.config)?;
    let mut baseline = read_baseline(&config.baseline)?;
    for benchmark in selected(&config, &args.benchmarks)? {
        let profile = recording::profile(benchmark, &config, session)
            .map_err(|failure| not_measured(benchmark, &failure))?;
        let measurement = Measurement::new(&profile, benchmark, &source_directory(&config));
        let previous = baseline.benchmarks.get(&benchmark.name);
        let accepted = BenchmarkBaseline::new(&measurement, config.share, previous);
        print_changes(&benchmark.name, previous, &accepted, session);
        baseline.benchmarks.insert(benchmark.name.clone(), accepted);
    }
    baseline.benchmarks.retain(|name, _| config.benchmarks.iter().any(|benchmark| benchmark.name == *name));
    write_baseline(&baseline, &config.baseline, session)?;
    Ok(ExitStatus::Success)
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

fn noise(args: &GateNoiseArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let config = read_config(&args.config.config)?;
    let mut baseline = read_baseline(&config.baseline)?;
    for benchmark in selected(&config, &args.benchmarks)? {
        let name = printable(benchmark.name.as_bytes());
        let Some(accepted) = baseline.benchmarks.get_mut(&benchmark.name) else {
            return Err(CliError::Usage {
                message: format!("{name}: is not in the baseline"),
                hint: Some("add it with `gristmill gate bless`".to_owned()),
            });
        };
        let mut runs = Vec::new();
        for _ in 0..args.runs {
            let profile = recording::single_run(benchmark, &config, session)
                .map_err(|failure| not_measured(benchmark, &failure))?;
            runs.push(Measurement::new(&profile, benchmark, &source_directory(&config)));
        }
        let noise = Noise::new(&runs, &accepted.events);
        for ((event, spread), &total) in accepted.events.iter().zip(&noise.spread).zip(&accepted.total) {
            let percent = percent_change(total, total + spread).unwrap_or_default();
            let event = printable(event.as_bytes());
            session.tell(&format!(
                "{name}: {event} varies by {} of {} ({percent})",
                grouped(*spread),
                grouped(total)
            ));
        }
        accepted.noise = Some(noise);
    }
    write_baseline(&baseline, &config.baseline, session)?;
    Ok(ExitStatus::Success)
}

fn init(args: &GateInitArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let path = &args.config.config;
    let Target::File(_) = output::target(Some(path), &[], false)? else {
        return Err(CliError::Usage {
            message: "the configuration cannot be written to standard output".to_owned(),
            hint: Some("name a file with --config".to_owned()),
        });
    };
    let text = first_config(&args.command);
    session.write_to(&Target::File(path.clone()), false, |out| Ok(out.write_all(text.as_bytes())?))?;
    let path = printable_path(path);
    session
        .tell(&format!("wrote {path}; edit it, then run `gristmill gate bless` to accept the first costs"));
    Ok(ExitStatus::Success)
}

fn not_measured(benchmark: &Benchmark, failure: &str) -> CliError {
    CliError::Usage {
        message: format!("{}: {failure}", printable(benchmark.name.as_bytes())),
        hint: Some("fix it and run the command again; the baseline is unchanged".to_owned()),
    }
}
