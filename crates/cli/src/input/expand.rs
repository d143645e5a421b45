//! Expands gzip, zstd, xz and bzip2 step by step. Of a damaged file, the bytes before the damage are kept.
//!
//! The `Read` adapters of the libraries are not used where they would throw away the bytes that were expanded in the
//! same call in which an error is met: a small profile is expanded in one call. All four formats may be concatenated
//! (parallel packers do that), so the data ends only if no byte follows.

mod gzip;
mod zstd;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use bzip2::Decompress as Bunzip;
use lzma_rust2::{Action, Status, XzStream};

use self::gzip::Gzip;
use self::zstd::Zstd;
use crate::size::Size;

/// Bytes that [`Packing::from_magic`] needs.
pub(super) const MAGIC_LENGTH: usize = 10;

/// The packing of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Packing {
    /// Returns the name of the program that packs so.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// Returns the packing that the extension of a file name stands for.
    pub(crate) fn from_extension(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            "xz" => Some(Self::Xz),
            "bz2" => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// Recognises the packing by the first bytes of a file. No profile begins like that: it is text.
    pub(super) fn from_magic(head: &[u8]) -> Option<Self> {
        match head {
            // 8 is the only method of gzip.
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A frame to skip, which parallel packers write first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // The block magic after it (π, or √π at the end) keeps a text that happens to begin with BZh9 apart.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some(Self::Bzip2),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    pub(super) fn expander<'s>(self, source: &'s mut Source<'_>, max_size: Size) -> Box<dyn Expander + 's> {
        match self {
            Self::Gzip => Box::new(Gzip::new(source)),
            Self::Zstd => Box::new(Zstd::new(source, max_size)),
            Self::Xz => Box::new(Xz::new(source, max_size)),
            Self::Bzip2 => Box::new(Bzip2::new(source)),
        }
    }
}

/// The decoder of one format.
pub(super) trait Expander {
    /// Expands more bytes into `out`. A step may produce nothing; the data is at its end if `ending` is set.
    fn step(&mut self, out: &mut [u8]) -> Step;
}

/// The result of a step: bytes, and the end if it is reached. Bytes before damage count.
pub(super) struct Step {
    pub(super) produced: usize,
    pub(super) ending: Option<Ending>,
}

impl Step {
    fn more(produced: usize) -> Self {
        Self { produced, ending: None }
    }

    fn end(produced: usize, ending: Ending) -> Self {
        Self { produced, ending: Some(ending) }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    Truncated,
    /// Damaged, with a description.
    Corrupt(String),
}

impl Ending {
    /// Converts an error of a decoder.
    fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            _ => Self::Corrupt(error.to_string()),
        }
    }
}

/// The packed bytes. It counts them and remembers a failure to read them, which decoders would report as damage.
pub(super) struct Source<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    taken: u64,
    failure: Option<io::Error>,
}

impl<'a> Source<'a> {
    pub(super) fn new(reader: Box<dyn Read + 'a>) -> Self {
        Self { reader: BufReader::with_capacity(128 << 10, reader), taken: 0, failure: None }
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Called twice, as a borrow cannot be returned out of a loop; a full buffer returns at once.
        loop {
            match self.reader.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let told = io::Error::from(error.kind());
                    self.failure = Some(error);
                    return Err(told);
                }
            }
        }
        Ok(self.reader.buffer())
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.reader.consume(amount);
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(out.len());
        out[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}

/// The decoder of xz. The container handles concatenated streams and the padding between them.
struct Xz<'s, 'a> {
    source: &'s mut Source<'a>,
    stream: XzStream,
}

impl<'s, 'a> Xz<'s, 'a> {
    /// A header may claim a dictionary of 4 GiB. The decoder's dictionary grows with the data that really comes, so a
    /// claim costs nothing; the limit refuses data that would not fit into memory.
    fn new(source: &'s mut Source<'a>, max_size: Size) -> Self {
        // `xz -9` uses 64 MiB, and the decoder some more beside the dictionary.
        let kibibytes = (max_size.bytes() / 1024).max(65 << 10);
        let limit = u32::try_from(kibibytes).unwrap_or(u32::MAX);
        Self { source, stream: XzStream::new_mem_limit(true, limit) }
    }
}

impl Expander for Xz<'_, '_> {
    fn step(&mut self, out: &mut [u8]) -> Step {
        let input = match self.source.fill_buf() {
            Ok(input) => input,
            Err(error) => return Step::end(0, Ending::of(&error)),
        };
        let last = input.is_empty();
        let before = self.stream.total_out();
        let result = self.stream.process(input, out, if last { Action::Finish } else { Action::Run });
        match result {
            Ok(result) => {
                self.source.consume(result.bytes_consumed);
                match result.status {
                    Status::StreamEnd => Step::end(result.bytes_produced, Ending::Whole),
                    // The decoder reports this itself; if it ever does not, this ends the loop.
                    Status::Ok if last && result.bytes_produced == 0 => Step::end(0, Ending::Truncated),
                    Status::Ok => Step::more(result.bytes_produced),
                }
            }
            Err(error) => {
                let produced = self.stream.total_out().saturating_sub(before);
                let produced = usize::try_from(produced).unwrap_or(0).min(out.len());
                Step::end(produced, Ending::of(&error))
            }
        }
    }
}

/// The bytes of a stream of bzip2 without data, after the block size: the end, and a checksum of nothing.
const EMPTY_BZIP2: [u8; 10] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0];

/// Returns the length of the streams of bzip2 without data that an input begins with.
fn empty_bzip2_streams(input: &[u8]) -> usize {
    let is_empty =
        |stream: &&[u8]| matches!(stream, [b'B', b'Z', b'h', b'1'..=b'9', end @ ..] if *end == EMPTY_BZIP2);
    const LENGTH: usize = 4 + EMPTY_BZIP2.len();
    LENGTH * input.chunks_exact(LENGTH).take_while(is_empty).count()
}

/// The decoder of bzip2. The library decodes a single stream.
struct Bzip2<'s, 'a> {
    source: &'s mut Source<'a>,
    /// `None` between two streams.
    stream: Option<Bunzip>,
}

impl<'s, 'a> Bzip2<'s, 'a> {
    fn new(source: &'s mut Source<'a>) -> Self {
        Self { source, stream: Some(Bunzip::new(false)) }
    }
}

impl Expander for Bzip2<'_, '_> {
    fn step(&mut self, out: &mut [u8]) -> Step {
        let input = match self.source.fill_buf() {
            Ok(input) => input,
            Err(error) => return Step::end(0, Ending::of(&error)),
        };
        let last = input.is_empty();
        if self.stream.is_none() {
            if last {
                return Step::end(0, Ending::Whole);
            }
            // A file can be full of them, and a decoder has some megabytes, which are cleared for each stream.
            let skipped = empty_bzip2_streams(input);
            if skipped > 0 {
                self.source.consume(skipped);
                return Step::more(0);
            }
        }
        let stream = self.stream.get_or_insert_with(|| Bunzip::new(false));
        let (in_before, out_before) = (stream.total_in(), stream.total_out());
        let result = stream.decompress(input, out);
        let consumed = amount(in_before, stream.total_in(), input.len());
        let produced = amount(out_before, stream.total_out(), out.len());
        self.source.consume(consumed);
        match result {
            Ok(bzip2::Status::StreamEnd) => {
                self.stream = None;
                Step::more(produced)
            }
            Ok(bzip2::Status::MemNeeded) => Step::end(produced, Ending::Corrupt("out of memory".to_owned())),
            Ok(_) if last && produced == 0 => Step::end(0, Ending::Truncated),
            Ok(_) => Step::more(produced),
            Err(bzip2::Error::DataMagic) => {
                Step::end(produced, Ending::Corrupt("unknown data follows".to_owned()))
            }
            Err(_) => Step::end(produced, Ending::Corrupt("wrong checksum or code".to_owned())),
        }
    }
}

/// Returns the advance of a decoder's counter, at most the length of the buffer.
fn amount(before: u64, after: u64, at_most: usize) -> usize {
    usize::try_from(after.saturating_sub(before)).map_or(at_most, |amount| amount.min(at_most))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns the expanded bytes, how it ended, and the count of decoders that were made.
    fn expanded(file: &[u8]) -> (Vec<u8>, Ending, usize) {
        let mut source = Source::new(Box::new(file));
        let mut bzip2 = Bzip2::new(&mut source);
        let (mut bytes, mut decoders, mut buffer) = (Vec::new(), 1, [0; 64]);
        loop {
            let had_decoder = bzip2.stream.is_some();
            let step = bzip2.step(&mut buffer);
            bytes.extend_from_slice(&buffer[..step.produced]);
            if let Some(ending) = step.ending {
                return (bytes, ending, decoders);
            }
            decoders += usize::from(!had_decoder && bzip2.stream.is_some());
        }
    }

    #[test]
    fn a_stream_without_data_needs_no_decoder() {
        let (empty, a) = (packed(b""), packed(b"a"));
        let many = empty.repeat(20_000);
        let of = |parts: &[&[u8]]| expanded(&parts.concat());
        let (bytes, ending, decoders) = of(&[&a, &many, &a, &empty, &a]);
        assert_eq!((bytes.as_slice(), ending), (&b"aaa"[..], Ending::Whole));
        // One for each `a`, and for each empty stream that is not whole in the buffer.
        assert!(decoders <= 3 + 2 * (many.len() >> 17), "{decoders}");
        // One that is cut, or has another checksum, is damaged as ever.
        let (bytes, ending, _) = of(&[&a, &empty, &empty[..13]]);
        assert_eq!((bytes.as_slice(), ending), (&b"a"[..], Ending::Truncated));
        let mut wrong = empty.clone();
        wrong[13] = 1;
        let (bytes, ending, _) = of(&[&a, &empty, &wrong]);
        assert_eq!(bytes, b"a");
        assert!(matches!(ending, Ending::Corrupt(_)), "{ending:?}");
    }
}
