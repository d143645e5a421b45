//! A large file that is cut short while it is read: the program says so, and no signal ends it.
#![cfg(test)]
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Large enough to be mapped.
fn large_profile() -> String {
    let mut text = "events: Ir\nfl=(1) a.c\n".to_owned();
    for function in 0..300_000 {
        writeln!(text, "fn=({function}) some_function_{function}\n12 3\n+1 4\n+1 5\n+1 6\n+1 7\n+1 8")
            .unwrap();
    }
    assert!(text.len() > 17 << 20);
    text
}

#[test]
fn truncated_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("callgrind.out.1");
    let text = large_profile();
    let mut report_count = 0;
    // The file is truncated before, during or after the reading.
    for pause in (0..40).map(|nth| Duration::from_millis(4 * nth)) {
        std::fs::write(&path, &text).unwrap();
        // As in the background of a script, where Ctrl-C is ignored, or not.
        let ignoring = if report_count % 2 == 0 { "" } else { "trap '' INT; " };
        let mut program = Command::new("sh")
            .args(["-c", &format!("{ignoring}exec \"$@\""), "sh", env!("CARGO_BIN_EXE_gristmill")])
            .args(["functions", "-n", "1"])
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(pause);
        OpenOptions::new().write(true).open(&path).and_then(|file: File| file.set_len(20)).unwrap();
        let mut message = String::new();
        program.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        let status = program.wait().unwrap();
        match status.code() {
            Some(2) => {
                assert!(message.contains("a file was truncated while it was read"), "{message}");
                report_count += 1;
            }
            code => assert_eq!(code, Some(0), "{status}: {message}"),
        }
    }
    assert!(report_count > 1, "only {report_count} runs reached the end of the file");
}
