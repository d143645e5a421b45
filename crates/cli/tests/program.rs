//! The program as a user runs it: streams, files, pipes, exit status.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used)]

mod harness;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use harness::{gristmill, gzip, run, run_with, stderr, text};

const PROFILE: &[u8] = b"# callgrind format\nevents: Ir\nfn=main\n1 10\n";

#[test]
fn usage_errors_exit_2() {
    for arguments in [
        &[][..],
        &["info"],
        &["lint"],
        &["nonsense"],
        &["lint", "--strict", "--practice", "x"],
        &["info", "--max-size", "much", "x"],
        &["info", "-", "-"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn help_and_version_exit_0() {
    for arguments in [&["--help"][..], &["-h"], &["lint", "--help"], &["--version"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty());
        assert!(String::from_utf8(output.stdout).unwrap().contains("gristmill"));
    }
}

#[test]
fn missing_file_has_a_hint() {
    let output = run(&["info", "no/such/file"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("no/such/file: no such file\n"), "{said}");
    assert!(said.contains("  hint: "), "{said}");
}

#[test]
fn other_files_are_read_when_one_fails() {
    let output = run(&["info", "no/first", "no/second"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("no/first") && said.contains("no/second"), "{said}");
}

#[test]
fn directory_is_no_profile() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(&["info", text(directory.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is a directory"));
}

#[test]
fn standard_input_plain_and_packed() {
    for input in [PROFILE.to_vec(), gzip(PROFILE)] {
        let output = run_with(&["info", "-"], &input);
        assert_eq!(stderr(&output), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn bomb_on_standard_input_is_refused() {
    let output = run_with(&["info", "--max-size", "100K", "-"], &gzip(&vec![0; 1 << 20]));
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("<stdin>: the gzip data expands to more than 100KiB"), "{said}");
    assert!(said.contains("--max-size"), "{said}");
}

#[test]
fn color_only_when_asked_for_in_a_pipe() {
    let colored = |output: &Output| output.stderr.contains(&0x1b);
    assert!(!colored(&run(&["info", "no/such"])));
    assert!(!colored(&run(&["--color", "never", "info", "no/such"])));
    assert!(colored(&run(&["--color", "always", "info", "no/such"])));
    let colored = |words: &[&str]| run(words).stdout.contains(&0x1b);
    for help in [&["help"][..], &["help", "info"], &["info", "--help"], &["gate", "-h"]] {
        assert!(!colored(&[&["--color", "never"], help].concat()), "{help:?}");
        assert!(colored(&[&["--color", "always"], help].concat()), "{help:?}");
        assert!(colored(&[help, &["--color=always"]].concat()), "{help:?}");
    }
}

#[test]
fn manual_pages_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(&["man", text(directory.path())]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(directory.path().join("gristmill.1").is_file());
    assert!(directory.path().join("gristmill-rewrite.1").is_file());
}

#[test]
fn existing_output_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (directory.path().join("in"), directory.path().join("out"));
    std::fs::write(&input, PROFILE).unwrap();
    std::fs::write(&output, "precious").unwrap();
    for (target, message) in [(&output, "exists already"), (&input, "is one of the inputs")] {
        let result = run(&["rewrite", text(&input), "-o", text(target)]);
        assert_eq!(result.status.code(), Some(2));
        assert!(stderr(&result).contains(message), "{}", stderr(&result));
        assert!(stderr(&result).contains("--force"));
    }
    assert_eq!(std::fs::read(&input).unwrap(), PROFILE);
    assert_eq!(std::fs::read(&output).unwrap(), b"precious");
}

/// The reader closes the pipe before anything is written, as `head -0` does.
#[cfg(unix)]
#[test]
fn broken_pipe_is_no_error() {
    for arguments in [&["man"][..], &["completions", "bash"], &["--help"], &["--version"]] {
        let mut child = gristmill(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(stderr(&output), "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_behind_standard_output_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = gristmill(&["man"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("standard output: No space left on device"), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_size_of_files_is_an_error_like_a_full_disk() {
    let folder = harness::folder(&[]);
    std::fs::create_dir(folder.path().join("pages")).unwrap();
    for (arguments, place) in [("man > x", "standard output"), ("man pages", "pages/gristmill")] {
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit -f 1 && exec \"$0\" {arguments}"), env!("CARGO_BIN_EXE_gristmill")])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains(place) && said.contains("File too large"), "{arguments}: {said}");
        let mut left = std::fs::read_dir(folder.path().join("pages")).unwrap();
        let is_whole = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.ends_with(".1"));
        assert!(left.all(|entry| is_whole(&entry.unwrap().file_name())), "{arguments}");
    }
}

/// Nothing that is asked for is lost in silence.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_cannot_be_written_to_is_an_error() {
    let config = b"[[benchmark]]\nname = \"a\"\nprofile = \"p\"\n";
    let cachegrind = b"cmd: x\nevents: Ir\nfl=a.c\nfn=f\n1 5\nsummary: 5\n";
    let folder = harness::folder(&[("p", PROFILE), ("q", cachegrind), ("gristmill.toml", config)]);
    for arguments in [
        "gate run",
        "gate run --format json",
        "functions p",
        "functions p --format json",
        "functions p --format csv",
        "functions p --format markdown",
        "show main p",
        "tree p",
        "tree p --format json",
        "annotate p",
        "annotate p --format json",
        "annotate p --format html",
        "diff p p",
        "diff p p --format json",
        "diff p p --format html",
        "lint p",
        "lint p --format json",
        "info p",
        "info p --format json",
        "merge p",
        "rewrite p",
        "rewrite --repair p",
        "completions bash",
        "man",
        "--help",
        "functions --help",
        "--version",
    ] {
        for (output, reason) in [
            (">&-", "is closed"),
            (">/dev/full", "No space left on device"),
            ("1</dev/null", "Bad file descriptor"),
        ] {
            let ran = Command::new("sh")
                .args(["-c", &format!("\"$0\" {arguments} {output}"), env!("CARGO_BIN_EXE_gristmill")])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let said = stderr(&ran);
            assert!(said.contains(&format!("standard output: {reason}")), "{arguments} {output}: {said}");
            assert_eq!(ran.status.code(), Some(2), "{arguments} {output}");
        }
    }
    // A stand-in has the exit code of its original.
    for (name, status) in [("callgrind_annotate", 255), ("cg_annotate", 1), ("cg_merge", 1)] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), &link).unwrap();
        let ran =
            Command::new("sh").args(["-c", "\"$0\" q >&-", text(&link)]).current_dir(folder.path()).output();
        let ran = ran.unwrap();
        assert!(stderr(&ran).contains("standard output: is closed"), "{name}: {}", stderr(&ran));
        assert_eq!(ran.status.code(), Some(status), "{name}");
    }
    // What is asked for goes to a file.
    let ran = Command::new("sh")
        .args(["-c", "\"$0\" merge p -o sum >&-", env!("CARGO_BIN_EXE_gristmill")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), stderr(&ran).as_str()), (Some(0), ""));
    assert!(folder.path().join("sum").is_file());
}

#[cfg(unix)]
#[test]
fn named_pipe_is_read_like_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child =
        gristmill(&["info", text(&pipe)]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening blocks until the program opens the other end.
    std::fs::write(&pipe, gzip(PROFILE)).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
}

/// A pipe that nobody writes to is not waited for in silence.
#[cfg(unix)]
#[test]
fn a_pipe_without_a_writer_is_named() {
    use std::io::{BufRead as _, BufReader, Read as _};

    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child =
        gristmill(&["info", text(&pipe)]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, format!("gristmill: {}: waiting for data: it is a pipe or a device\n", pipe.display()));
    std::fs::write(&pipe, PROFILE).unwrap();
    line.clear();
    said.read_to_string(&mut line).unwrap();
    assert_eq!(line, "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A header that claims a dictionary or window of gigabytes is read with the memory that the data needs.
#[cfg(target_os = "linux")]
#[test]
fn claimed_dictionaries_cost_no_memory() {
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
    xz.write_all(PROFILE).unwrap();
    let mut xz = xz.finish().unwrap();
    // The header of the block: its length in words, flags, then filter, size of its properties, dictionary.
    let header = 12..12 + 4 * (usize::from(xz[12]) + 1);
    let dictionary = header.start + 4;
    assert_eq!(xz[dictionary - 2..dictionary], [0x21, 1]);
    xz[dictionary] = 40;
    let checksum = header.end - 4;
    let mut crc = flate2::Crc::new();
    crc.update(&xz[header.start..checksum]);
    xz[checksum..header.end].copy_from_slice(&crc.sum().to_le_bytes());

    // A frame with a window of 2 GiB and one raw block.
    let mut zstd = b"\x28\xb5\x2f\xfd\x00\xa8".to_vec();
    let length = u32::try_from(PROFILE.len()).unwrap();
    zstd.extend(&(length << 3 | 1).to_le_bytes()[..3]);
    zstd.extend(PROFILE);

    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in [("xz", xz), ("zstd", zstd)] {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        // 200 MB of address space.
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 200000 && exec \"$0\" info \"$1\"", env!("CARGO_BIN_EXE_gristmill")])
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(stderr(&output), "", "{name}");
        assert_eq!(output.status.code(), Some(0), "{name}");
    }
}

/// A limit of processes, as containers have it, or little memory: no more threads can be started.
#[cfg(target_os = "linux")]
#[test]
fn without_threads_the_work_is_done_all_the_same() {
    let config =
        "[[benchmark]]\nname = \"a\"\nprofile = \"a\"\n[[benchmark]]\nname = \"b\"\nprofile = \"b\"\n";
    let folder = harness::folder(&[("a", PROFILE), ("b", PROFILE), ("gristmill.toml", config.as_bytes())]);
    let run = |arguments: &str, stack: Option<&str>| {
        let mut command = gristmill(&arguments.split(' ').collect::<Vec<_>>());
        // More than the address space has: the system refuses each thread.
        if let Some(stack) = stack {
            command.env("RUST_MIN_STACK", stack);
        }
        let output = command.current_dir(folder.path()).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    run("gate bless", None);
    for arguments in
        ["functions a", "merge a b", "merge --median a b", "lint /dev/null", "gate bless", "gate run -j 4"]
    {
        let expected = run(arguments, None);
        assert_eq!(run(arguments, Some("140737488355328")), expected, "{arguments}");
    }
}

/// With any limit of memory the exit status is 0 or 2, and no part of an output is left.
#[cfg(target_os = "linux")]
#[test]
fn where_memory_runs_out_nothing_is_left() {
    let lines: String = (0..20_000).map(|line| format!("fn=f{line}\n{line} 1\n")).collect();
    let profile = format!("events: Ir\n{lines}");
    let folder = harness::folder(&[("in", profile.as_bytes())]);
    let mut failures = 0;
    for arguments in
        ["rewrite --names compressed in -o out", "merge --keep-parts in -o out", "diff in in -o out.html"]
    {
        for limit in (20_000..120_000).step_by(4_000) {
            let output = Command::new("sh")
                .args([
                    "-c",
                    &format!("ulimit -v {limit} && exec \"$0\" {arguments}"),
                    env!("CARGO_BIN_EXE_gristmill"),
                ])
                .current_dir(folder.path())
                .env_remove("RUST_BACKTRACE")
                .output()
                .unwrap();
            let (code, said) = (output.status.code(), stderr(&output));
            // With the smallest limits, the system cannot load the program.
            let is_loaded = code != Some(127) && !(code.is_none() && said.is_empty());
            let left: Vec<_> =
                std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
            let expected = if code == Some(0) { 2 } else { 1 };
            assert_eq!(left.len(), expected, "{arguments}, {limit}: {left:?} {said}");
            if is_loaded && code != Some(0) {
                assert_eq!(code, Some(2), "{arguments}, {limit}: {said}");
                assert!(said.contains("memory"), "{arguments}, {limit}: {said}");
                failures += 1;
            }
            left.iter()
                .filter(|name| *name != "in")
                .for_each(|it| std::fs::remove_file(folder.path().join(it)).unwrap());
        }
    }
    assert!(failures > 2, "only {failures} runs lacked memory");
}

/// The server sends one byte, and nothing more.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_download_and_leaves_nothing() {
    // A file of ELF with a build id, in a note behind the only program header.
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.resize(16, 0);
    elf.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    [0_u64, 64, 0].iter().for_each(|number| elf.extend(number.to_le_bytes()));
    elf.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]);
    [120, 0, 0, 20, 20, 4_u64].iter().for_each(|number| elf.extend(number.to_le_bytes()));
    elf.extend(b"\x04\0\0\0\x04\0\0\0\x03\0\0\0GNU\0\x01\x02\x03\x04");
    let folder = harness::folder(&[("mill", &elf)]);
    let program = folder.path().join("mill");
    let profile = format!("positions: instr\nevents: Ir\nob={}\nfn=main\n0x10 1\n", program.display());
    std::fs::write(folder.path().join("p"), profile).unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let child = gristmill(&["info", "--programs", "--debuginfod", "p"])
        .current_dir(folder.path())
        .env("DEBUGINFOD_URLS", format!("http://{}/", server.local_addr().unwrap()))
        .env("DEBUGINFOD_CACHE_PATH", folder.path().join("cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut connection = server.accept().unwrap().0;
    connection.write_all(b"HTTP/1.1 200 OK\r\n\r\nx").unwrap();
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
    let mut left = std::fs::read_dir(folder.path().join("cache/01020304")).unwrap();
    assert!(left.next().is_none());
}
