//! Documents whose rows arrive one by one.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

/// A document that is written piece by piece, in the layout of [`write`](super::write).
///
/// ```
/// use gristmill_output::json::Stream;
///
/// let mut out = Vec::new();
/// let mut document = Stream::new(&mut out)?;
/// document.begin_list("files")?;
/// document.begin_row()?;
/// document.member("path", "a.out")?;
/// document.begin_list("findings")?;
/// document.row(&12)?;
/// document.end_list()?;
/// document.end_row()?;
/// document.end_list()?;
/// document.member("all", &1)?;
/// document.end()?;
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     "{\"schema\":1,\n\"files\":[\n{\"path\":\"a.out\",\"findings\":[\n12\n]}\n],\n\"all\":1}\n"
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Stream<'w> {
    out: &'w mut dyn Write,
    /// For each open object or list, `true` if it has anything already.
    open: Vec<bool>,
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("open", &self.open).finish_non_exhaustive()
    }
}

#[expect(clippy::missing_errors_doc, reason = "all errors are those of the output")]
impl<'w> Stream<'w> {
    /// Begins a document.
    pub fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        write!(out, "{{\"schema\":{}", super::VERSION)?;
        Ok(Stream { out, open: vec![true] })
    }

    /// Goes on with a document that was suspended.
    pub fn resume(out: &'w mut dyn Write, state: StreamState) -> Self {
        Stream { out, open: state.open }
    }

    /// Suspends the document, to go on with it when there is more to write.
    pub fn suspend(self) -> StreamState {
        StreamState { open: self.open }
    }

    /// Writes a member of the document or of the row.
    pub fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> io::Result<()> {
        self.key(name)?;
        super::write_value(value, self.out)
    }

    /// Begins a member that is a list.
    pub fn begin_list(&mut self, name: &str) -> io::Result<()> {
        self.key(name)?;
        self.open.push(false);
        self.out.write_all(b"[")
    }

    /// Writes an element of the list.
    pub fn row<T: Serialize + ?Sized>(&mut self, row: &T) -> io::Result<()> {
        self.next_line()?;
        super::write_value(row, self.out)
    }

    /// Begins an object of the list.
    pub fn begin_row(&mut self) -> io::Result<()> {
        self.next_line()?;
        self.open.push(false);
        self.out.write_all(b"{")
    }

    /// Ends the object of the list.
    pub fn end_row(&mut self) -> io::Result<()> {
        self.open.pop();
        self.out.write_all(b"}")
    }

    /// Ends the list.
    pub fn end_list(&mut self) -> io::Result<()> {
        let has_rows = self.open.pop() == Some(true);
        self.out.write_all(if has_rows { b"\n]" } else { b"]" })
    }

    /// Ends the document.
    pub fn end(self) -> io::Result<()> {
        debug_assert_eq!(self.open.len(), 1, "all rows and lists are ended");
        self.out.write_all(b"}\n")
    }

    fn key(&mut self, name: &str) -> io::Result<()> {
        let is_outer = self.open.len() == 1;
        if self.begins_next() {
            self.out.write_all(if is_outer { b",\n" } else { b"," })?;
        }
        super::write_value(name, self.out)?;
        self.out.write_all(b":")
    }

    fn next_line(&mut self) -> io::Result<()> {
        let separator = if self.begins_next() { &b",\n"[..] } else { b"\n" };
        self.out.write_all(separator)
    }

    /// Begins an element. Returns `true` if it is not the first one.
    fn begins_next(&mut self) -> bool {
        self.open.last_mut().is_some_and(|has_any| std::mem::replace(has_any, true))
    }
}

/// A document that is suspended. See [`Stream::suspend`] and the example of [`Stream`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamState {
    open: Vec<bool>,
}
