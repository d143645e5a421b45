//! zstd: one or many frames, and frames to skip between them.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Ending, Expander, Source, Step};
use crate::size::Size;

/// Window size of `zstd --ultra -22`, which every decoder accepts.
const USUAL_WINDOW: u64 = 128 << 20;

/// Window size of `zstd --long=31`, the largest.
const LARGEST_WINDOW: u64 = 2 << 30;

/// An empty raw block that is the last of its frame, and four bytes that a frame with a checksum needs after it.
const CLOSING_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

pub(super) struct Zstd<'s, 'a> {
    source: &'s mut Source<'a>,
    max_window: u64,
    frame: Option<Frame>,
    /// Damage of the packed data. The bytes in the window come out before it is reported.
    damage: Option<Ending>,
}

struct Frame {
    decoder: FrameDecoder,
    produced: u64,
}

impl<'s, 'a> Zstd<'s, 'a> {
    /// Makes a decoder. It holds back a window of expanded data, which grows with the data; nothing comes out before it is
    /// full, so the maximum output limits it.
    pub(super) fn new(source: &'s mut Source<'a>, max_size: Size) -> Self {
        let max_window = max_size.bytes().clamp(USUAL_WINDOW, LARGEST_WINDOW);
        Self { source, max_window, frame: None, damage: None }
    }

    /// Begins the next frame, or finds the end. `Ok(None)` is a frame that was skipped.
    fn next_frame(&mut self) -> Result<Option<Frame>, Ending> {
        if self.source.fill_buf().map_err(|error| Ending::of(&error))?.is_empty() {
            return Err(Ending::Whole);
        }
        // A new decoder per frame: one that is used again reserves the whole window that a header claims.
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(self.max_window);
        match decoder.init(&mut *self.source) {
            Ok(()) => Ok(Some(Frame { decoder, produced: 0 })),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let length = u64::from(length);
                match io::copy(&mut self.source.by_ref().take(length), &mut io::sink()) {
                    Ok(skipped) if skipped == length => Ok(None),
                    Ok(_) => Err(Ending::Truncated),
                    Err(error) => Err(Ending::of(&error)),
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_))) => {
                Err(Ending::Corrupt("unknown data follows".to_owned()))
            }
            Err(FrameDecoderError::DictNotProvided { .. }) => {
                Err(Ending::Corrupt("it needs a dictionary".to_owned()))
            }
            Err(error) => Err(ending_of(&error)),
        }
    }
}

impl Expander for Zstd<'_, '_> {
    fn step(&mut self, out: &mut [u8]) -> Step {
        let Some(frame) = &mut self.frame else {
            return match self.next_frame() {
                Ok(frame) => {
                    self.frame = frame;
                    Step::more(0)
                }
                Err(ending) => Step::end(0, ending),
            };
        };
        if frame.decoder.can_collect() == 0 && !frame.decoder.is_finished() {
            let block = frame.decoder.decode_blocks(&mut *self.source, BlockDecodingStrategy::UptoBlocks(1));
            if let Err(error) = block {
                self.damage = Some(ending_of(&error));
                // The last window is held back until the end of the frame, which is missing, so the frame is closed here.
                if frame
                    .decoder
                    .decode_blocks(&CLOSING_BLOCK[..], BlockDecodingStrategy::UptoBlocks(1))
                    .is_err()
                {
                    return Step::end(0, self.damage.take().unwrap_or(Ending::Truncated));
                }
            }
        }
        let produced = match frame.decoder.read(out) {
            Ok(produced) => produced,
            Err(error) => return Step::end(0, Ending::of(&error)),
        };
        frame.produced += produced as u64;
        if produced > 0 || !frame.decoder.is_finished() {
            return Step::more(produced);
        }
        // All of the frame is out.
        let ending = self.damage.take().or_else(|| frame.check());
        self.frame = None;
        match ending {
            Some(ending) => Step::end(0, ending),
            None => Step::more(0),
        }
    }
}

impl Frame {
    /// Compares the size in the header and the checksum after the data; the library does not.
    fn check(&self) -> Option<Ending> {
        let claimed = self.decoder.content_size();
        if claimed != 0 && claimed != self.produced {
            return Some(Ending::Corrupt("wrong size".to_owned()));
        }
        match self.decoder.get_checksum_from_data() {
            Some(checksum) if Some(checksum) != self.decoder.get_calculated_checksum() => {
                Some(Ending::Corrupt("wrong checksum".to_owned()))
            }
            _ => None,
        }
    }
}

/// Converts an error. The errors of this decoder are nested, and a premature end is the innermost one.
fn ending_of(error: &FrameDecoderError) -> Ending {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(io_error) = inner.downcast_ref::<io::Error>()
            && io_error.kind() == io::ErrorKind::UnexpectedEof
        {
            return Ending::Truncated;
        }
        cause = inner.source();
    }
    match error {
        FrameDecoderError::WindowSizeTooBig { requested, max } => {
            Ending::Corrupt(format!("it asks for a window of {requested} bytes, more than {max}"))
        }
        _ => Ending::Corrupt("invalid block".to_owned()),
    }
}
