//! Reading all records of a file with all numbers decoded, against the least that any reader must do (finding the line
//! ends), and against the other reader on crates.io.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::inputs::{self, Input};
use super::others::{self, PEER, SCAN};
use super::rounds::{self, Contender, Measured};
use super::{ReadOptions, gristmill, table};
use crate::failure::{Context as _, Failure};

pub(super) fn run(options: &ReadOptions) -> Result<(), Failure> {
    println!("x scan, x {PEER}: how many times as fast as the newline scan, as {PEER}");
    print!("{}", table_of(options)?);
    Ok(())
}

/// Measures, and returns the title and the table.
pub(super) fn table_of(options: &ReadOptions) -> Result<String, Failure> {
    let head = ["", "best ms", "MB/s", "x scan", "x callgrind-parser"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for input in inputs::both(options.size) {
        let input = input?;
        let measured = rounds::measure(contenders(&input), options.rounds)?;
        rows.push(vec![format!("{} ({} bytes)", input.name, input.bytes.len())]);
        let best = |name: &str| measured.iter().find(|one| one.name == name).map(|one| one.best);
        let (scan, peer) = (best(SCAN), best(PEER));
        rows.extend(measured.iter().map(|one| row(one, input.bytes.len(), scan, peer)));
    }
    Ok(format!("reading, best of {} rounds\n{}", options.rounds, table::text(&rows)))
}

#[expect(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
fn row(measured: &Measured, bytes: usize, scan: Option<Duration>, peer: Option<Duration>) -> Vec<String> {
    let best = measured.best.as_secs_f64();
    let times = |other: Option<Duration>| {
        other.map_or_else(String::new, |other| format!("{:.2}", other.as_secs_f64() / best))
    };
    vec![
        format!("  {}", measured.name),
        format!("{:.1}", best * 1e3),
        format!("{:.0}", bytes as f64 / 1e6 / best),
        times(scan),
        times(peer),
    ]
}

fn contenders(input: &Input) -> Vec<Contender<'_>> {
    vec![
        Contender { name: SCAN.to_owned(), once: Box::new(|| Ok(timed(&input.bytes, others::scan))) },
        Contender { name: "wc -l".to_owned(), once: Box::new(|| wc(input)) },
        Contender {
            name: "gristmill".to_owned(),
            once: Box::new(|| Ok(timed(&input.bytes, gristmill::read_all))),
        },
        Contender { name: PEER.to_owned(), once: Box::new(|| peer(input)) },
    ]
}

fn wc(input: &Input) -> Result<Duration, Failure> {
    let start = Instant::now();
    let output = Command::new("wc")
        .arg("-l")
        .arg(&input.path)
        .stderr(Stdio::inherit())
        .output()
        .context(|| "cannot run wc".into())?;
    let time = start.elapsed();
    if output.status.success() { Ok(time) } else { Err(Failure::new(format!("wc: {}", output.status))) }
}

fn peer(input: &Input) -> Result<Duration, Failure> {
    let start = Instant::now();
    let profile = others::peer(&input.path)?;
    let time = start.elapsed();
    // Dropping the result is not measured.
    drop(black_box(profile));
    Ok(time)
}

/// Measures one call; the result is dropped after the measurement.
fn timed<T>(bytes: &[u8], work: impl FnOnce(&[u8]) -> T) -> Duration {
    let start = Instant::now();
    black_box(work(black_box(bytes)));
    start.elapsed()
}
