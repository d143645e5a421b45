//! A line on standard error with the progress of a long task, which is erased when the task is done.
//!
//! This needs fifty lines and no progress crate: it shows one line with a number of bytes, while the crates bring
//! libraries for terminals, widths and numbers, and a thread that draws.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::terminal::byte_size;

/// Time before the first line is shown; shorter tasks show none.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two updates.
const REDRAW: Duration = Duration::from_millis(200);

/// Bytes between two looks at the clock, which costs more than counting.
const CLOCK_BYTES: u64 = 1 << 20;

/// Start of line, erase to its end.
const ERASE: &[u8] = b"\r\x1b[K";

/// The progress of one task. Finish it (or drop it) before anything else is written: it erases its line then.
pub(crate) struct Progress {
    /// The terminal, or `None` if there is none; then all calls do nothing.
    out: Option<Box<dyn Write + Send>>,
    label: String,
    total: Option<u64>,
    expanded: bool,
    done: u64,
    next_look: u64,
    started: Instant,
    redraw_at: Instant,
    shown: bool,
}

impl Progress {
    /// Progress on standard error, if that is a terminal that can write over a line.
    pub(crate) fn on_stderr(label: impl Into<String>, total: Option<u64>) -> Self {
        let stderr = std::io::stderr();
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let out: Option<Box<dyn Write + Send>> =
            if stderr.is_terminal() && !is_dumb { Some(Box::new(stderr)) } else { None };
        Self::new(out, label.into(), total, Instant::now())
    }

    /// Progress that is never shown.
    pub(crate) fn hidden() -> Self {
        Self::new(None, String::new(), None, Instant::now())
    }

    fn new(out: Option<Box<dyn Write + Send>>, label: String, total: Option<u64>, now: Instant) -> Self {
        Self {
            out,
            label,
            total,
            expanded: false,
            done: 0,
            next_look: CLOCK_BYTES,
            started: now,
            redraw_at: now + DELAY,
            shown: false,
        }
    }

    /// Counts expanded bytes from here on. Their total is unknown: the size of a packed file does not determine it.
    pub(crate) fn count_expanded(&mut self) {
        self.expanded = true;
        self.total = None;
    }

    /// Adds bytes to those that are done.
    pub(crate) fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if self.done >= self.next_look && self.out.is_some() {
            self.next_look = self.done.saturating_add(CLOCK_BYTES);
            self.draw_if_due(Instant::now());
        }
    }

    /// Sets the count of bytes that are done.
    pub(crate) fn advance_to(&mut self, bytes: u64) {
        self.advance(bytes.saturating_sub(self.done));
    }

    /// Erases the line. Dropping does the same.
    pub(crate) fn finish(self) {
        drop(self);
    }

    fn draw_if_due(&mut self, now: Instant) {
        if now < self.redraw_at {
            return;
        }
        self.redraw_at = now + REDRAW;
        let line = self.line(now.duration_since(self.started));
        if let Some(out) = &mut self.out {
            // A failure to show progress is ignored.
            let _ =
                out.write_all(ERASE).and_then(|()| out.write_all(line.as_bytes())).and_then(|()| out.flush());
            self.shown = true;
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let megabytes_per_second = self.done as f64 / 1e6 / elapsed.as_secs_f64().max(0.001);
        let done = byte_size(self.done);
        let of_total = match self.total {
            // A file can grow while it is read; 104% would look like a mistake.
            Some(total) if total >= self.done && total > 0 => {
                format!(" of {} ({:.0}%)", byte_size(total), self.done as f64 / total as f64 * 100.0)
            }
            _ if self.expanded => " expanded".to_owned(),
            _ => String::new(),
        };
        // The name is cut: a line that wraps cannot be erased.
        let mut label: String = self.label.chars().take(30).collect();
        if label.len() < self.label.len() {
            label.push('…');
        }
        format!("{label}: {done}{of_total}, {megabytes_per_second:.0} MB/s")
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let (true, Some(out)) = (self.shown, &mut self.out) {
            let _ = out.write_all(ERASE).and_then(|()| out.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn silent_in_the_first_second() {
        let screen = Screen::default();
        let start = Instant::now();
        let mut progress = Progress::new(Some(Box::new(screen.clone())), "reading".to_owned(), None, start);
        progress.done = 5_000_000;
        progress.draw_if_due(start + Duration::from_millis(999));
        progress.finish();
        assert_eq!(*screen.0.lock().unwrap(), b"");
    }

    #[test]
    fn shown_then_erased() {
        let screen = Screen::default();
        let start = Instant::now();
        let mut progress =
            Progress::new(Some(Box::new(screen.clone())), "reading".to_owned(), Some(10 << 20), start);
        progress.done = 5 << 20;
        progress.draw_if_due(start + Duration::from_secs(1));
        // Too soon for another one.
        progress.draw_if_due(start + Duration::from_millis(1100));
        progress.finish();
        let shown = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
        assert_eq!(shown, "\r\x1b[Kreading: 5.0 MiB of 10.0 MiB (50%), 5 MB/s\r\x1b[K");
    }

    #[test]
    fn packed_files_have_no_total() {
        let mut progress = Progress::new(None, "reading".to_owned(), Some(10), Instant::now());
        progress.count_expanded();
        progress.advance(1 << 20);
        assert_eq!(progress.line(Duration::from_secs(1)), "reading: 1.0 MiB expanded, 1 MB/s");
    }

    #[test]
    fn hidden_counts_nothing() {
        let mut progress = Progress::hidden();
        progress.advance(u64::MAX);
        progress.advance(1);
    }
}
