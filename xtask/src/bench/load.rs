//! Loading whole profiles, compared with other programs: time, memory, and the growth of both.
//!
//! Each contender runs in its own process and starts from the path of a file, so that all have to read it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::hostile::Hostile;
use super::once::Work;
use super::process::{self, Run};
use super::rounds::{self, Contender, Measured};
use super::{LoadOptions, inputs, table};
use crate::failure::{Context as _, Failure};
use crate::gen_profile::Shape;

/// It is so slow that it gets a smaller file.
const ANNOTATE: &str = "callgrind_annotate";
const ANNOTATE_SIZE: u64 = 20_000_000;
const CGVIEW: &str = "cgview";

/// A file and its size.
struct Input {
    path: PathBuf,
    bytes: u64,
}

impl Input {
    fn new(path: PathBuf) -> Result<Self, Failure> {
        let bytes = std::fs::metadata(&path).context(|| format!("cannot look at {}", path.display()))?.len();
        Ok(Input { path, bytes })
    }
}

pub(super) fn run(options: &LoadOptions) -> Result<(), Failure> {
    let program = process::gristmill()?;
    let mut rows = large(options, &program)?;
    for shape in [Shape::Plain, Shape::Full] {
        for times in [1, 4, 16] {
            let input = Input::new(inputs::generated(shape, options.step.saturating_mul(times))?)?;
            let title = format!("{}, {times} x {} bytes", shape.name(), options.step);
            rows.extend(alone(&title, &input, options.rounds)?);
        }
    }
    for hostile in Hostile::ALL {
        for calls in [options.calls / 4, options.calls] {
            let input = Input::new(hostile.generated(calls)?)?;
            let title = format!("{}, {calls} calls ({} bytes)", hostile.name(), input.bytes);
            rows.extend(alone(&title, &input, options.rounds)?);
        }
    }
    println!(
        "x scan, x parser, x annotate: how many times as fast as the newline scan, {}, {ANNOTATE};",
        Work::Peer.name()
    );
    println!("time for reading the file is not counted where both report it; mapped files have none");
    println!("first line: until the program begins to print");
    for program in [ANNOTATE, CGVIEW] {
        if !process::is_on_path(program) {
            println!("not on the path: {program}");
        }
    }
    print!("{}{}", title(options), table::text(&rows));
    Ok(())
}

/// Measures the large inputs only, and returns the title and the table.
pub(super) fn table_of_large(options: &LoadOptions, program: &Path) -> Result<String, Failure> {
    Ok(title(options) + &table::text(&large(options, program)?))
}

fn title(options: &LoadOptions) -> String {
    format!("loading, best of {} rounds; from the path of a file to the answer\n", options.rounds)
}

/// All contenders on the large generated inputs, and on a recording if there is one.
fn large(options: &LoadOptions, program: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let head = ["", "best ms", "reading", "MB/s", "x scan", "x parser", "x annotate", "peak/input"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for shape in [Shape::Plain, Shape::Full] {
        let input = Input::new(inputs::generated(shape, options.size)?)?;
        let small = Input::new(inputs::generated(shape, ANNOTATE_SIZE.min(options.size))?)?;
        rows.extend(against_others(shape.name(), &input, &small, program, options.rounds)?);
    }
    if let Some(recording) = &options.recording {
        let input = Input::new(recording.clone())?;
        rows.extend(against_others("recording", &input, &input, program, options.rounds)?);
    }
    Ok(rows)
}

/// All contenders on a large file. callgrind_annotate gets a smaller one.
fn against_others(
    name: &str,
    input: &Input,
    small: &Input,
    program: &Path,
    rounds: u32,
) -> Result<Vec<Vec<String>>, Failure> {
    let mut contenders: Vec<(Contender<'_, Run>, u64)> = Vec::new();
    for work in [Work::Scan, Work::LoadAlone, Work::Load, Work::Inclusive, Work::Peer] {
        contenders.push((own(work, &input.path), input.bytes));
    }
    let functions = Contender {
        name: "gristmill functions, first line".to_owned(),
        once: Box::new(|| {
            let mut command = Command::new(program);
            command.arg("functions").arg(&input.path);
            process::measure_beginning(command)
        }),
    };
    contenders.insert(contenders.len() - 1, (functions, input.bytes));
    contenders.insert(1, (other("wc -l".to_owned(), &["wc", "-l"], &input.path), input.bytes));
    if process::is_on_path(CGVIEW) {
        contenders.push((other(CGVIEW.to_owned(), &[CGVIEW], &input.path), input.bytes));
    }
    if process::is_on_path(ANNOTATE) {
        let name = format!("{ANNOTATE} (of {} bytes)", small.bytes);
        contenders.push((other(name, &[ANNOTATE], &small.path), small.bytes));
    }
    let (contenders, bytes): (Vec<_>, Vec<_>) = contenders.into_iter().unzip();
    let measured = rounds::measure(contenders, rounds)?;
    let title = format!("{name} ({} bytes)", input.bytes);
    Ok(table_of(title, measured.iter().zip(bytes).collect()))
}

/// The loader of this project alone, on growing inputs.
fn alone(title: &str, input: &Input, rounds: u32) -> Result<Vec<Vec<String>>, Failure> {
    let works = [Work::Scan, Work::LoadAlone, Work::Load, Work::Inclusive];
    let contenders = works.into_iter().map(|work| own(work, &input.path)).collect();
    let measured = rounds::measure(contenders, rounds)?;
    Ok(table_of(title.to_owned(), measured.iter().map(|one| (one, input.bytes)).collect()))
}

fn own(work: Work, path: &Path) -> Contender<'_, Run> {
    Contender { name: work.name().to_owned(), once: Box::new(move || work.measure(path)) }
}

fn other<'a>(name: String, command: &'a [&'a str], path: &'a Path) -> Contender<'a, Run> {
    let once = move || {
        let mut words = command.iter();
        let mut command = Command::new(words.next().unwrap_or(&""));
        command.args(words).arg(path);
        Ok(process::measure(command)?.1)
    };
    Contender { name, once: Box::new(once) }
}

fn table_of(title: String, measured: Vec<(&Measured<Run>, u64)>) -> Vec<Vec<String>> {
    let find = |name: &str| measured.iter().find(|(one, _)| one.name.starts_with(name)).copied();
    let others = [Work::Scan.name(), Work::Peer.name(), ANNOTATE].map(find);
    let mut rows = vec![vec![title]];
    for &(one, bytes) in &measured {
        let times = |other: Option<(&Measured<Run>, u64)>| {
            other.map_or_else(String::new, |(other, other_bytes)| {
                number(times_as_fast((&one.best, bytes), (&other.best, other_bytes)))
            })
        };
        let [scan, peer, annotate] = others.map(times);
        let reading = one.best.reading;
        rows.push(vec![
            format!("  {}", one.name),
            milliseconds(one.best.whole),
            reading.map_or_else(String::new, milliseconds),
            number(throughput(bytes, one.best.whole) / 1e6),
            scan,
            peer,
            annotate,
            format!("{:.2}", table::ratio(one.best.peak, bytes)),
        ]);
    }
    rows
}

/// Returns the throughput as a multiple of that of another run.
fn times_as_fast((one, bytes): (&Run, u64), (other, other_bytes): (&Run, u64)) -> f64 {
    let both_known = one.reading.is_some() && other.reading.is_some();
    let time = |run: &Run| run.whole - run.reading.filter(|_| both_known).unwrap_or_default();
    throughput(bytes, time(one)) / throughput(other_bytes, time(other))
}

/// Formats a ratio with its significant digits.
fn number(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        0.1.. => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

fn throughput(bytes: u64, time: Duration) -> f64 {
    table::ratio(bytes, 1) / time.as_secs_f64()
}
