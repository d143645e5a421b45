//! The time and memory of commands with drawn options on profiles of several hostile shapes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use gristmill_cli::in_process::command_lines;

use super::growth::MAX_SECONDS_PER_MB;
use super::joined_shapes::{self, Joined};
use super::{JoinedOptions, budgets, process, table};
use crate::failure::{Context as _, Failure};
use crate::gen_profile::prng::Prng;
use crate::workspace;

/// The size of shapes: some 60 KB each.
const SIZE: usize = 2;

/// Command lines for each pair of profiles.
const LINES: usize = 14;

/// The time of a command on next to no profile, with room for a busy machine.
const CONSTANT: Duration = Duration::from_millis(500);

pub(super) fn run(options: &JoinedOptions) -> Result<(), Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => process::gristmill()?,
    };
    let folder = workspace::root().join("target/bench/joined");
    fs::create_dir_all(&folder).context(|| format!("cannot make {}", folder.display()))?;
    // The program itself does not count.
    let mut smallest = Command::new(&program);
    smallest.arg("--version");
    let constant = process::measure_silent(smallest)?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut rows = vec![["profiles", "command", "bytes", "seconds", "MB"].map(str::to_owned).to_vec()];
    let mut runs = 0;
    for pair in 0.. {
        if Instant::now() > end {
            break;
        }
        let mut random = Prng::for_item(options.seed, 0, pair);
        let mut draw = |below: usize| usize::try_from(random.below(below as u64)).unwrap_or(0);
        let pair = ["a", "b"].map(|side| (folder.join(side), Joined::draw(SIZE, &mut draw)));
        for (path, joined) in &pair {
            fs::write(path, &joined.text).context(|| format!("cannot write {}", path.display()))?;
        }
        let [(one, first), (other, second)] = &pair;
        let lines = command_lines([one, other]);
        let mut is_kept = false;
        for _ in 0..LINES {
            let words = joined_shapes::command(&lines, &mut draw);
            // Servers of debug information are slow for other reasons.
            if words.iter().any(|word| word == "--debuginfod") {
                continue;
            }
            let bytes = size_of_inputs(&words, &pair);
            let mut command = Command::new(&program);
            command.args(&words);
            let shown = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            let run = process::measure_silent(command)?;
            runs += 1;
            let seconds = MAX_SECONDS_PER_MB * bytes as f64 / 1e6 + CONSTANT.as_secs_f64();
            let allowed = budgets::allowed(&words[0].to_string_lossy(), bytes);
            let is_long = run.processors.as_secs_f64() > seconds;
            let peak = run.peak.saturating_sub(constant.peak);
            if !is_long && allowed.is_none_or(|allowed| peak <= allowed as u64) {
                continue;
            }
            is_kept = true;
            rows.push(vec![
                format!("{} {}", first.name, second.name),
                shown,
                bytes.to_string(),
                format!("{:.2}", run.processors.as_secs_f64()),
                format!("{:.0}", peak as f64 / 1e6),
            ]);
        }
        if is_kept {
            for (path, _) in &pair {
                let copy = path.with_extension(runs.to_string());
                fs::copy(path, &copy).context(|| format!("cannot write {}", copy.display()))?;
            }
        }
    }
    println!("{runs} runs");
    let count = rows.len() - 1;
    table::print(&rows);
    match count {
        0 => Ok(()),
        _ => Err(Failure::new(format!(
            "{count} runs take too much; their profiles are in {}",
            folder.display()
        ))),
    }
}

/// Returns the size of the profiles that a command takes.
fn size_of_inputs(words: &[OsString], pair: &[(PathBuf, Joined); 2]) -> usize {
    let is_taken = |path: &Path| {
        words.iter().any(|word| Path::new(word.to_string_lossy().trim_start_matches("--base=")) == path)
    };
    pair.iter().filter(|(path, _)| is_taken(path)).map(|(_, joined)| joined.text.len()).sum()
}
