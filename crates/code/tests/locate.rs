//! Debug information is found in all places where it can be, and only that of the same build is taken.
#![cfg(target_os = "linux")]
// Tests may panic and print. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use gristmill_code::{Binary, BuildId, FileBytes, FileSource, FileSystem, FunctionOrigin, Locator, Wanted};
use harness::{chains, compile, directory, has_tools, open, run};

const TOOLS: [&str; 3] = ["gcc", "objcopy", "strip"];

/// A directory with a program, its stripped copy, and its debug information `mill.debug`.
fn separated(name: &str) -> PathBuf {
    let directory = directory(name);
    compile("gcc", "-g -O2 -Wl,--build-id", "mill.c", &directory.join("whole"));
    objcopy(&directory, &["--only-keep-debug", "whole", "mill.debug"]);
    run(Command::new("strip").args(["whole", "-o", "bare"]).current_dir(&directory));
    directory
}

fn objcopy(directory: &Path, arguments: &[&str]) {
    run(Command::new("objcopy").args(arguments).current_dir(directory));
}

/// Checks that a program has the same chains as another one that has its own debug information.
fn assert_same_chains(binary: &Binary, whole: &Path) {
    let whole = open(whole);
    let expected = chains(&whole);
    assert!(expected.iter().any(|(_, chain)| chain.len() > 1));
    for (address, chain) in expected {
        assert_eq!(binary.frames(address).unwrap(), chain, "{address:#x} {:?}", binary.problems());
    }
}

#[test]
fn a_debug_link_is_followed_to_all_places() {
    if !has_tools(&TOOLS) {
        return;
    }
    let directory = separated("debug-link");
    objcopy(&directory, &["--add-gnu-debuglink=mill.debug", "bare", "linked"]);
    let whole = directory.join("whole");
    let debug = directory.join("mill.debug");
    let global = directory.join("global");
    let below: PathBuf = directory.components().skip(1).collect();
    let places = [debug.clone(), directory.join(".debug/mill.debug"), global.join(below).join("mill.debug")];
    let contents = fs::read(&debug).unwrap();
    for place in &places {
        let _ = fs::remove_file(&debug);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, &contents).unwrap();
        let locator = Locator::new(FileSystem).debug_directory(&global);
        let binary = Binary::open(directory.join("linked"), &locator).unwrap();
        assert_eq!(binary.debug_file(), Some(place.as_path()));
        assert_same_chains(&binary, &whole);
        assert!(binary.problems().is_empty(), "{:?}", binary.problems());
        fs::remove_file(place).unwrap();
    }
    let binary = open(&directory.join("linked"));
    assert!(!binary.has_debug_info());
    assert!(
        binary.problems()[0].to_string().starts_with("mill.debug: no such file; tried "),
        "{:?}",
        binary.problems()
    );
}

#[test]
fn debug_information_of_another_build_is_not_taken() {
    if !has_tools(&TOOLS) {
        return;
    }
    let directory = separated("other-build");
    objcopy(&directory, &["--add-gnu-debuglink=mill.debug", "bare", "linked"]);
    compile("gcc", "-g -O1 -Wl,--build-id", "mill.c", &directory.join("other"));
    objcopy(&directory, &["--only-keep-debug", "other", "mill.debug"]);
    let binary = open(&directory.join("linked"));
    assert!(!binary.has_debug_info());
    assert!(
        binary.problems()[0].to_string().ends_with("it belongs to another build"),
        "{:?}",
        binary.problems()
    );

    // Without build ids the checksum decides.
    let options = "-g -O2 -Wl,--build-id=none";
    compile("gcc", options, "mill.c", &directory.join("whole"));
    objcopy(&directory, &["--only-keep-debug", "whole", "mill.debug"]);
    run(Command::new("strip").args(["whole", "-o", "bare"]).current_dir(&directory));
    objcopy(&directory, &["--add-gnu-debuglink=mill.debug", "bare", "linked"]);
    assert_same_chains(&open(&directory.join("linked")), &directory.join("whole"));
    let mut contents = fs::read(directory.join("mill.debug")).unwrap();
    contents.push(0);
    fs::write(directory.join("mill.debug"), contents).unwrap();
    assert!(!open(&directory.join("linked")).has_debug_info());
}

#[test]
fn debug_information_is_found_by_build_id() {
    if !has_tools(&TOOLS) {
        return;
    }
    let directory = separated("build-id");
    let id = open(&directory.join("bare")).build_id().unwrap().to_string();
    let place = directory.join("global/.build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::copy(directory.join("mill.debug"), &place).unwrap();
    let locator = Locator::new(FileSystem).debug_directory(directory.join("global"));
    let binary = Binary::open(directory.join("bare"), &locator).unwrap();
    assert_eq!(binary.debug_file(), Some(place.as_path()));
    assert_same_chains(&binary, &directory.join("whole"));
}

/// A server of debug information, and nothing else.
struct Server(BTreeMap<BuildId, FileBytes>);

impl FileSource for Server {
    fn open(&self, path: &Path) -> io::Result<Option<FileBytes>> {
        if path.file_name() == Some("bare".as_ref()) { FileSystem.open(path) } else { Ok(None) }
    }

    fn fetch(&self, build_id: &BuildId, wanted: Wanted) -> io::Result<Option<FileBytes>> {
        assert_eq!(wanted, Wanted::DebugInfo);
        Ok(self.0.get(build_id).cloned())
    }
}

#[test]
fn debug_information_is_fetched_by_build_id() {
    if !has_tools(&TOOLS) {
        return;
    }
    let directory = separated("fetch");
    let id = open(&directory.join("bare")).build_id().unwrap();
    let bytes = FileBytes::from(fs::read(directory.join("mill.debug")).unwrap());
    let locator = Locator::new(Server([(id, bytes)].into()));
    let binary = Binary::open(directory.join("bare"), &locator).unwrap();
    assert_same_chains(&binary, &directory.join("whole"));
}

#[test]
fn sections_compressed_in_all_ways_are_read() {
    if !has_tools(&TOOLS) {
        return;
    }
    let directory = directory("compressed");
    let whole = directory.join("whole");
    compile("gcc", "-g -O2", "mill.c", &whole);
    for format in ["zlib-gnu", "zlib-gabi", "zstd"] {
        let option = format!("--compress-debug-sections={format}");
        let output = Command::new("objcopy")
            .args([&option, "whole", format])
            .current_dir(&directory)
            .output()
            .unwrap();
        if !output.status.success() {
            println!("skipped: this objcopy does not write {format}");
            continue;
        }
        assert!(fs::metadata(directory.join(format)).unwrap().len() < fs::metadata(&whole).unwrap().len());
        assert_same_chains(&open(&directory.join(format)), &whole);
    }
}

#[test]
fn debug_information_that_programs_share_is_found() {
    if !has_tools(&["gcc", "g++", "dwz"]) {
        return;
    }
    let directory = directory("shared");
    for name in ["whole", "first", "second"] {
        let options = format!("-g -O2 -Wl,--build-id{}", if name == "second" { " -DSECOND" } else { "" });
        compile("g++", &options, "mill.cpp", &directory.join(name));
    }
    run(Command::new("dwz").args(["-m", "shared.debug", "first", "second"]).current_dir(&directory));
    assert!(directory.join("shared.debug").is_file());
    assert_same_chains(&open(&directory.join("first")), &directory.join("whole"));
    fs::remove_file(directory.join("shared.debug")).unwrap();
    let binary = open(&directory.join("first"));
    let _ = chains(&binary);
    assert!(binary.problems()[0].to_string().contains("shared.debug"), "{:?}", binary.problems());
}

#[test]
fn split_debug_information_is_found_in_files_and_packages() {
    if !has_tools(&["gcc"]) {
        return;
    }
    for version in [4, 5] {
        let directory = directory(&format!("split{version}"));
        let whole = directory.join("whole");
        compile("gcc", &format!("-g -gdwarf-{version} -O2"), "mill.c", &whole);
        let program = directory.join("mill");
        compile("gcc", &format!("-g -gdwarf-{version} -O2 -gsplit-dwarf"), "mill.c", &program);
        assert_same_chains(&open(&program), &whole);

        // For version 5, binutils has no tool, and that of LLVM 14 does not end on the output of GCC.
        if version == 4 && has_tools(&["dwp"]) {
            run(Command::new("dwp").args(["-e", "mill", "-o", "mill.dwp"]).current_dir(&directory));
        }
        // The .dwo goes elsewhere: first a mapping finds it, then only the package.
        let elsewhere = directory.join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        let entries: Vec<PathBuf> =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        for dwo in entries.iter().filter(|path| path.extension() == Some("dwo".as_ref())) {
            fs::rename(dwo, elsewhere.join(dwo.file_name().unwrap())).unwrap();
        }
        let package = directory.join("mill.dwp");
        if package.is_file() {
            assert_same_chains(&open(&program), &whole);
            fs::remove_file(package).unwrap();
        }
        let locator = Locator::new(FileSystem).map(&directory, &elsewhere);
        let moved = directory.join("moved");
        fs::create_dir_all(&moved).unwrap();
        fs::copy(&program, moved.join("mill")).unwrap();
        let binary = Binary::open(moved.join("mill"), &locator).unwrap();
        assert_same_chains(&binary, &whole);

        let binary = open(&program);
        let main = binary.functions_named("main")[0].range().start;
        assert_eq!(binary.frames(main).unwrap()[0].function(), Some("main"));
        assert!(binary.line(main).unwrap().is_some());
        assert!(
            binary.problems()[0].to_string().contains("mill.dwo: no such file"),
            "{:?}",
            binary.problems()
        );
    }
}

#[test]
fn a_stripped_program_still_has_functions() {
    if !has_tools(&TOOLS) {
        return;
    }
    let directory = separated("stripped");
    let (whole, bare) = (open(&directory.join("whole")), open(&directory.join("bare")));
    for name in ["main", "grind", "share", "by_weight"] {
        let function = whole.functions_named(name).into_iter().next().unwrap_or_else(|| panic!("{name}"));
        let found = bare.function(function.range().start + 1).unwrap();
        assert_eq!(found.range(), function.range(), "{name}");
        assert_eq!((found.name(), found.origin()), (None, FunctionOrigin::Unwinding));
    }
}

/// The stubs that `objdump -d` names, by address.
fn objdump_stubs(path: &Path) -> BTreeMap<u64, String> {
    let text = run(Command::new("objdump").arg("-d").arg(path));
    let labels = text.lines().filter_map(|line| line.strip_suffix(">:")?.split_once(" <"));
    let stubs = labels.filter(|(_, name)| name.ends_with("@plt"));
    stubs.map(|(address, name)| (u64::from_str_radix(address, 16).unwrap(), name.to_owned())).collect()
}

#[test]
fn stubs_have_the_names_of_what_they_call() {
    if !has_tools(&["gcc", "g++", "objdump"]) {
        return;
    }
    let directory = directory("stubs");
    for (name, compiler, options, source) in [
        ("plain", "gcc", "-O2", "mill.c"),
        ("cet", "gcc", "-O2 -fcf-protection=full -Wl,-z,ibtplt", "mill.c"),
        ("now", "gcc", "-O2 -fno-plt -Wl,-z,now", "mill.c"),
        ("fixed", "gcc", "-O2 -no-pie", "mill.c"),
        ("cpp", "g++", "-O2", "mill.cpp"),
        ("shared32", "gcc", "-m32 -O0 -fPIC -shared -nostdlib", "mill32.c"),
    ] {
        let path = directory.join(name);
        compile(compiler, options, source, &path);
        let binary = open(&path);
        let functions = binary.functions();
        let stubs = functions.iter().filter(|function| function.origin() == FunctionOrigin::Stubs);
        let found: BTreeMap<u64, String> =
            stubs.map(|stub| (stub.range().start, stub.name().unwrap().into_owned())).collect();
        let expected = objdump_stubs(&path);
        assert_eq!(found, expected, "{name}");
        assert!(!found.is_empty(), "{name}");
    }
}
