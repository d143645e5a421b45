//! Randomly damaged files, the same at every run.

/// A generator good enough to choose places with.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new() -> Self {
        Numbers(0x9e37_79b9_7f4a_7c15)
    }

    /// A number below the limit, by xorshift; 0 where there is none below.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit.max(1)
    }

    pub(crate) fn one_of<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}

/// The head of a file and a part of its body, of at most `most` bytes.
pub(crate) fn excerpt(file: &[u8], most: usize, numbers: &mut Numbers) -> Vec<u8> {
    let head = &file[..file.len().min(1200)];
    let start = numbers.below(file.len());
    let piece = &file[start..file.len().min(start + most)];
    [head, b"\n", piece].concat()
}

/// Changes a byte at some place, takes one away, puts one in, or puts a line in, which `add_line` does.
pub(crate) fn damage(
    file: &mut Vec<u8>,
    numbers: &mut Numbers,
    add_line: impl FnOnce(&mut Vec<u8>, usize, &mut Numbers),
) {
    const BYTES: &[u8] = b"0123456789+-*x.:/=() \t\r\nfcnals";
    let at = numbers.below(file.len());
    match numbers.below(4) {
        0 if !file.is_empty() => file[at] = numbers.one_of(BYTES),
        1 if !file.is_empty() => drop(file.remove(at)),
        2 => file.insert(at, numbers.one_of(BYTES)),
        _ => add_line(file, at, numbers),
    }
}
