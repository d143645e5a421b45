//! `gristmill gate`: holds benchmarks to budgets, and names the functions that are responsible.

mod amount;
mod baseline;
mod config;
mod github;
mod init;
mod json;
mod judge;
mod junit;
mod markdown;
mod measured;
mod reasons;
mod recording;
mod report;
mod sarif;
mod text;

use std::io::{self, Write};
use std::path::Path;

use self::baseline::{Baseline, Blessed, BlessedBudget, Noise};
use self::config::{Benchmark, Config};
use self::judge::Outcome;
use self::measured::Measured;
use self::report::Report;
use crate::args::{GateArgs, GateBlessArgs, GateCommand, GateFormat, GateNoiseArgs, GateRunArgs, is_dash};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load::complete;
use crate::output::Target;
use crate::session::Session;
use crate::terminal::{Painter, grouped, printable, printable_path};

pub(crate) fn run(args: &GateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    match &args.command {
        GateCommand::Run(args) => judge(args, session),
        GateCommand::Bless(args) => bless(args, session),
        GateCommand::Noise(args) => noise(args, session),
        GateCommand::Init(args) => init::run(args, session),
    }
}

fn judge(args: &GateRunArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let config = config::read(&args.config.config)?;
    let benchmarks = chosen(&config, &args.benchmarks)?;
    let baseline = Baseline::read(&config.baseline)?;
    let mut verdicts = Vec::new();
    for benchmark in benchmarks {
        let verdict = match recording::profile(benchmark, &config, session) {
            Ok(profile) => {
                if let Some(folder) = &args.keep {
                    keep(&profile, folder, &benchmark.name, session)?;
                }
                let measured = Measured::of(&profile, benchmark, &config.directory);
                let blessed = baseline.benchmark.get(&benchmark.name);
                let mut verdict = judge::judge(benchmark, &measured, blessed, args.allow_unlike);
                if let Some(folder) = &args.against {
                    let path = folder.join(profile_name(&benchmark.name));
                    let explained = complete::load(&path, session.max_size, 1)
                        .map_err(|error| error.to_string())
                        .and_then(|base| reasons::explain(&mut verdict, &base, &profile, &config.directory));
                    verdict.notes.extend(explained.err().map(|error| format!("no reasons: {error}")));
                }
                verdict
            }
            Err(failure) => judge::failed(benchmark, failure),
        };
        verdicts.push(verdict);
    }
    let report = Report { config: config.path, directory: config.directory, verdicts, limit: args.limit };
    write(&report, args.format, args.output.as_deref(), session)?;
    for (format, path) in &args.also {
        write(&report, *format, Some(path), session)?;
    }
    Ok(match report.outcome() {
        Outcome::Within | Outcome::Advice => ExitStatus::Success,
        Outcome::Over => ExitStatus::Findings,
        Outcome::Unknown => ExitStatus::Failure,
    })
}

/// The benchmarks of these names, or all.
fn chosen<'c>(config: &'c Config, names: &[String]) -> Result<Vec<&'c Benchmark>, CliError> {
    for name in names {
        if !config.benchmarks.iter().any(|benchmark| benchmark.name == *name) {
            let known: Vec<&str> =
                config.benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
            return Err(CliError::Usage {
                message: format!("there is no benchmark called `{}`", printable(name.as_bytes())),
                hint: Some(format!("there are {}", printable(known.join(", ").as_bytes()))),
            });
        }
    }
    let is_chosen = |benchmark: &&Benchmark| names.is_empty() || names.contains(&benchmark.name);
    Ok(config.benchmarks.iter().filter(is_chosen).collect())
}

/// The name of the profile of a benchmark, in a folder of such.
fn profile_name(benchmark: &str) -> String {
    format!("{benchmark}.callgrind")
}

fn keep(
    profile: &gristmill_profile::Profile,
    folder: &Path,
    name: &str,
    session: &Session,
) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|error| CliError::Usage {
        message: format!("{}: {}", printable_path(folder), crate::input::reason(&error)),
        hint: None,
    })?;
    let path = folder.join(profile_name(name));
    session.write_to(&Target::File(path), true, |out| Ok(out.write_all(&profile.save())?))
}

/// Writes a report; one of an earlier run is overwritten, as nobody misses it.
fn write(
    report: &Report,
    format: GateFormat,
    output: Option<&Path>,
    session: &Session,
) -> Result<(), CliError> {
    let target = match output {
        Some(path) if !is_dash(path) => Target::File(path.to_owned()),
        _ => Target::Stdout,
    };
    let paint = if target == Target::Stdout { session.paint } else { Painter::new(false) };
    session.write_to(&target, true, |out| Ok(print(report, format, paint, out)?))
}

fn print(report: &Report, format: GateFormat, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
    match format {
        GateFormat::Text => text::write(report, paint, out),
        GateFormat::Markdown => markdown::write(report, out),
        GateFormat::Json => json::write(report, out),
        GateFormat::Junit => junit::write(report, out),
        GateFormat::Sarif => sarif::write(report, out),
        GateFormat::Github => github::write(report, out),
    }
}

/// Accepts the present costs. Nothing is written before all benchmarks are measured.
fn bless(args: &GateBlessArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let config = config::read(&args.config.config)?;
    let mut baseline = Baseline::read(&config.baseline)?;
    for benchmark in chosen(&config, &args.benchmarks)? {
        let profile = recording::profile(benchmark, &config, session)
            .map_err(|failure| not_measured(benchmark, &failure))?;
        let measured = Measured::of(&profile, benchmark, &config.directory);
        let before = baseline.benchmark.get(&benchmark.name);
        let blessed = Blessed::of(&measured, &config, before);
        tell_change(&benchmark.name, before, &blessed, session);
        baseline.benchmark.insert(benchmark.name.clone(), blessed);
    }
    baseline.benchmark.retain(|name, _| config.benchmarks.iter().any(|benchmark| benchmark.name == *name));
    baseline.write(&config, session)?;
    Ok(ExitStatus::Success)
}

fn tell_change(name: &str, before: Option<&Blessed>, blessed: &Blessed, session: &Session) {
    let name = printable(name.as_bytes());
    for (event, &total) in blessed.events.iter().zip(&blessed.total) {
        let event_name = printable(event.as_bytes());
        let then = before.and_then(|before| {
            let column = before.events.iter().position(|other| other == event)?;
            before.total.get(column).copied()
        });
        let change = match then {
            None => String::new(),
            Some(then) if then == total => ", unchanged".to_owned(),
            Some(then) => format!(", {}", report::difference(then, total)),
        };
        session.tell(&format!("{name}: {event_name} {}{change}", grouped(total)));
    }
}

fn noise(args: &GateNoiseArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let config = config::read(&args.config.config)?;
    let mut baseline = Baseline::read(&config.baseline)?;
    for benchmark in chosen(&config, &args.benchmarks)? {
        let Some(blessed) = baseline.benchmark.get_mut(&benchmark.name) else {
            return Err(CliError::Usage {
                message: format!("{}: is not in the baseline", printable(benchmark.name.as_bytes())),
                hint: Some("gristmill gate bless takes it up".to_owned()),
            });
        };
        let mut runs = Vec::new();
        for _ in 0..args.runs {
            let profile = recording::single(benchmark, &config, session)
                .map_err(|failure| not_measured(benchmark, &failure))?;
            runs.push(Measured::of(&profile, benchmark, &config.directory));
        }
        let noise = spread(&runs, &blessed.events, args.runs);
        let name = printable(benchmark.name.as_bytes()).into_owned();
        for ((event, spread), &total) in blessed.events.iter().zip(&noise.spread).zip(&blessed.total) {
            let part = report::percent(total, total + spread).unwrap_or_default();
            let event = printable(event.as_bytes());
            session.tell(&format!(
                "{name}: {event} differs by {} of {} ({part})",
                grouped(spread),
                grouped(total)
            ));
        }
        blessed.noise = Some(noise);
    }
    baseline.write(&config, session)?;
    Ok(ExitStatus::Success)
}

/// By how much runs differ: most less least, of the totals and of what each budget is about.
fn spread(runs: &[Measured], events: &[String], count: u32) -> Noise {
    let spread = |cost: &dyn Fn(&Measured, usize) -> Option<i128>| -> Vec<i128> {
        let columns = events.iter().map(|event| {
            let costs = runs.iter().filter_map(|run| cost(run, run.column(event)?));
            costs.clone().max().unwrap_or(0) - costs.min().unwrap_or(0)
        });
        columns.collect()
    };
    let names = runs.first().map(|run| run.subjects.keys()).into_iter().flatten();
    let budgets = names.map(|name| BlessedBudget {
        name: name.clone(),
        cost: spread(&|run, column| run.subjects.get(name)?.get(column).copied()),
    });
    Noise {
        runs: count,
        budgets: budgets.collect(),
        spread: spread(&|run, column| run.totals.get(column).copied()),
    }
}

fn not_measured(benchmark: &Benchmark, failure: &str) -> CliError {
    CliError::Usage {
        message: format!("{}: {failure}", printable(benchmark.name.as_bytes())),
        hint: Some("the baseline is as it was".to_owned()),
    }
}
