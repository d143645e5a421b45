//! Extracts from a log what is needed to reproduce a failure: the input and the reason.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of an input that are printed; a longer input is minimised first.
pub(super) const SHOWN_INPUT: usize = 4 << 10;
/// Lines of a panic message that are printed: compared records are long.
const SHOWN_LINES: usize = 8;
const SHOWN_COLUMNS: usize = 300;

/// The input that libFuzzer says it wrote, or else the newest since the search began.
pub(super) fn artifact(log: &str, folder: &Path, since: SystemTime) -> Option<PathBuf> {
    let named = log.lines().rev().find_map(|line| line.split_once("Test unit written to "));
    if let Some(path) = named.map(|(_, path)| PathBuf::from(path.trim())).filter(|path| path.is_file()) {
        return Some(path);
    }
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let made = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    made.filter(|(time, _)| *time >= since).max().map(|(_, path)| path)
}

/// Returns the reason in a few lines: the panic, or else libFuzzer's own words.
pub(super) fn reason(log: &str) -> String {
    let mut lines: Vec<&str> = log
        .lines()
        .skip_while(|line| !(line.starts_with("thread ") && line.contains(" panicked at ")))
        .take_while(|line| !ends_message(line))
        .collect();
    if lines.is_empty() {
        lines = log
            .lines()
            .filter(|line| line.contains("ERROR: libFuzzer") || line.contains("SUMMARY:"))
            .collect();
    }
    let mut reason: Vec<String> = lines.iter().take(SHOWN_LINES).map(|line| cut(line)).collect();
    if lines.len() > SHOWN_LINES {
        reason.push(format!("… {} more lines", lines.len() - SHOWN_LINES));
    }
    reason.join("\n")
}

/// Returns `true` for the first line after a panic message.
fn ends_message(line: &str) -> bool {
    line.starts_with("note: ") || line.starts_with("stack backtrace:") || line.starts_with("==")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(SHOWN_COLUMNS) {
        Some((end, _)) => format!("{}… {} bytes more", &line[..end], line.len() - end),
        None => line.to_owned(),
    }
}

/// The input in characters that any log keeps, in the form that `printf` and string literals know.
pub(super) fn shown_input(input: &[u8]) -> String {
    let shown = input[..input.len().min(SHOWN_INPUT)].escape_ascii();
    match input.len().saturating_sub(SHOWN_INPUT) {
        0 => format!("b\"{shown}\""),
        more => format!("b\"{shown}\" and {more} bytes more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_panic_is_cut() {
        let long = "x".repeat(5000);
        let log = format!(
            "INFO: Seed: 1\nthread '<unnamed>' (7) panicked at fuzz_targets/read.rs:40:9:\nassertion failed: {long}\n \
             left: 1\nright: 2\nnote: run with `RUST_BACKTRACE=1`\n==7== ERROR: libFuzzer: deadly signal\n"
        );
        let reason = reason(&log);
        assert!(reason.starts_with(
            "thread '<unnamed>' (7) panicked at fuzz_targets/read.rs:40:9:\nassertion failed: xx"
        ));
        assert!(reason.ends_with("x… 4718 bytes more\n left: 1\nright: 2"), "{reason}");
        let many = format!("thread 'a' panicked at b:\n{}", "line\n".repeat(20));
        assert_eq!(super::reason(&many).lines().last(), Some("… 13 more lines"));
    }

    #[test]
    fn other_failures_are_reported_too() {
        let log = "#1 INITED\n==7== ERROR: libFuzzer: timeout after 11 seconds\n    #0 0x1\nSUMMARY: libFuzzer: timeout\n";
        assert_eq!(
            reason(log),
            "==7== ERROR: libFuzzer: timeout after 11 seconds\nSUMMARY: libFuzzer: timeout"
        );
        assert_eq!(reason("nothing"), "");
    }

    #[test]
    fn an_input_is_shown_whole_unless_it_is_long() {
        assert_eq!(shown_input(b"fn=\"a\"\n\0\xff"), r#"b"fn=\"a\"\n\x00\xff""#);
        assert_eq!(
            shown_input(&[b'a'; SHOWN_INPUT + 2]).strip_prefix("b\"a"),
            Some(&*format!("{}\" and 2 bytes more", "a".repeat(SHOWN_INPUT - 1)))
        );
    }

    #[test]
    fn only_an_input_of_this_search_is_taken() {
        let folder = std::env::temp_dir().join(format!("xtask-crash-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("crash-1");
        std::fs::write(&file, "x").unwrap();
        let log = format!("Test unit written to {}\n", file.display());
        let later = SystemTime::now() + std::time::Duration::from_secs(3600);
        assert_eq!(artifact(&log, &folder, later), Some(file.clone()));
        assert_eq!(artifact("", &folder, later), None);
        assert_eq!(artifact("", &folder, SystemTime::UNIX_EPOCH), Some(file));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
