//! The invented program: its objects, files and functions, before any cost is drawn.

use super::Shape;
use super::prng::Prng;

/// Bytes of body for each function: a recording of CPython has 520, one of a C compiler 221.
const PLAIN_BYTES_PER_FUNCTION: u64 = 400;
/// With addresses and jumps a recording of CPython has 1300.
const FULL_BYTES_PER_FUNCTION: u64 = 1300;
const FUNCTIONS_PER_FILE: u64 = 12;

const PROGRAM: u64 = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    pub(crate) object: u32,
    pub(crate) file: u32,
    /// The first line; 0 when the object has no debug information.
    pub(crate) line: u32,
    /// Share of the body that this function gets, in self cost lines before scaling.
    pub(crate) weight: u32,
    pub(crate) address: u64,
    /// Calls itself: a second block `name'2` follows.
    pub(crate) recursive: bool,
}

#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Function>,
    pub(crate) objects: u64,
    /// Files that have functions; the first `objects` of them are the `???` of each object.
    pub(crate) files: u64,
    /// Files beyond `files` that only give inlined code.
    pub(crate) headers: u64,
    pub(crate) weight: u64,
    function_step: u64,
    file_step: u64,
}

impl Program {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "counts stay far below 2^32: a file of 1 TB has 2.5e9 functions"
    )]
    pub(crate) fn invent(shape: Shape, bytes: u64, seed: u64) -> Self {
        let per_function = match shape {
            Shape::Plain => PLAIN_BYTES_PER_FUNCTION,
            Shape::Full => FULL_BYTES_PER_FUNCTION,
        };
        let count = (bytes / per_function).max(8);
        let objects = (3 + count.ilog2() / 3).min(24);
        let mut prng = Prng::for_item(seed, PROGRAM, 0);
        let mut functions = Vec::with_capacity(count as usize);
        // The files without names come first in the numbering, one for each object.
        let mut files = u64::from(objects);
        let mut weight = 0;
        for object in 0..objects {
            let begin = count * u64::from(object) / u64::from(objects);
            let end = count * (u64::from(object) + 1) / u64::from(objects);
            // One object in five is stripped, as system libraries are; of the others a seventh lacks lines.
            let stripped = if object % 5 == 2 { end - begin } else { (end - begin) / 7 };
            let mut address = 0x1000 + (prng.below(0x400) << 4);
            let mut left_in_file = 0;
            let mut line = 0;
            for nth in 0..end - begin {
                let bare = nth < stripped;
                if !bare {
                    if left_in_file == 0 {
                        files += 1;
                        left_in_file = prng.between(1, 2 * FUNCTIONS_PER_FILE - 1);
                        line = prng.between(20, 200) as u32;
                    }
                    left_in_file -= 1;
                }
                // Half of the functions are small, a few are very large.
                let lines = 1 + match prng.below(100) {
                    0..50 => prng.below(10),
                    50..85 => prng.below(40),
                    85..98 => prng.below(120),
                    _ => prng.below(600),
                } as u32;
                functions.push(Function {
                    object,
                    file: if bare { object } else { files as u32 - 1 },
                    line: if bare { 0 } else { line },
                    weight: lines,
                    address,
                    recursive: prng.percent(3),
                });
                weight += u64::from(lines);
                line += 4 + lines;
                address += (u64::from(lines) * 5 + 32) & !15;
            }
        }
        let headers = files / 4 + 3;
        Self {
            objects: u64::from(objects),
            files,
            headers,
            weight,
            function_step: step(count, seed),
            file_step: step(files + headers, seed),
            functions,
        }
    }

    /// Callgrind numbers functions as it meets them while the program runs, files sort them otherwise; and it keeps a
    /// number free behind each for its recursion.
    pub(crate) fn function_id(&self, function: u64, again: bool) -> u64 {
        2 * (function * self.function_step % self.functions.len() as u64) + u64::from(again)
    }

    pub(crate) fn file_id(&self, file: u64) -> u64 {
        1 + file * self.file_step % (self.files + self.headers)
    }

    pub(crate) fn object_id(&self, object: u64) -> u64 {
        1 + (object + self.objects / 2) % self.objects
    }
}

/// A step that visits each of `count` numbers once.
fn step(count: u64, seed: u64) -> u64 {
    let mut step = (count / 3 + seed % 97) | 1;
    while gcd(step, count) != 1 {
        step += 2;
    }
    step
}

fn gcd(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { gcd(right, left % right) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_not_in_order() {
        let program = Program::invent(Shape::Plain, 400_000, 3);
        let ids: Vec<u64> =
            (0..program.functions.len() as u64).map(|at| program.function_id(at, false)).collect();
        assert!(!ids.is_sorted());
        let mut sorted = ids;
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), program.functions.len());
    }

    #[test]
    fn functions_are_sorted_by_object_then_file() {
        let program = Program::invent(Shape::Full, 2_000_000, 3);
        assert!(program.functions.is_sorted_by_key(|function| function.object));
        assert!(program.functions.iter().all(|function| u64::from(function.file) < program.files));
    }
}
