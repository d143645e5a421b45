//! `gristmill rewrite` as a user runs it.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::path::Path;

use harness::{
    CLEAN, assert_ends_quietly, assert_frugal, code, corpus, folder, gzip, malformed, run, run_in,
    run_measured, run_with, stderr, stdout, text,
};

/// A profile that cannot be rewritten: a cost is not a number.
const BROKEN: &[u8] = b"# callgrind format\nversion: 1\nevents: Ir\nfn=main\n1 10\n2 x\n3 y\n";

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn corpus_is_written_as_it_is() {
    let mut whole = 0;
    for path in corpus() {
        let output = run(&["rewrite", text(&path)]);
        if code(&output) == 0 {
            whole += 1;
            assert!(output.stdout == std::fs::read(&path).unwrap(), "{}", path.display());
            assert!(output.stderr.is_empty());
        } else {
            // Some dialects have lines without content, and Callgrind leaves an empty file.
            let said = stderr(&output);
            assert!(said.contains("--repair") || said.contains("the file is empty"), "{}", path.display());
            println!("refused: {}", stderr(&output));
        }
    }
    assert!(whole > 50, "{whole}");
}

#[test]
fn styles_go_there_and_back() {
    let folder = folder(&[("in", CLEAN)]);
    let output = run_in(
        folder.path(),
        &["rewrite", "--names", "plain", "--positions", "absolute", "in", "-o", "plain"],
    );
    assert_eq!((code(&output), stdout(&output).as_str(), stderr(&output).as_str()), (0, "", ""));
    let plain = std::fs::read_to_string(folder.path().join("plain")).unwrap();
    assert!(plain.contains("\ncfn=grind\n"), "{plain}");
    let output = run_in(folder.path(), &["rewrite", "--names", "compressed", "plain"]);
    assert_eq!(output.stdout, CLEAN);
}

#[test]
fn parts_are_left_out() {
    let profile = b"# callgrind format\n# secret\nversion: 1\npositions: instr line\nevents: Ir\nfl=/home/me/src/a.c\nfn=f\n\
        0x10 1 2\njump=3 0x20 2\n0x10 1\n0x20 2 4\n";
    let folder = folder(&[("in", profile)]);
    let output = run_in(
        folder.path(),
        &["rewrite", "--drop", "jumps,instr", "--drop", "comments", "--strip-prefix", "/home/me/src", "in"],
    );
    assert_eq!(
        stdout(&output),
        "# callgrind format\nversion: 1\npositions: line\nevents: Ir\nfl=a.c\nfn=f\n1 2\n+1 4\n"
    );
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn pipes_plain_and_packed() {
    for input in [CLEAN.to_vec(), gzip(CLEAN)] {
        let output = run_with(&["rewrite", "-"], &input);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
        assert_eq!(output.stdout, CLEAN);
    }
}

#[test]
fn broken_profile_is_refused_and_leaves_nothing() {
    let folder = folder(&[("in", BROKEN)]);
    let output = run_in(folder.path(), &["rewrite", "in", "-o", "out"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    let said = stderr(&output);
    assert!(said.starts_with("gristmill: in:6:"), "{said}");
    assert!(said.contains("hint: ") && said.contains("--repair"), "{said}");
    assert_eq!(names(folder.path()), ["in"]);
}

#[test]
fn other_files_are_refused() {
    let folder = folder(&[("in", b"{\"a\": 1}\n")]);
    for arguments in [&["rewrite", "in", "-o", "out"][..], &["rewrite", "--repair", "in", "-o", "out"]] {
        let output = run_in(folder.path(), arguments);
        assert_eq!(code(&output), 2);
        let said = stderr(&output);
        assert!(said.contains("not a Callgrind profile") && !said.contains("--repair"), "{said}");
        assert_eq!(names(folder.path()), ["in"]);
    }
}

#[test]
fn repairs_are_reported() {
    let folder = folder(&[("in", BROKEN), ("clean", CLEAN)]);
    let output = run_in(folder.path(), &["rewrite", "--repair", "in", "-o", "out"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""));
    assert_eq!(stderr(&output), "gristmill: in:6: unreadable costs became 0 (2 times)\n");
    let again = run_in(folder.path(), &["lint", "--strict", "out"]);
    assert_eq!(code(&again), 0, "{}", stdout(&again));

    let output = run_in(folder.path(), &["rewrite", "--repair", "--positions", "absolute", "clean"]);
    assert_eq!((code(&output), output.stdout.as_slice()), (0, CLEAN));
    assert_eq!(stderr(&output), "gristmill: clean: no repair was necessary\n");
}

#[test]
fn damaged_packing_is_refused_unless_repaired() {
    // Stored, so that the beginning survives.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut encoder, CLEAN).unwrap();
    let packed = encoder.finish().unwrap();
    let folder = folder(&[("in.gz", &packed[..packed.len() - 30])]);
    let output = run_in(folder.path(), &["rewrite", "in.gz", "-o", "out"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("in.gz: the gzip data ends before it is complete"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("--repair"));
    assert_eq!(names(folder.path()), ["in.gz"]);

    let output = run_in(folder.path(), &["rewrite", "--repair", "in.gz", "-o", "out"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("the gzip data ends"), "{}", stderr(&output));
    assert!(std::fs::read(folder.path().join("out")).unwrap().starts_with(&CLEAN[..60]));
}

#[test]
fn other_files_are_written_when_one_is_refused() {
    let folder = folder(&[("broken", BROKEN), ("clean", CLEAN)]);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let output = run_in(folder.path(), &["rewrite", "broken", "missing", "clean", "-o", "out"]);
    assert_eq!(code(&output), 2);
    assert_eq!(names(&out), ["clean"]);
    assert_eq!(std::fs::read(out.join("clean")).unwrap(), CLEAN);
}

#[test]
fn existing_output_needs_force() {
    let folder = folder(&[("in", CLEAN), ("out", b"precious")]);
    let output = run_in(folder.path(), &["rewrite", "in", "-o", "out"]);
    assert_eq!(code(&output), 2);
    assert_eq!(std::fs::read(folder.path().join("out")).unwrap(), b"precious");
    // A refusal does not change the old file, even with --force.
    std::fs::write(folder.path().join("broken"), BROKEN).unwrap();
    let output = run_in(folder.path(), &["rewrite", "--force", "broken", "-o", "out"]);
    assert_eq!(code(&output), 2);
    assert_eq!(std::fs::read(folder.path().join("out")).unwrap(), b"precious");

    let output = run_in(folder.path(), &["rewrite", "--force", "in", "-o", "out"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(std::fs::read(folder.path().join("out")).unwrap(), CLEAN);
    // In place.
    let output = run_in(folder.path(), &["rewrite", "--force", "--names", "plain", "in", "-o", "in"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        String::from_utf8(std::fs::read(folder.path().join("in")).unwrap()).unwrap().contains("fn=main\n")
    );
}

#[cfg(unix)]
#[test]
fn broken_pipe_is_no_error() {
    let mut profile = CLEAN.to_vec();
    for line in 0..200_000 {
        profile.extend(format!("{line} 1\n").bytes());
    }
    let folder = folder(&[("in", &profile)]);
    for arguments in [&["rewrite", "in"][..], &["rewrite", "--repair", "in"]] {
        assert_ends_quietly(folder.path(), arguments);
    }
}

/// `true` if this process and its children ignore a signal, as Ctrl-C in the background of a script.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 << (signal - 1) != 0
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_nothing_behind() {
    use std::process::{Command, Stdio};

    let mut profile = CLEAN.to_vec();
    for line in 0..2_000_000 {
        profile.extend(format!("{line} 1\n").bytes());
    }
    let folder = folder(&[("in", &profile)]);
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        if is_ignored(number) {
            println!("skipped: {signal} is ignored here");
            continue;
        }
        let mut child = harness::gristmill(&["rewrite", "in", "-o", "out"])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while names(folder.path()).len() == 1 {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it wrote");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), stderr(&output).as_str()), (128 + number, ""));
        assert_eq!(names(folder.path()), ["in"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_named() {
    let folder = folder(&[("in", CLEAN)]);
    for arguments in [&["rewrite", "in"][..], &["rewrite", "in", "-o", "/dev/full"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = harness::gristmill(arguments).current_dir(folder.path()).stdout(full).output().unwrap();
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("No space left on device"), "{}", stderr(&output));
    }
}

#[test]
fn malformed_files_are_rewritten_in_little_memory() {
    let folder = folder(&[]);
    let out = folder.path().join("out");
    for path in malformed() {
        for options in [&[][..], &["--repair"], &["--repair", "--names", "plain", "--positions", "absolute"]]
        {
            let arguments = [&["rewrite", "--force", text(&path), "-o", text(&out)], options].concat();
            let (output, peak) = run_measured(&arguments);
            // The output is not smaller than the input, up to a header.
            let size = std::fs::metadata(&path).unwrap().len();
            let written = std::fs::metadata(&out).map_or(0, |metadata| metadata.len());
            assert_frugal(&path, "rewrite", &output, peak, size.max(written));
            assert_ne!(code(&output), 1, "{}", path.display());
            if code(&output) == 0 && options.contains(&"--repair") {
                let strict = run(&["lint", "--strict", "--format", "json", text(&out)]);
                let findings = &harness::json(&strict)["files"][0]["findings"];
                let deviates = findings.as_array().unwrap().iter().any(|finding| finding["rule"] == "strict");
                assert!(!deviates, "{}: {findings:#}", path.display());
            }
            let _ = std::fs::remove_file(&out);
        }
    }
}
