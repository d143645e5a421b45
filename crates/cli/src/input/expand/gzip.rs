//! gzip: one or many members, each a header, deflated data and a checksum.

use std::io::{BufRead, Read};

use flate2::bufread::GzDecoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::{Ending, Expander, Source, Step, amount};

pub(super) struct Gzip<'s, 'a> {
    source: &'s mut Source<'a>,
    inflate: Decompress,
    checksum: Crc,
    /// `true` if the next bytes are a header.
    between: bool,
    members: u64,
}

impl<'s, 'a> Gzip<'s, 'a> {
    pub(super) fn new(source: &'s mut Source<'a>) -> Self {
        Self { source, inflate: Decompress::new(false), checksum: Crc::new(), between: true, members: 0 }
    }

    /// Reads a header, or finds the end.
    fn header(&mut self) -> Result<(), Ending> {
        if self.source.fill_buf().map_err(|error| Ending::of(&error))?.is_empty() {
            return Err(if self.members == 0 { Ending::Truncated } else { Ending::Whole });
        }
        // The library reads the header when the decoder is made, and none of the data after it.
        let mut decoder = GzDecoder::new(&mut *self.source);
        if decoder.header().is_none() {
            // The error shows when the decoder is read.
            return Err(match decoder.read(&mut [0]) {
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ending::Truncated,
                _ if self.members > 0 => Ending::Corrupt("unknown data follows".to_owned()),
                _ => Ending::Corrupt("invalid header".to_owned()),
            });
        }
        self.inflate.reset(false);
        self.checksum.reset();
        self.between = false;
        self.members += 1;
        Ok(())
    }

    /// Reads and compares the checksum and the size after the data.
    fn trailer(&mut self) -> Result<(), Ending> {
        let mut trailer = [0; 8];
        self.source.read_exact(&mut trailer).map_err(|error| Ending::of(&error))?;
        let [c0, c1, c2, c3, s0, s1, s2, s3] = trailer;
        if u32::from_le_bytes([c0, c1, c2, c3]) != self.checksum.sum() {
            return Err(Ending::Corrupt("wrong checksum".to_owned()));
        }
        // Both count modulo 2^32.
        if u32::from_le_bytes([s0, s1, s2, s3]) != self.checksum.amount() {
            return Err(Ending::Corrupt("wrong size".to_owned()));
        }
        self.between = true;
        Ok(())
    }
}

impl Expander for Gzip<'_, '_> {
    fn step(&mut self, out: &mut [u8]) -> Step {
        if self.between
            && let Err(ending) = self.header()
        {
            return Step::end(0, ending);
        }
        let input = match self.source.fill_buf() {
            Ok(input) => input,
            Err(error) => return Step::end(0, Ending::of(&error)),
        };
        let last = input.is_empty();
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let result = self.inflate.decompress(input, out, FlushDecompress::None);
        let consumed = amount(in_before, self.inflate.total_in(), input.len());
        let produced = amount(out_before, self.inflate.total_out(), out.len());
        self.source.consume(consumed);
        self.checksum.update(&out[..produced]);
        match result {
            Err(_) => Step::end(produced, Ending::Corrupt("invalid deflated data".to_owned())),
            Ok(Status::StreamEnd) => match self.trailer() {
                Ok(()) => Step::more(produced),
                Err(ending) => Step::end(produced, ending),
            },
            Ok(_) if produced == 0 && last => Step::end(0, Ending::Truncated),
            Ok(_) if produced == 0 && consumed == 0 => {
                // Not known to happen; it would be an endless loop.
                Step::end(0, Ending::Corrupt("the decoder makes no progress".to_owned()))
            }
            Ok(_) => Step::more(produced),
        }
    }
}
