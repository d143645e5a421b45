//! The source files that a profile names: which are read, and which are not.

#![cfg(all(test, target_os = "linux"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used)]

mod harness;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use harness::*;

const FORMATS: [&[&str]; 4] =
    [&["--style", "callgrind"], &["--style", "cachegrind"], &["--format", "json"], &["--format", "html"]];

/// A profile with one line in each file.
fn profile(files: &[&str]) -> String {
    let functions = files.iter().enumerate().map(|(index, file)| format!("fl={file}\nfn=f{index}\n1 5\n"));
    format!("cmd: x\nevents: Ir\n{}summary: {}\n", functions.collect::<String>(), 5 * files.len())
}

/// Runs a program that is ended if it takes too long.
fn run_limited(folder: &Path, program: &Path, arguments: &[&str]) -> Output {
    Command::new("timeout").arg("60").arg(program).args(arguments).current_dir(folder).output().unwrap()
}

fn annotate(folder: &Path, arguments: &[&str]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_gristmill"));
    run_limited(folder, program, &[&["annotate", "p"], arguments].concat())
}

#[test]
fn only_regular_files_are_read_up_to_their_size() {
    let text = profile(&[
        "pipe",
        "link",
        "/dev/zero",
        "/proc/self/status",
        "/proc/kmsg",
        "directory",
        "large",
        "a.c",
    ]);
    let folder = folder(&[("p", text.as_bytes()), ("a.c", b"int apple;\n")]);
    let path = folder.path();
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
    symlink("pipe", path.join("link")).unwrap();
    std::fs::create_dir(path.join("directory")).unwrap();
    std::fs::File::create(path.join("large")).unwrap().set_len((64 << 20) + 1).unwrap();
    for format in FORMATS {
        let output = annotate(path, format);
        assert_eq!(code(&output), 0, "{format:?}");
        let (shown, said) = (stdout(&output), stderr(&output));
        assert!(shown.contains("apple"), "{format:?}: {shown}");
        // It is there, but its size is unknown.
        assert!(!shown.contains("VmPeak"), "{format:?}: {shown}");
        for name in ["pipe", "link", "/dev/zero", "directory"] {
            let reason = format!("{name}: cannot be read: is no regular file");
            assert!(said.contains(&reason), "{format:?}: {said}");
        }
        assert!(said.contains("large: cannot be read: is larger than 64 MiB"), "{format:?}: {said}");
    }
    for name in ["callgrind_annotate", "cg_annotate"] {
        symlink(env!("CARGO_BIN_EXE_gristmill"), path.join(name)).unwrap();
        let output = run_limited(path, &path.join(name), &["p"]);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        assert!(stdout(&output).contains("apple"), "{name}: {}", stdout(&output));
        assert!(!stdout(&output).contains("VmPeak"), "{name}: {}", stdout(&output));
    }
}

#[test]
fn a_pipe_is_a_profile_and_read_once() {
    let one = "events: Ir\nfl=a.c\nfn=apple\n1 5\n";
    let folder = folder(&[("p", one.as_bytes())]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || std::fs::write(pipe, one.replace("apple", "banana")));
    let output = annotate(folder.path(), &["pipe"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    writer.join().unwrap().unwrap();
    assert!(stdout(&output).contains("apple") && stdout(&output).contains("banana"), "{}", stdout(&output));
}

#[test]
fn sources_outside_the_allowed_directories_are_not_read() {
    let folder = folder(&[("beside.c", b"int cherry;\n")]);
    let path = folder.path();
    for directory in ["below", "also", "below-not", "map"] {
        std::fs::create_dir(path.join(directory)).unwrap();
    }
    for (file, text) in [
        ("below/a.c", "int apple;\n"),
        ("also/b.c", "int banana;\n"),
        ("below-not/c.c", "int cherry;\n"),
        ("map/m.c", "int cherry;\n"),
        ("below/r.c", "int raisin;\n"),
        ("r.c", "int cherry;\n"),
    ] {
        std::fs::write(path.join(file), text).unwrap();
    }
    symlink("../beside.c", path.join("below/link.c")).unwrap();
    symlink("below", path.join("way")).unwrap();
    let whole = path.join("beside.c");
    let outside =
        ["beside.c", "below/../beside.c", "below/link.c", "below-not/c.c", "/etc/passwd", "/gone/m.c"];
    let mut files = vec!["below/a.c", "way/a.c", "also/b.c", "r.c", "gone.c"];
    files.extend(outside);
    // A layout may shorten this one.
    files.push(text(&whole));
    std::fs::write(path.join("p"), profile(&files)).unwrap();
    let options =
        ["--sources-below", "way", "--sources-below", "also", "-I", "below", "--source-map", "/gone=map"];
    for format in FORMATS {
        let output = annotate(path, &[&options, format].concat());
        assert_eq!(code(&output), 0, "{format:?}: {}", stderr(&output));
        let (shown, said) = (stdout(&output), stderr(&output));
        for word in ["apple", "banana", "raisin"] {
            assert!(shown.contains(word), "{format:?} {word}: {shown}");
        }
        for word in ["cherry", "root:"] {
            assert!(!shown.contains(word), "{format:?} {word}: {shown}");
        }
        for name in outside {
            let reason = format!("{name}: cannot be read: is not below a directory of `--sources-below`");
            assert!(said.contains(&reason), "{format:?} {name}: {said}");
        }
        assert!(!said.contains("r.c: cannot be read"), "{format:?}: {said}");
        // Without the option, they are.
        assert!(stdout(&annotate(path, format)).contains("cherry"), "{format:?}");
    }
    // `diff` reads sources, too.
    let shown = |options: &[&str]| {
        let output = run_in(path, &[&["diff", "p", "p", "--function", "f5"], options].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output) + &stderr(&output)
    };
    assert!(shown(&[]).contains("cherry"), "{}", shown(&[]));
    assert!(!shown(&options).contains("cherry"), "{}", shown(&options));
    assert!(shown(&options).contains("is not below a directory"), "{}", shown(&options));
    let output = annotate(path, &["--sources-below", "nowhere"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--sources-below nowhere: No such file"), "{}", stderr(&output));
}
