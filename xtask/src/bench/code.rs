//! Machine code and inlined functions of a large program, the compiler of this machine: the time of each question, side by side
//! with the tools that answer it otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gristmill_profile::symbol::Symbol;
use gristmill_profile::{FunctionId, Profile, Selection};

use super::process::{self, Run};
use super::rounds::{self, Contender};
use super::{CodeOptions, inputs, table};
use crate::failure::{Context as _, Failure};
use crate::workspace;

/// The beginning of the name of the library that most of the compiler is in.
const LIBRARY: &str = "librustc_driver";

/// The program that the recorded compiler compiles.
const SOURCE: &str = "fn main() { println!(\"{}\", (0..9).map(|n| n * n).sum::<u32>()); }\n";

/// Bytes that an instruction of x86 takes at most.
const MAX_INSTRUCTION_BYTES: u64 = 15;

pub(super) fn run(options: &CodeOptions) -> Result<(), Failure> {
    print!("{}", table_of(options, &process::gristmill()?)?);
    Ok(())
}

/// Measures a program, and returns the title and the table.
pub(super) fn table_of(options: &CodeOptions, program: &Path) -> Result<String, Failure> {
    for tool in ["objdump", "llvm-addr2line"] {
        if !process::is_on_path(tool) {
            return Err(Failure::new(format!("there is no {tool} to compare with")));
        }
    }
    let recording = match &options.recording {
        Some(path) => path.clone(),
        None => recorded()?,
    };
    let profile = Profile::open(&recording)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", recording.display())))?;
    let head = ["", "best s", "CPU s", "peak MB"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(instructions(&profile, &recording, program, options)?);
    rows.extend(inlined(&profile, &recording, program, options)?);
    Ok(format!(
        "reading programs, best of {} rounds; from the start of the process to the end of its output\n{}",
        options.rounds,
        table::text(&rows)
    ))
}

/// The recording of a compiler that compiles a small program. It is made once.
fn recorded() -> Result<PathBuf, Failure> {
    if !process::is_on_path("valgrind") {
        return Err(Failure::new(
            "there is no valgrind to record the compiler with; --recording FILE has one",
        ));
    }
    inputs::kept("rustc-v1", |path| {
        let folder = workspace::target().join("bench");
        let source = folder.join("small.rs");
        std::fs::write(&source, SOURCE).context(|| format!("cannot write {}", source.display()))?;
        // The program itself, not the proxy that starts it.
        let mut rustc = Command::new("rustc");
        rustc.args(["--print", "sysroot"]);
        let (root, _) = process::measure(rustc)?;
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["-q", "--tool=callgrind", "--dump-instr=yes"]);
        valgrind.arg(format!("--callgrind-out-file={}", path.display()));
        valgrind.arg(Path::new(root.trim()).join("bin/rustc"));
        valgrind
            .args(["--emit=metadata", "--crate-type=lib", "-o"])
            .arg(folder.join("small.rmeta"))
            .arg(&source);
        workspace::run(&mut valgrind)
    })
}

/// The most expensive function of the library, by self cost of the first event type.
fn hottest(profile: &Profile) -> Option<FunctionId> {
    let event: Vec<_> = profile.events().take(1).collect();
    let graph = profile.call_graph_of(&Selection::default(), &event);
    let of_library = profile.functions().zip(graph.nodes()).filter(|(id, _)| {
        let path = String::from_utf8_lossy(profile.object(profile.function(*id).object));
        path.rsplit('/').next().is_some_and(|name| name.starts_with(LIBRARY))
    });
    of_library.max_by_key(|(_, node)| graph.self_cost(*node)[0]).map(|(id, _)| id)
}

/// The instructions of one function.
fn instructions(
    profile: &Profile,
    recording: &Path,
    program: &Path,
    options: &CodeOptions,
) -> Result<Vec<Vec<String>>, Failure> {
    let id = hottest(profile)
        .ok_or_else(|| Failure::new(format!("{} has no code of {LIBRARY}", recording.display())))?;
    let function = profile.function(id);
    let library = PathBuf::from(String::from_utf8_lossy(profile.object(function.object)).into_owned());
    let bytes =
        std::fs::metadata(&library).context(|| format!("cannot look at {}", library.display()))?.len();
    let lines = profile.lines(id, &Selection::default());
    let addresses: BTreeSet<u64> = lines.places.iter().filter_map(|place| place.address).collect();
    let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else {
        return Err(Failure::new(format!("{} has no addresses", recording.display())));
    };
    let range = [
        format!("--start-address={first:#x}"),
        format!("--stop-address={:#x}", last + MAX_INSTRUCTION_BYTES),
    ];
    let name = Symbol::parse(function.name).shown();
    let pattern = format!("^{}$", regex::escape(&name));
    let ours = Contender {
        name: "gristmill annotate --asm, of the function".to_owned(),
        once: silent(move || {
            let mut command = Command::new(program);
            command.args(["annotate", "--asm", "--filter", &pattern]).arg(recording);
            command
        }),
    };
    let objdump = |range: Vec<String>| {
        let library = library.clone();
        silent(move || {
            let mut command = Command::new("objdump");
            command.args(["-d", "--no-show-raw-insn"]).args(&range).arg(&library);
            command
        })
    };
    let part = Contender { name: "objdump -d, of the function".to_owned(), once: objdump(range.to_vec()) };
    let mut measured = rounds::measure(vec![ours, part], options.rounds)?;
    if !options.skips_whole {
        // It takes as long as all others together.
        let whole = Contender { name: "objdump -d, of the library".to_owned(), once: objdump(Vec::new()) };
        measured.extend(rounds::measure(vec![whole], 1)?);
    }
    let title = format!(
        "instructions of one function in a library of {} MB: {} addresses with costs",
        bytes / 1_000_000,
        addresses.len()
    );
    Ok(rows(title, measured))
}

/// The inlined functions of a whole recording.
fn inlined(
    profile: &Profile,
    recording: &Path,
    program: &Path,
    options: &CodeOptions,
) -> Result<Vec<Vec<String>>, Failure> {
    let mut by_object: BTreeMap<PathBuf, BTreeSet<u64>> = BTreeMap::new();
    for id in profile.functions() {
        let object = String::from_utf8_lossy(profile.object(profile.function(id).object)).into_owned();
        let lines = profile.lines(id, &Selection::default());
        let addresses = lines.places.iter().filter_map(|place| place.address);
        by_object.entry(PathBuf::from(object)).or_default().extend(addresses);
    }
    by_object.retain(|object, addresses| object.is_file() && !addresses.is_empty());
    let count: usize = by_object.values().map(BTreeSet::len).sum();
    let functions = |name: &str, more: &'static [&'static str]| Contender {
        name: name.to_owned(),
        once: silent(move || {
            let mut command = Command::new(program);
            command.arg("functions").args(more).arg(recording);
            command
        }),
    };
    let list = workspace::target().join("bench/addresses");
    std::fs::create_dir_all(&list).context(|| format!("cannot create {}", list.display()))?;
    let mut script = String::from("set -e\n");
    for (nth, (object, addresses)) in by_object.iter().enumerate() {
        let path = list.join(nth.to_string());
        let file = std::fs::File::create(&path).context(|| format!("cannot write {}", path.display()))?;
        let mut file = std::io::BufWriter::new(file);
        for address in addresses {
            writeln!(file, "{address:#x}").context(|| format!("cannot write {}", path.display()))?;
        }
        file.flush().context(|| format!("cannot write {}", path.display()))?;
        script.push_str(&format!(
            "llvm-addr2line -i -f -C -e '{}' < '{}'\n",
            object.display(),
            path.display()
        ));
    }
    let llvm = Contender {
        name: "llvm-addr2line -i -f -C, of the same addresses".to_owned(),
        once: silent(move || {
            let mut command = Command::new("sh");
            command.args(["-c", &script]);
            command
        }),
    };
    let contenders = vec![
        functions("gristmill functions", &[]),
        functions("gristmill functions --inlined", &["--inlined"]),
        llvm,
    ];
    let measured = rounds::measure(contenders, options.rounds)?;
    let title =
        format!("inlined functions of a recording: {count} addresses in {} programs", by_object.len());
    Ok(rows(title, measured))
}

fn silent<'a>(command: impl Fn() -> Command + 'a) -> Box<dyn FnMut() -> Result<Run, Failure> + 'a> {
    Box::new(move || process::measure_silent(command()))
}

fn rows(title: String, measured: Vec<rounds::Measured<Run>>) -> Vec<Vec<String>> {
    let row = |one: rounds::Measured<Run>| {
        vec![
            format!("  {}", one.name),
            format!("{:.3}", one.best.whole.as_secs_f64()),
            format!("{:.3}", one.best.processors.as_secs_f64()),
            (one.best.peak / 1_000_000).to_string(),
        ]
    };
    [vec![title]].into_iter().chain(measured.into_iter().map(row)).collect()
}
