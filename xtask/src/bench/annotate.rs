//! `gristmill annotate` and callgrind_annotate on the same profile with the same options: the time of each, and a comparison
//! of their output.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::process::{self, Run};
use super::rounds::{self, Contender};
use super::{AnnotateOptions, inputs, table};
use crate::failure::{Context as _, Failure};
use crate::gen_profile::Shape;

const ORIGINAL: &str = "callgrind_annotate";

/// The options of both. The sources of a generated profile do not exist, so none are annotated.
const ARGUMENTS: [&[&str]; 2] = [&[], &["--threshold=100", "--show-percs=no"]];

pub(super) fn run(options: &AnnotateOptions) -> Result<(), Failure> {
    print!("{}", table_of(options, &process::gristmill()?)?);
    Ok(())
}

/// Measures a program, and returns the title and the table.
pub(super) fn table_of(options: &AnnotateOptions, program: &Path) -> Result<String, Failure> {
    if !process::is_on_path(ORIGINAL) {
        return Err(Failure::new(format!("there is no {ORIGINAL} to compare with")));
    }
    let head = ["", "best s", "MB/s", "x original", "peak/input", "output"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for shape in [Shape::Plain, Shape::Full] {
        let path = inputs::generated(shape, options.size)?;
        for arguments in ARGUMENTS {
            rows.extend(side_by_side(shape, &path, program, arguments, options.rounds)?);
        }
    }
    let title = "from the path of a file to all of the output";
    Ok(format!("annotating, best of {} rounds; {title}\n{}", options.rounds, table::text(&rows)))
}

fn side_by_side(
    shape: Shape,
    path: &Path,
    program: &Path,
    arguments: &[&str],
    rounds: u32,
) -> Result<Vec<Vec<String>>, Failure> {
    let bytes = std::fs::metadata(path).context(|| format!("cannot look at {}", path.display()))?.len();
    let mut printed = [String::new(), String::new()];
    let [by_original, by_ours] = &mut printed;
    let original = Contender {
        name: ORIGINAL.to_owned(),
        once: once(Path::new(ORIGINAL), &[], arguments, path, by_original),
    };
    let ours = Contender {
        name: "gristmill annotate".to_owned(),
        once: once(program, &["annotate"], arguments, path, by_ours),
    };
    let measured = rounds::measure(vec![original, ours], rounds)?;
    let is_same = printed[0] == printed[1];
    let slowest = measured.first().map_or(Duration::ZERO, |original| original.best.whole);
    let title = format!("{} ({bytes} bytes) {}", shape.name(), arguments.join(" "));
    let mut rows = vec![vec![title.trim_end().to_owned()]];
    for (nth, one) in measured.iter().enumerate() {
        let Run { whole, peak, .. } = one.best;
        let said = if nth == 0 {
            format!("{} lines", printed[0].lines().count())
        } else if is_same {
            "identical".to_owned()
        } else {
            "DIFFERENT".to_owned()
        };
        rows.push(vec![
            format!("  {}", one.name),
            format!("{:.3}", whole.as_secs_f64()),
            format!("{:.1}", table::ratio(bytes, 1_000_000) / whole.as_secs_f64()),
            format!("{:.1}", slowest.as_secs_f64() / whole.as_secs_f64()),
            format!("{:.2}", table::ratio(peak, bytes)),
            said,
        ]);
    }
    Ok(rows)
}

fn once<'a>(
    program: &'a Path,
    before: &'a [&'a str],
    arguments: &'a [&'a str],
    path: &'a Path,
    printed: &'a mut String,
) -> Box<dyn FnMut() -> Result<Run, Failure> + 'a> {
    Box::new(move || {
        let mut command = Command::new(program);
        command.args(before).args(arguments).arg(path);
        let (output, run) = process::measure(command)?;
        *printed = output;
        Ok(run)
    })
}
