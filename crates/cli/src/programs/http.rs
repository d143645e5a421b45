//! A request over plain HTTP/1.1: what a server of debug information needs, and no more.
//!
//! There are no redirects to other servers, no proxies, no compression. Nothing is trusted: lines, their count and the time
//! between bytes have limits.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// The limit of a line of the head of an answer.
const MAX_LINE_BYTES: u64 = 8 << 10;

/// The limit of lines of the head.
const MAX_LINES: usize = 100;

/// An address that begins with `http://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    host: String,
    port: u16,
    path: String,
}

impl Url {
    /// Takes an address apart. `None` if it is of another kind.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("http://")?;
        let is_harmless = |text: &str| text.chars().all(|it| it.is_ascii_graphic());
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.rsplit_once(':') {
            // The colons of an address of IPv6 are inside of brackets.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (authority, 80),
        };
        let path = if path.is_empty() { "/" } else { path };
        (!host.is_empty() && is_harmless(rest) && !host.contains('@')).then(|| Url {
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        })
    }
}

/// Asks for a file. `None` if the server does not have it. The body must be read to its end. The server may take the time of
/// `timeout` without sending anything, and that of `limit` for all.
pub(super) fn get(url: &Url, timeout: Duration, limit: Duration) -> io::Result<Option<Body>> {
    let deadline = Instant::now() + limit;
    let stream = connect(url, timeout)?;
    stream.set_write_timeout(Some(timeout))?;
    let stream = Patient { stream, timeout, deadline };
    let Url { host, port, path } = url;
    write!(
        &stream.stream,
        "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: gristmill/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    )?;
    let mut reader = BufReader::new(stream);
    let head = Head::read(&mut reader)?;
    match head.status {
        200 => {}
        404 | 410 => return Ok(None),
        status => return Err(io::Error::other(format!("answers with status {status}"))),
    }
    Ok(Some(match (head.is_chunked, head.length) {
        (true, _) => Body { reader, left: 0, framing: Framing::Chunked { is_first: true } },
        (false, Some(length)) => Body { reader, left: length, framing: Framing::Length },
        (false, None) => Body { reader, left: u64::MAX, framing: Framing::UntilEnd },
    }))
}

fn connect(url: &Url, timeout: Duration) -> io::Result<TcpStream> {
    let host = url.host.trim_start_matches('[').trim_end_matches(']');
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the server has no address");
    for address in (host, url.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// A stream that waits for some time for each byte, and not longer than until the deadline for all: a server that sends a byte now
/// and then is no reason to wait longer.
#[derive(Debug)]
struct Patient {
    stream: TcpStream,
    timeout: Duration,
    deadline: Instant,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "takes too long"));
        }
        self.stream.set_read_timeout(Some(self.timeout.min(left)))?;
        self.stream.read(buffer)
    }
}

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    length: Option<u64>,
    is_chunked: bool,
}

impl Head {
    fn read(reader: &mut impl BufRead) -> io::Result<Self> {
        let first = line(reader)?;
        let mut words = first.split_ascii_whitespace();
        let is_http = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
        let status = words.next().and_then(|word| word.parse().ok()).filter(|_| is_http);
        let mut head = Head { status: status.ok_or_else(malformed)?, length: None, is_chunked: false };
        for _ in 0..MAX_LINES {
            let line = line(reader)?;
            if line.is_empty() {
                return Ok(head);
            }
            let (name, value) = line.split_once(':').ok_or_else(malformed)?;
            match name.trim().to_ascii_lowercase().as_str() {
                "content-length" => head.length = Some(value.trim().parse().map_err(|_| malformed())?),
                "transfer-encoding" => head.is_chunked = value.trim().eq_ignore_ascii_case("chunked"),
                _ => {}
            }
        }
        Err(malformed())
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(super) struct Body {
    reader: BufReader<Patient>,
    /// The bytes that are left of the body, or of the chunk.
    left: u64,
    framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked { is_first: bool },
    UntilEnd,
    Done,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.framing == Framing::Done {
            return Ok(0);
        }
        if let (0, Framing::Chunked { is_first }) = (self.left, self.framing) {
            if !is_first {
                // The end of the chunk before.
                line(&mut self.reader)?;
            }
            let size = line(&mut self.reader)?;
            let digits = size.split(';').next().unwrap_or_default().trim();
            self.left = u64::from_str_radix(digits, 16).map_err(|_| malformed())?;
            self.framing = Framing::Chunked { is_first: false };
            if self.left == 0 {
                self.framing = Framing::Done;
                return Ok(0);
            }
        }
        if self.left == 0 {
            return Ok(0);
        }
        let limit = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.reader.read(&mut buffer[..limit])?;
        if read == 0 && self.framing != Framing::UntilEnd {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "ends before the file is complete"));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

/// Reads a line without its end.
fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
    if bytes.pop() != Some(b'\n') {
        return Err(malformed());
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "does not answer as a server of HTTP does")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_parts() {
        let parts = |text: &str| Url::parse(text).map(|url| (url.host, url.port, url.path));
        let of = |host: &str, port, path: &str| Some((host.to_owned(), port, path.to_owned()));
        assert_eq!(
            parts("http://localhost:8002/buildid/ab/debuginfo"),
            of("localhost", 8002, "/buildid/ab/debuginfo")
        );
        assert_eq!(parts("http://debug.example.org"), of("debug.example.org", 80, "/"));
        assert_eq!(parts("http://[::1]:8002/x"), of("[::1]", 8002, "/x"));
        assert_eq!(parts("http://[::1]/x"), of("[::1]", 80, "/x"));
        for other in [
            "https://a/",
            "http://",
            "http://a:x/",
            "http://a b/",
            "http://a\r\nb/",
            "http://u@a/",
            "file:/a",
        ] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn heads_have_limits() {
        let head = |text: &str| Head::read(&mut text.as_bytes()).ok();
        assert_eq!(
            head("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"),
            Some(Head { status: 200, length: Some(12), is_chunked: false })
        );
        assert_eq!(
            head("HTTP/1.0 404 \nTransfer-encoding: Chunked\n\n"),
            Some(Head { status: 404, length: None, is_chunked: true })
        );
        for bad in
            ["", "HTTP/1.1 200 OK\r\n", "FTP 200\r\n\r\n", "HTTP/1.1 x\r\n\r\n", "HTTP/1.1 200\r\nx\r\n\r\n"]
        {
            assert_eq!(head(bad), None, "{bad:?}");
        }
        assert_eq!(head(&format!("HTTP/1.1 200\r\n{}\r\n", "a: b\r\n".repeat(1000))), None);
        assert_eq!(head(&format!("HTTP/1.1 200\r\na: {}\r\n\r\n", "b".repeat(100_000))), None);
    }
}
