//! The inputs that show the growth of time and memory.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use super::shapes::SHAPES;
use crate::failure::{Context as _, Failure};
use crate::workspace;

/// The size of the shapes for their usual count of elements.
const SHAPE_BYTES: u64 = 30_000;

/// The size of one of many files, about.
const FILE_BYTES: u64 = 128;

/// Files of one size.
pub(super) struct Files {
    pub(super) paths: Vec<PathBuf>,
    /// Another profile of the same shape.
    pub(super) other: PathBuf,
    /// The size of all profiles and sources together.
    pub(super) bytes: u64,
}

/// A kind of input.
pub(super) struct Subject {
    pub(super) name: &'static str,
    kind: Kind,
}

enum Kind {
    /// One profile, by the index of its shape.
    Shape(usize),
    /// Two profiles of different shapes, base and new.
    Pair(fn(u64) -> [String; 2]),
    /// Many files of one recording.
    Set,
    /// A short profile with a source file of blank lines.
    BlankSource,
    /// A profile with costs on each line of a source file.
    Source,
}

pub(super) fn subjects() -> Vec<Subject> {
    let shapes = SHAPES.iter().enumerate();
    let mut subjects: Vec<Subject> =
        shapes.map(|(index, shape)| Subject { name: shape.name, kind: Kind::Shape(index) }).collect();
    subjects.push(Subject { name: "paths-and-a-long-one", kind: Kind::Pair(paths_and_a_long_one) });
    subjects.push(Subject { name: "clique-and-no-calls", kind: Kind::Pair(clique_and_no_calls) });
    subjects.push(Subject { name: "hubs-and-bipartite", kind: Kind::Pair(hubs_and_bipartite) });
    subjects.push(Subject {
        name: "lines-and-calls-that-are-gone",
        kind: Kind::Pair(lines_and_calls_that_are_gone),
    });
    subjects.push(Subject { name: "set", kind: Kind::Set });
    subjects.push(Subject { name: "blank-source", kind: Kind::BlankSource });
    subjects.push(Subject { name: "source", kind: Kind::Source });
    subjects
}

impl Subject {
    /// `true` if a task makes sense for this kind of input.
    pub(super) fn has(&self, task: &str) -> bool {
        match self.kind {
            Kind::Shape(_) => task != "set",
            Kind::Pair(_) => ["diff", "merge", "view-changes"].iter().any(|start| task.starts_with(start)),
            Kind::Set => matches!(task, "set" | "functions" | "annotate" | "info" | "lint"),
            Kind::BlankSource | Kind::Source => {
                task.starts_with("show")
                    || task.starts_with("annotate")
                    || matches!(task, "diff-function" | "view-source")
            }
        }
    }

    /// Writes files that have about this many bytes together.
    pub(super) fn files(&self, bytes: u64) -> Result<Files, Failure> {
        match self.kind {
            Kind::Shape(index) => {
                let shape = &SHAPES[index];
                let count = |bytes: u64| {
                    usize::try_from(shape.count as u64 * bytes / SHAPE_BYTES).unwrap_or(1).max(2)
                };
                let paths = vec![written("profile.out", shape.text(count(bytes)).as_bytes())?];
                let other = written("other.out", shape.text(count(bytes - bytes / 4)).as_bytes())?;
                Files::new(paths, other, None)
            }
            Kind::Pair(make) => {
                let [base, new] = make(bytes);
                let other = written("other.out", base.as_bytes())?;
                Files::new(vec![written("profile.out", new.as_bytes())?], other.clone(), Some(other))
            }
            Kind::Set => {
                let _ = fs::remove_dir_all(folder());
                let file = |part: u64| {
                    let text = format!(
                        "version: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd: ./mill\npart: {part}\nevents: Ir\nfn=f\n1 {part}\ntotals: {part}\n"
                    );
                    written(&format!("callgrind.out.7.{part}"), text.as_bytes())
                };
                let paths: Vec<PathBuf> =
                    (1..=(bytes / FILE_BYTES).max(2)).map(file).collect::<Result<_, _>>()?;
                let other = paths[0].clone();
                Files::new(paths, other, None)
            }
            Kind::BlankSource | Kind::Source => {
                let is_blank = matches!(self.kind, Kind::BlankSource);
                let lines = if is_blank { bytes } else { bytes / 16 }.max(2);
                let line = if is_blank { "\n" } else { "x = y;\n" };
                let count = usize::try_from(lines).unwrap_or(usize::MAX);
                let source = written("hostile.c", line.repeat(count).as_bytes())?;
                let mut profile = format!("events: Ir\nfl={}\nfn=f\n1 1\n", source.display());
                let costs = if is_blank { lines..=lines } else { 2..=lines };
                for line in costs {
                    writeln!(profile, "{line} 1").context(|| "cannot write to memory".to_owned())?;
                }
                let path = written("profile.out", profile.as_bytes())?;
                let other = written("other.out", [profile.as_bytes(), b"1 1\n"].concat().as_slice())?;
                Files::new(vec![path], other, Some(source))
            }
        }
    }
}

impl Files {
    fn new(paths: Vec<PathBuf>, other: PathBuf, source: Option<PathBuf>) -> Result<Files, Failure> {
        let all = paths.iter().chain(&source);
        let size = |path: &PathBuf| {
            fs::metadata(path).map(|file| file.len()).context(|| format!("cannot look at {}", path.display()))
        };
        let bytes = all.map(size).sum::<Result<u64, Failure>>()?;
        Ok(Files { paths, other, bytes })
    }
}

fn folder() -> PathBuf {
    workspace::target().join("bench").join("hostile")
}

fn written(name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let folder = folder();
    let path = folder.join(name);
    let write = || {
        fs::create_dir_all(&folder)?;
        fs::File::create(&path)?.write_all(bytes)
    };
    write().context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Many files of one name, and one file of that name whose path is as long as all of theirs.
fn paths_and_a_long_one(bytes: u64) -> [String; 2] {
    let files = (0..bytes / 26).map(|nth| format!("fl=/b/{nth}/x.c\nfn=same\n1 5\n"));
    let directories = usize::try_from(bytes / 2).unwrap_or(0);
    let base = format!("events: Ir\n{}", files.collect::<String>());
    [base, format!("events: Ir\nfl={}/x.c\nfn=f\n1 1\n", "/a".repeat(directories))]
}

/// Functions that all call each other, and no longer do.
fn clique_and_no_calls(bytes: u64) -> [String; 2] {
    let count = (bytes / 25).isqrt();
    let (mut base, mut new) = ("events: Ir\n".to_owned(), "events: Ir\n".to_owned());
    for caller in 0..count {
        new += &format!("fn=f{caller}\n{caller} 1\n");
        base += &format!("fn=f{caller}\n{caller} 1\n");
        for callee in 0..count {
            base += &format!("cfn=f{callee}\ncalls=1 1\n{caller} {}\n", caller * callee % 97 + 5);
        }
    }
    [base, new]
}

/// A cycle of functions that all call one of two others, and another graph of the same functions.
fn hubs_and_bipartite(bytes: u64) -> [String; 2] {
    let count = (bytes / 70).max(40);
    let (mut base, mut new) = ("events: Ir\n".to_owned(), "events: Ir\n".to_owned());
    for caller in 0..count {
        let (hub, other) = (caller % 2, caller * 7 % count);
        base += &format!(
            "fn=f{caller}\n{caller} 1\ncfn=f{hub}\ncalls={caller} 1\n1 {caller}\ncfn=f{other}\ncalls=2 2\n1 {caller}\n"
        );
    }
    for caller in 0..20 {
        new += &format!("fn=f{caller}\n{caller} 1\n");
        for callee in 20..40 {
            new += &format!("cfn=f{callee}\ncalls=1 1\n{caller} {callee}\n");
        }
    }
    [base, new]
}

/// A function of many lines that calls many others, and no longer does.
fn lines_and_calls_that_are_gone(bytes: u64) -> [String; 2] {
    let count = bytes / 200;
    let (mut base, mut new) = ("events: Ir\nfn=main\n".to_owned(), "events: Ir\nfn=main\n".to_owned());
    for line in 0..8 * count {
        base += &format!("{} 3\n", 10 * count + line);
        new += &format!("{} 4\n", 10 * count + line);
    }
    for callee in 0..count {
        base += &format!("cfn=c{callee}\ncalls=1 {0}\n{1} 20\n", 3 * callee, 10 * count + callee);
    }
    for callee in 0..count {
        base += &format!("fn=c{callee}\n{} 10\n{} 10\n", 3 * callee, 3 * callee + 1);
    }
    [base, new]
}
