//! The body: one block of cost lines for each function, with calls, jumps and changes of file between them.

use std::io;

use super::names;
use super::prng::Prng;
use super::program::{Function, Program};
use super::text::Text;
use super::{EVENTS, Shape};

const BODY: u64 = 5;
const INLINE: u64 = 6;

/// Indexes of the event types, in the order of the `events:` line.
const IR: usize = 0;
const DR: usize = 1;
const DW: usize = 2;
const I1MR: usize = 3;
const D1MR: usize = 4;
const D1MW: usize = 5;
const ILMR: usize = 6;
const DLMR: usize = 7;
const DLMW: usize = 8;
const BC: usize = 9;
const BCM: usize = 10;
const BI: usize = 11;
const BIM: usize = 12;

/// Bytes of a block before its first self cost line: name lines, the blank line, a call or two.
const BLOCK_BYTES: u64 = 150;

pub(crate) type Costs = [u64; EVENTS];

pub(crate) struct Body<'a, 'sink> {
    shape: Shape,
    seed: u64,
    program: &'a Program,
    text: &'a mut Text<'sink>,
    defined_functions: Vec<bool>,
    defined_files: Vec<bool>,
    defined_objects: Vec<bool>,
    name: String,
    /// The object and the file of the last `ob=` and `fl=`.
    object: Option<u64>,
    file: Option<u64>,
    /// The file of the next cost line, which `fi=` and `fe=` change.
    cost_file: u64,
    /// The base of the next relative position: that of the last self cost line, 0 for none.
    base: Position,
    totals: Costs,
    self_lines: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Position {
    address: u64,
    line: u64,
}

impl<'a, 'sink> Body<'a, 'sink> {
    pub(crate) fn new(shape: Shape, seed: u64, program: &'a Program, text: &'a mut Text<'sink>) -> Self {
        Self {
            shape,
            seed,
            program,
            text,
            defined_functions: vec![false; 2 * program.functions.len()],
            defined_files: vec![false; usize::try_from(program.files + program.headers).unwrap_or(0)],
            defined_objects: vec![false; usize::try_from(program.objects).unwrap_or(0)],
            name: String::new(),
            object: None,
            file: None,
            cost_file: 0,
            base: Position::default(),
            totals: [0; EVENTS],
            self_lines: 0,
        }
    }

    /// Writes all blocks, `budget` bytes in total, and returns the sums of the self costs.
    pub(crate) fn write(mut self, budget: u64) -> io::Result<Costs> {
        let program = self.program;
        let count = program.functions.len();
        let begin = self.text.len();
        let mut weight_left = program.weight;
        for (index, function) in program.functions.iter().enumerate() {
            let written = self.text.len() - begin;
            let left = budget.saturating_sub(written);
            // The bytes per self cost line so far, other lines included, determine the number of lines left.
            let bytes_per_line = if self.self_lines < 200 { 15 } else { (written / self.self_lines).max(4) };
            let lines_left = left / bytes_per_line;
            let lines = (u64::from(function.weight) * lines_left / weight_left.max(1))
                .min(40 * u64::from(function.weight));
            weight_left -= u64::from(function.weight);
            // Later functions need their share; the last one takes the rest.
            let last = index + 1 == count;
            let room =
                if last { left } else { left.saturating_sub((count - index - 1) as u64 * BLOCK_BYTES / 2) };
            let lines = if last { u64::MAX } else { lines.max(1) };
            let mut prng = Prng::for_item(self.seed, BODY, index as u64);
            if function.recursive && !last {
                let again = lines / 4 + 1;
                self.block(&mut prng, index as u64, function, false, lines - lines / 4, room)?;
                self.block(&mut prng, index as u64, function, true, again, room / 2)?;
            } else {
                self.block(&mut prng, index as u64, function, false, lines, room)?;
            }
        }
        self.text.drain()?;
        Ok(self.totals)
    }

    fn block(
        &mut self,
        prng: &mut Prng,
        index: u64,
        function: &Function,
        again: bool,
        lines: u64,
        room: u64,
    ) -> io::Result<()> {
        let begin = self.text.len();
        if self.object != Some(u64::from(function.object)) {
            self.object = Some(u64::from(function.object));
            self.text.bytes(b"ob=");
            self.object_name(u64::from(function.object));
        }
        if self.file != Some(u64::from(function.file)) {
            self.file = Some(u64::from(function.file));
            self.text.bytes(b"fl=");
            self.file_name(u64::from(function.file));
        }
        self.cost_file = u64::from(function.file);
        self.text.bytes(b"fn=");
        self.function_name(index, again);
        self.base = Position::default();

        let mut walk = Walk {
            index,
            function,
            again,
            at: Position { address: function.address, line: u64::from(function.line) },
            // How often the function ran: most a few times, some very often.
            runs: 1 + prng.magnitude(4),
            own_line: u64::from(function.line),
        };
        let mut written = 0;
        while written < lines && self.text.len() - begin < room.max(1) {
            written += match self.shape {
                Shape::Plain => self.plain_step(prng, &mut walk),
                Shape::Full => self.full_step(prng, &mut walk),
            };
            self.text.drain_if_full()?;
        }
        self.self_lines += written;
        if self.cost_file != u64::from(function.file) {
            self.text.bytes(b"fe=");
            self.file_name(u64::from(function.file));
        }
        self.text.byte(b'\n');
        Ok(())
    }

    /// One self cost line of a file with lines only, perhaps with a call behind it.
    fn plain_step(&mut self, prng: &mut Prng, walk: &mut Walk<'_>) -> u64 {
        let word = prng.next();
        if walk.function.line > 0 {
            if word & 0xff < 22 {
                self.change_file(prng, walk);
            } else {
                walk.at.line =
                    moved(walk.at.line, PLAIN_LINE_STEPS[usize::from(word.to_le_bytes()[1] & 63)], word);
            }
        }
        // Every third line costs what the line before it did, that is what one run through the block costs.
        let each = if word.to_le_bytes()[2] < 90 { 1 } else { 1 + ((word >> 24) & 15) };
        let cost = walk.runs * each;
        self.position(walk.at);
        self.text.decimal(cost);
        self.text.byte(b'\n');
        self.totals[IR] += cost;
        self.base = walk.at;
        if word.to_le_bytes()[4] < 56 {
            let mut costs = [0; EVENTS];
            costs[IR] = 1 + prng.magnitude(7);
            self.call(prng, walk, &costs);
        }
        1
    }

    /// A straight run of instructions, which all ran equally often, and the jump or call at its end.
    fn full_step(&mut self, prng: &mut Prng, walk: &mut Walk<'_>) -> u64 {
        let shape = prng.next();
        if walk.function.line > 0 && shape & 0xff < 6 {
            self.change_file(prng, walk);
        }
        let length = 3 + ((shape >> 8) & 7);
        // Blocks run as often as the function did, or rarely, or in a loop.
        let runs = match (shape >> 16) & 7 {
            0..4 => walk.runs,
            4..6 => 1 + walk.runs / (2 + ((shape >> 20) & 15)),
            _ => walk.runs * (2 + ((shape >> 20) & 31)),
        };
        let ending = match shape.to_le_bytes()[4] {
            0..80 => Ending::Branch,
            80..110 => Ending::Jump,
            110..178 => Ending::Call,
            _ => Ending::None,
        };
        for nth in 1..=length {
            let word = prng.next();
            let bytes = word.to_le_bytes();
            if walk.function.line > 0 && bytes[0] < 60 {
                walk.at.line = moved(walk.at.line, FULL_LINE_STEPS[usize::from(bytes[1] & 31)], word);
            }
            let mut costs = [0; EVENTS];
            costs[IR] = runs;
            if bytes[2] < 72 {
                costs[DR] = runs;
                if bytes[3] < 20 {
                    costs[D1MR] = 1 + runs / 64;
                    costs[DLMR] = u64::from(bytes[3] < 4);
                }
            } else if bytes[2] < 120 {
                costs[DW] = runs;
                if bytes[3] < 24 {
                    costs[D1MW] = 1 + runs / 64;
                    costs[DLMW] = u64::from(bytes[3] < 9);
                }
            }
            // A new cache line of code begins every 64 bytes.
            if bytes[4] < 18 {
                costs[I1MR] = 1 + runs / 1024;
                costs[ILMR] = u64::from(bytes[4] < 12);
            }
            if nth == length {
                if ending == Ending::Branch || (ending == Ending::None && bytes[5] < 128) {
                    costs[BC] = runs;
                    costs[BCM] = if bytes[5] & 7 == 0 { 0 } else { 1 + runs / 16 };
                } else if ending == Ending::Call && bytes[5] < 30 {
                    costs[BI] = runs;
                    costs[BIM] = 1 + runs / 8;
                }
            }
            self.position(walk.at);
            self.costs(&costs);
            for (total, cost) in self.totals.iter_mut().zip(costs) {
                *total += cost;
            }
            self.base = walk.at;
            if nth == length {
                match ending {
                    Ending::None => {}
                    Ending::Branch => self.jump(prng, walk, Some(runs)),
                    Ending::Jump => self.jump(prng, walk, None),
                    Ending::Call => {
                        let mut costs = costs.map(|cost| cost + prng.magnitude(3));
                        costs[IR] = 1 + prng.magnitude(7);
                        costs[DR] = costs[IR] / 4;
                        costs[DW] = costs[IR] / 7;
                        if prng.percent(50) {
                            costs[BI] = 0;
                            costs[BIM] = 0;
                        }
                        self.call(prng, walk, &costs);
                    }
                }
            }
            walk.at.address += INSTRUCTION_SIZES[usize::from(bytes[6] & 31)];
        }
        length
    }

    /// Into inlined code of another file, or back from it.
    fn change_file(&mut self, prng: &mut Prng, walk: &mut Walk<'_>) {
        let own = u64::from(walk.function.file);
        if self.cost_file == own {
            let header = self.program.files + prng.below(self.program.headers);
            walk.own_line = walk.at.line;
            self.text.bytes(b"fi=");
            self.file_name(header);
            self.cost_file = header;
            walk.at.line = 10 + Prng::for_item(self.seed, INLINE, header).below(900) + prng.below(40);
        } else {
            self.text.bytes(b"fe=");
            self.file_name(own);
            self.cost_file = own;
            walk.at.line = walk.own_line + prng.below(3);
        }
    }

    /// The lines of one call, behind the self cost line that makes it.
    fn call(&mut self, prng: &mut Prng, walk: &Walk<'_>, inclusive: &Costs) {
        let program = self.program;
        let count = program.functions.len() as u64;
        let (callee, again) = if walk.function.recursive && prng.percent(10) {
            (walk.index, true)
        } else {
            let callee = match prng.below(100) {
                // A neighbour, mostly of the same file.
                0..70 => (walk.index + count + prng.below(24) - 12) % count,
                // Another of the same object, more or less.
                70..87 => (walk.index + count + prng.below(count / 16 + 1) - count / 32) % count,
                // One that many call.
                _ => prng.below(count / 64 + 1) * 64 % count,
            };
            // Into itself it is a call of the next level of recursion, or none at all.
            if callee == walk.index {
                if walk.again || !walk.function.recursive {
                    ((callee + 1) % count, false)
                } else {
                    (callee, true)
                }
            } else {
                (callee, false)
            }
        };
        let Some(function) = usize::try_from(callee).ok().and_then(|at| program.functions.get(at)) else {
            return;
        };
        if function.object != walk.function.object {
            self.text.bytes(b"cob=");
            self.object_name(u64::from(function.object));
        }
        if u64::from(function.file) != self.cost_file {
            self.text.bytes(b"cfi=");
            self.file_name(u64::from(function.file));
        }
        self.text.bytes(b"cfn=");
        self.function_name(callee, again);
        self.text.bytes(b"calls=");
        self.text.decimal(1 + prng.magnitude(3));
        self.text.byte(b' ');
        self.position(Position { address: function.address, line: u64::from(function.line) });
        self.text.byte(b'\n');
        self.position(walk.at);
        self.costs(inclusive);
    }

    /// A jump (`executed` is none) or a branch, within the function.
    fn jump(&mut self, prng: &mut Prng, walk: &Walk<'_>, executed: Option<u64>) {
        let far = prng.percent(25);
        let by = 2 + prng.below(if far { 900 } else { 97 });
        let address = if prng.percent(30) {
            walk.at.address.saturating_sub(by).max(walk.function.address)
        } else {
            walk.at.address + by
        };
        let line = if walk.at.line == 0 { 0 } else { walk.at.line + prng.below(by / 4 + 1) };
        // Now and then the code at the target is inlined from elsewhere.
        if walk.at.line > 0 && prng.below(100) < 3 {
            let header = self.program.files + prng.below(self.program.headers);
            self.text.bytes(b"jfi=");
            self.file_name(header);
        }
        match executed {
            None => {
                self.text.bytes(b"jump=");
                self.text.decimal(walk.runs);
            }
            Some(executed) => {
                let followed = if prng.percent(50) { executed } else { 1 + prng.below(executed) };
                self.text.bytes(b"jcnd=");
                self.text.decimal(followed);
                self.text.byte(b'/');
                self.text.decimal(executed);
            }
        }
        self.text.byte(b' ');
        self.position(Position { address, line });
        self.text.byte(b'\n');
        self.position(walk.at);
        self.text.byte(b'\n');
    }

    /// Each number of a position with one blank behind it.
    fn position(&mut self, at: Position) {
        if self.shape == Shape::Full {
            if !self.relative(at.address, self.base.address) {
                self.text.hex(at.address);
            }
            self.text.byte(b' ');
        }
        if !self.relative(at.line, self.base.line) {
            self.text.decimal(at.line);
        }
        self.text.byte(b' ');
    }

    /// Writes the difference where Callgrind does: from a last position above 0, and if it is below 100.
    #[inline]
    fn relative(&mut self, value: u64, base: u64) -> bool {
        let difference = value.abs_diff(base);
        if base == 0 || difference >= 100 {
            return false;
        }
        if difference == 0 {
            self.text.byte(b'*');
        } else {
            self.text.byte(if value > base { b'+' } else { b'-' });
            self.text.decimal(difference);
        }
        true
    }

    /// The costs of a line up to the last that is not 0, and the end of the line.
    fn costs(&mut self, costs: &Costs) {
        super::write_costs(self.text, costs);
        self.text.byte(b'\n');
    }

    fn object_name(&mut self, object: u64) {
        let first = first_use(&mut self.defined_objects, object);
        if first {
            names::object(self.seed, object, &mut self.name);
        }
        self.reference(self.program.object_id(object), first);
    }

    fn file_name(&mut self, file: u64) {
        let first = first_use(&mut self.defined_files, file);
        if first {
            if file < self.program.objects {
                self.name.clear();
                self.name.push_str("???");
            } else {
                names::file(self.seed, file, file >= self.program.files, &mut self.name);
            }
        }
        self.reference(self.program.file_id(file), first);
    }

    fn function_name(&mut self, index: u64, again: bool) {
        let first = first_use(&mut self.defined_functions, 2 * index + u64::from(again));
        if first
            && let Some(function) = usize::try_from(index).ok().and_then(|at| self.program.functions.get(at))
        {
            // Half of the functions without lines still have a symbol.
            let stripped = function.line == 0 && index.is_multiple_of(2);
            names::function(self.seed, index, stripped, function.address, &mut self.name);
            if again {
                self.name.push_str("'2");
            }
        }
        self.reference(self.program.function_id(index, again), first);
    }

    /// `(id) name` at the first use, `(id)` later.
    fn reference(&mut self, id: u64, first: bool) {
        self.text.byte(b'(');
        self.text.decimal(id);
        self.text.byte(b')');
        if first {
            self.text.byte(b' ');
            self.text.bytes(self.name.as_bytes());
        }
        self.text.byte(b'\n');
    }
}

/// The state of one block: where in its function it stands.
struct Walk<'a> {
    index: u64,
    function: &'a Function,
    again: bool,
    at: Position,
    runs: u64,
    /// The line to come back to from inlined code.
    own_line: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    None,
    Branch,
    Jump,
    Call,
}

/// Steps of the line between self cost lines as counted in recordings; `FAR` is a jump to elsewhere in the function.
const FAR: i64 = i64::MAX;
const PLAIN_LINE_STEPS: [i64; 64] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 3, 3, 3, 3, -1,
    -1, -1, -1, 4, 4, 5, 5, -2, -2, 6, 7, 8, -3, -4, 9, 11, 14, -5, -7, 19, 25, -12, 38, FAR, FAR, FAR, FAR,
    FAR, FAR,
];
const FULL_LINE_STEPS: [i64; 32] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, -1, -1, -1, -2, -2, -3, 6, 7, 12, FAR, FAR,
];
/// Lengths of x86 instructions.
const INSTRUCTION_SIZES: [u64; 32] =
    [3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 2, 2, 2, 2, 6, 6, 6, 6, 7, 7, 1, 8, 8, 9];

fn moved(line: u64, by: i64, word: u64) -> u64 {
    if by == FAR {
        // 0 to 2047 lines, forth or back.
        let far = (word >> 40) & 2047;
        if word >> 63 == 0 { line + far } else { line.saturating_sub(far).max(1) }
    } else {
        line.saturating_add_signed(by).max(1)
    }
}

fn first_use(defined: &mut [bool], index: u64) -> bool {
    let Some(slot) = usize::try_from(index).ok().and_then(|at| defined.get_mut(at)) else {
        return false;
    };
    !std::mem::replace(slot, true)
}
