//! Merging many profiles: time, and memory compared with the size of the result.
//!
//! The files come from a few programs; each program has many files with different costs, as recordings of many runs have.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use gristmill_format::{Calls, Cost, CostLine, Costs, Header, Line, Reader, Record, Writer};

use super::process::{self, Run};
use super::rounds::{self, Contender};
use super::{MergeOptions, inputs, table};
use crate::failure::{Context as _, Failure};
use crate::workspace;

pub(super) fn run(options: &MergeOptions) -> Result<(), Failure> {
    let program = process::gristmill()?;
    let files = files(options)?;
    let result = workspace::target().join("bench").join("merged.out");

    let head = ["", "input MB", "ms", "MB/s", "peak MB", "result MB"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let last = files.len();
    let mut counts: Vec<usize> = [1, 10, 100, 1000].into_iter().filter(|&count| count < last).collect();
    counts.push(last);
    for count in counts {
        let files = files.get(..count).unwrap_or_default();
        rows.push(row(&format!("sum of {count}"), &program, &[], files, &result, options.rounds)?);
    }
    let few = files.get(..last.min(100)).unwrap_or_default();
    for option in ["--mean", "--median", "--keep-parts"] {
        let title = format!("{option} of {}", few.len());
        rows.push(row(&title, &program, &[option], few, &result, options.rounds)?);
    }
    println!(
        "gristmill merge, best of {} rounds; {} files of {} bytes, of {} programs",
        options.rounds, last, options.size, options.programs
    );
    table::print(&rows);
    std::fs::remove_file(&result).context(|| format!("cannot remove {}", result.display()))
}

fn row(
    title: &str,
    program: &Path,
    how: &[&str],
    files: &[PathBuf],
    result: &Path,
    rounds: u32,
) -> Result<Vec<String>, Failure> {
    let once = || {
        let mut command = Command::new(program);
        command.arg("merge").args(how).args(files).args(["--force", "--output"]).arg(result);
        Ok(process::measure(command)?.1)
    };
    let measured: Vec<rounds::Measured<Run>> =
        rounds::measure(vec![Contender { name: title.to_owned(), once: Box::new(once) }], rounds)?;
    let Some(best) = measured.first().map(|measured| measured.best) else {
        return Err(Failure::new("no round".to_owned()));
    };
    let size = |path: &Path| {
        std::fs::metadata(path)
            .map(|file| file.len())
            .context(|| format!("cannot look at {}", path.display()))
    };
    let input = files.iter().map(|path| size(path)).sum::<Result<u64, Failure>>()?;
    let seconds = best.whole.as_secs_f64();
    let [input, peak, result] = [input, best.peak, size(result)?].map(|bytes| table::ratio(bytes, 1_000_000));
    Ok(vec![
        title.to_owned(),
        format!("{input:.1}"),
        format!("{:.0}", seconds * 1e3),
        format!("{:.0}", input / seconds),
        format!("{peak:.1}"),
        format!("{result:.1}"),
    ])
}

/// The files: run after run, of one program after the other.
fn files(options: &MergeOptions) -> Result<Vec<PathBuf>, Failure> {
    let programs: Vec<PathBuf> =
        (1..=options.programs).map(|seed| inputs::program(options.size, seed)).collect::<Result<_, _>>()?;
    let runs = (1u64..).flat_map(|run| programs.iter().map(move |program| (run, program)));
    let count = usize::try_from(options.files).unwrap_or(usize::MAX);
    (1..)
        .zip(runs)
        .take(count)
        .map(|(nth, (run, program)): (u64, _)| {
            let name = format!("run-{}-{}-{nth}-v1", options.size, options.programs);
            inputs::kept(&name, |path| write_run(program, run, path))
        })
        .collect()
}

/// Writes another run of a program: all costs multiplied, so that the sums stay right.
fn write_run(program: &Path, run: u64, path: &Path) -> Result<(), Failure> {
    let bytes = std::fs::read(program).context(|| format!("cannot read {}", program.display()))?;
    workspace::write_whole(path, |file| {
        let mut writer = Writer::new(BufWriter::new(file));
        let mut scaled = Vec::new();
        for record in Reader::new(&bytes) {
            let record = record.map_err(|error| format!("cannot read {}: {error}", program.display()))?;
            let factor = Cost::from(run);
            let mut scale = |costs: &Costs<'_>| {
                scaled.clear();
                scaled.extend(costs.iter().map(|cost| cost.unwrap_or_default() * factor));
            };
            // The spelling of a line keeps its old numbers, so these lines are written without it.
            let written = match record.line {
                Line::Cost(line) => {
                    scale(&line.costs);
                    writer.write(&Record::new(Line::Cost(CostLine { costs: Costs::new(&scaled), ..line })))
                }
                Line::Header(Header::Summary(costs)) => {
                    scale(&costs);
                    writer.write(&Record::new(Line::Header(Header::Summary(Costs::new(&scaled)))))
                }
                Line::Header(Header::Totals(costs)) => {
                    scale(&costs);
                    writer.write(&Record::new(Line::Header(Header::Totals(Costs::new(&scaled)))))
                }
                Line::Calls(calls) => {
                    let count = calls.count * factor;
                    writer.write(&Record::new(Line::Calls(Calls { count, ..calls })))
                }
                _ => writer.write(&record),
            };
            written?;
        }
        Ok(writer.finish()?.flush()?)
    })
}
