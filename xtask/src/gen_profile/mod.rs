//! `cargo xtask gen-profile`: an invented profile of any size, shaped like a recording of Callgrind, for measurements.
//!
//! The text follows what Callgrind writes: the same header, names numbered out of order and defined at first use, positions
//! relative by the same rule, costs without trailing zeros, blanks at the end of `calls=` and jump lines. The statistics
//! (lines for each function, share of calls and jumps, steps of lines and addresses, lengths of names) are those of
//! recordings of an interpreter and a compiler. The header names Callgrind as its creator, because readers choose their
//! rules by it; the `cmd:` line says what made the file.
//!
//! `summary:` and `totals:` are exact. The inclusive costs of calls are drawn, not derived: they add up to nothing.

mod body;
mod names;
pub(crate) mod prng;
mod program;
mod text;

use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use self::body::{Body, Costs};
use self::program::Program;
use self::text::Text;
use crate::failure::Failure;
use crate::workspace;

/// Raised with every change of the output, so that cached files are generated again.
#[cfg(feature = "bench")]
pub(crate) const VERSION: u32 = 1;

const EVENTS: usize = 13;
const FULL_EVENTS: &str = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim";

/// Below this the names alone would fill the file.
const SMALLEST: u64 = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shape {
    /// `positions: line`, one event type.
    Plain,
    /// `positions: instr line`, 13 event types, jumps.
    Full,
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Full => "full",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long, value_enum, default_value = "plain")]
    shape: Shape,
    /// Bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "100M")]
    size: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let Options { shape, size, seed, ref output } = *options;
    if size < SMALLEST {
        return Err(Failure::new(format!("a generated profile has at least {SMALLEST} bytes")));
    }
    workspace::write_whole(output, |file| Ok(write_profile(file, shape, size, seed)?))
}

/// The header contains the sums of the body that follows it. To generate the body only once, space for the header is
/// reserved first and filled last; a word in `cmd:` pads the rest.
fn write_profile<S: Write + Seek>(sink: &mut S, shape: Shape, size: u64, seed: u64) -> io::Result<()> {
    let program = Program::invent(shape, size, seed);
    // No sum is larger: the largest is near 300 for each byte.
    let room = header(shape, size, seed, &[size.saturating_mul(100_000); EVENTS], "").len();
    sink.seek(SeekFrom::Start(room as u64))?;

    let mut text = Text::new(sink);
    // `totals:` and a sum or a few.
    let trailer = 50;
    let totals =
        Body::new(shape, seed, &program, &mut text).write(size.saturating_sub(room as u64 + trailer))?;
    sink.write_all(format!("totals: {}\n", costs_text(&totals)).as_bytes())?;

    let short = header(shape, size, seed, &totals, "").len();
    let Some(missing) = room.checked_sub(short) else {
        return Err(io::Error::other("the sums are longer than the room for them"));
    };
    let filler = "_".repeat(missing);
    sink.seek(SeekFrom::Start(0))?;
    sink.write_all(header(shape, size, seed, &totals, &filler).as_bytes())
}

fn header(shape: Shape, size: u64, seed: u64, totals: &Costs, filler: &str) -> String {
    let caches = match shape {
        Shape::Plain => ["", "", ""],
        Shape::Full => [
            "32768 B, 64 B, 8-way associative",
            "32768 B, 64 B, 8-way associative",
            "8388608 B, 64 B, 16-way associative",
        ],
    };
    let (positions, events) = match shape {
        Shape::Plain => ("line", "Ir"),
        Shape::Full => ("instr line", FULL_EVENTS),
    };
    let sums = costs_text(&match shape {
        Shape::Plain => std::array::from_fn(|event| if event == 0 { totals[0] } else { 0 }),
        Shape::Full => *totals,
    });
    let [first, data, last] = caches;
    format!(
        "# callgrind format\n\
         version: 1\n\
         creator: callgrind-3.19.0\n\
         pid: 4711\n\
         cmd:  gen-profile --shape {shape} --size {size} --seed {seed} {filler}\n\
         part: 1\n\
         \n\
         \n\
         desc: I1 cache: {first}\n\
         desc: D1 cache: {data}\n\
         desc: LL cache: {last}\n\
         \n\
         desc: Timerange: Basic block 0 - {blocks}\n\
         desc: Trigger: Program termination\n\
         \n\
         positions: {positions}\n\
         events: {events}\n\
         summary: {sums}\n\
         \n\
         \n",
        shape = shape.name(),
        blocks = size / 8,
    )
}

fn costs_text(costs: &Costs) -> String {
    let mut bytes = Vec::new();
    let mut text = Text::new(&mut bytes);
    write_costs(&mut text, costs);
    // Into memory: it cannot fail.
    let _ = text.drain();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The first cost always, the others up to the last that is not 0.
fn write_costs(text: &mut Text<'_>, costs: &Costs) {
    let used = costs.iter().rposition(|&cost| cost != 0).map_or(1, |last| last + 1);
    for (nth, &cost) in costs.iter().take(used).enumerate() {
        if nth > 0 {
            text.byte(b' ');
        }
        text.decimal(cost);
    }
}

#[cfg(test)]
mod tests;
