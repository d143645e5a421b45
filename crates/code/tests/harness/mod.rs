//! Programs that the tests compile, and other tools that they ask.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use gristmill_code::{Binary, FileSystem, Frame, Locator, Syntax};

/// Returns `true` if all checks have to run, and all cases of each.
pub(crate) fn is_thorough() -> bool {
    std::env::var_os("GRISTMILL_CI").is_some()
}

/// Returns `true` if all of these programs are installed. Otherwise the test is skipped, or fails where all checks have to run.
pub(crate) fn has_tools(tools: &[&str]) -> bool {
    let missing: Vec<&&str> = tools.iter().filter(|tool| find(tool).is_none()).collect();
    if missing.is_empty() {
        return true;
    }
    assert!(!is_thorough(), "not installed: {missing:?}");
    println!("skipped; not installed: {missing:?}");
    false
}

fn find(tool: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|directory| directory.join(tool)).find(|path| path.is_file())
}

/// Returns an empty directory for a test.
pub(crate) fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("code").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Returns the source of a test program.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Runs a command, which must succeed, and returns what it prints.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles a test program with the options of a line of text.
pub(crate) fn compile(compiler: &str, options: &str, source_name: &str, output: &Path) {
    let mut command = Command::new(compiler);
    command.args(options.split_whitespace()).arg(source(source_name)).arg("-o").arg(output);
    run(command.current_dir(output.parent().unwrap()));
}

/// Opens a program with what is beside it and in the debug directory of the system.
pub(crate) fn open(path: &Path) -> Binary {
    let locator = Locator::new(FileSystem).debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
    Binary::open(path, &locator).unwrap()
}

/// A program of the tests: its name, compiler, options and source.
pub(crate) struct Build {
    pub(crate) name: &'static str,
    pub(crate) compiler: &'static str,
    pub(crate) options: &'static str,
    pub(crate) source: &'static str,
}

impl Build {
    pub(crate) fn tools(&self) -> &'static [&'static str] {
        match self.compiler {
            "gcc" => &["gcc"],
            "g++" => &["g++"],
            _ => &["rustc", "cc"],
        }
    }

    /// Compiles it into a directory.
    pub(crate) fn compile(&self, directory: &Path) -> PathBuf {
        let path = directory.join(self.name);
        compile(self.compiler, self.options, self.source, &path);
        path
    }
}

const fn build(
    name: &'static str,
    compiler: &'static str,
    options: &'static str,
    source: &'static str,
) -> Build {
    Build { name, compiler, options, source }
}

/// Programs of all kinds that compilers write.
const BUILDS: [Build; 16] = [
    build("c-O0", "gcc", "-g -O0", "mill.c"),
    build("c-O2", "gcc", "-g -O2", "mill.c"),
    build("c-O3-fixed", "gcc", "-g -O3 -march=x86-64-v3 -no-pie", "mill.c"),
    build("c-lto", "gcc", "-g -O2 -flto", "mill.c"),
    build("c-static", "gcc", "-g -O2 -static", "mill.c"),
    build("c-dwarf4", "gcc", "-g -gdwarf-4 -O2", "mill.c"),
    build("c-split5", "gcc", "-g -gsplit-dwarf -O2", "mill.c"),
    build("c-split4", "gcc", "-g -gdwarf-4 -gsplit-dwarf -O2", "mill.c"),
    build("c-zlib", "gcc", "-g -O2 -gz=zlib", "mill.c"),
    build("c-32", "gcc", "-g -O2 -m32 -shared -fPIC -nostdlib", "mill32.c"),
    build("cpp-O0", "g++", "-g -O0", "mill.cpp"),
    build("cpp-O2", "g++", "-g -O2", "mill.cpp"),
    build("rust-O0", "rustc", "--edition=2021 -g", "mill.rs"),
    build("rust-O2", "rustc", "--edition=2021 -g -O", "mill.rs"),
    build("rust-lto", "rustc", "--edition=2021 -g -O -C lto=fat -C codegen-units=1", "mill.rs"),
    build("rust-v0", "rustc", "--edition=2021 -g -O -C symbol-mangling-version=v0", "mill.rs"),
];

/// Returns the programs to compile: all, or a sample that compiles fast.
pub(crate) fn builds() -> impl Iterator<Item = &'static Build> {
    const SAMPLE: [&str; 4] = ["c-O2", "c-32", "c-split5", "cpp-O2"];
    let chosen = BUILDS.iter().filter(|build| is_thorough() || SAMPLE.contains(&build.name));
    chosen.filter(|build| has_tools(build.tools()))
}

/// Returns the chain of each instruction of a program.
pub(crate) fn chains(binary: &Binary) -> Vec<(u64, Vec<Frame>)> {
    let functions = binary.functions();
    let instructions =
        functions.iter().flat_map(|function| binary.instructions(function.range(), Syntax::Att).unwrap());
    instructions.map(|i| (i.address(), binary.frames(i.address()).unwrap())).collect()
}

/// Libraries and programs of the machine.
pub(crate) fn installed() -> Vec<PathBuf> {
    let candidates = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3", "/usr/bin/perl", "/bin/bash"];
    let count = if is_thorough() { candidates.len() } else { 1 };
    candidates.iter().take(count).map(PathBuf::from).filter(|path| path.is_file()).collect()
}
