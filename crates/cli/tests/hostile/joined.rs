//! Profiles of several hostile shapes, and command lines with several options.
//!
//! Two can show a fault that neither shows alone: many event types of one shape with the many lines of another.
//! A `draw` returns a number below another one, from random numbers or from what a fuzzer chooses.

use std::ffi::OsString;

use super::shapes::{SHAPES, Shape};

/// The most shapes in a profile.
const MAX_SHAPES: usize = 3;

/// The most options that are added to those of a command line.
const MAX_OPTIONS: usize = 3;

/// A profile of drawn shapes.
pub(crate) struct Joined {
    pub(crate) text: String,
    /// The names of the shapes, as one joins them.
    pub(crate) name: String,
}

impl Joined {
    /// Joins shapes with `size` times as many elements as usual; usual ones have some 30 KB.
    pub(crate) fn draw(size: usize, draw: &mut impl FnMut(usize) -> usize) -> Self {
        let first = &SHAPES[draw(SHAPES.len())];
        let mut joined = Joined { text: text(first, size), name: first.name.to_owned() };
        for _ in 0..1 + draw(MAX_SHAPES - 1) {
            let shape = &SHAPES[draw(SHAPES.len())];
            let more = text(shape, size);
            let (text, sign) = match draw(3) {
                0 => (joined.text + &more, '+'),
                1 => (joined.text + body(&more), '~'),
                _ => (interleaved(&joined.text, body(&more)), '%'),
            };
            joined = Joined { text, name: format!("{}{sign}{}", joined.name, shape.name) };
        }
        joined
    }
}

fn text(shape: &Shape, size: usize) -> String {
    let mut text = shape.text(shape.count * size);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Returns a profile from its first function, file or object on.
fn body(text: &str) -> &str {
    let starts = ["fn=", "fl=", "ob="].map(|key| text.find(&format!("\n{key}")).map(|at| at + 1));
    &text[starts.into_iter().flatten().min().unwrap_or(0)..]
}

/// Takes the functions of two profiles in turn.
fn interleaved(one: &str, other: &str) -> String {
    let blocks = |text: &str| -> Vec<String> {
        let mut blocks = vec![String::new()];
        for line in text.split_inclusive('\n') {
            if line.starts_with("fn=") {
                blocks.push(String::new());
            }
            if let Some(block) = blocks.last_mut() {
                block.push_str(line);
            }
        }
        blocks
    };
    let (one, other) = (blocks(one), blocks(other));
    let mut text = String::new();
    for nth in 0..one.len().max(other.len()) {
        [&one, &other]
            .into_iter()
            .filter_map(|blocks| blocks.get(nth))
            .for_each(|block| text.push_str(block));
    }
    text
}

/// Draws one of these command lines and adds options of others of the same command.
pub(crate) fn command(lines: &[Vec<OsString>], draw: &mut impl FnMut(usize) -> usize) -> Vec<OsString> {
    let mut words = lines[draw(lines.len())].clone();
    let same: Vec<&Vec<OsString>> = lines.iter().filter(|line| line[0] == words[0]).collect();
    for _ in 0..draw(MAX_OPTIONS + 1) {
        for word in same[draw(same.len())] {
            let key = |word: &OsString| {
                let word = word.to_string_lossy();
                word.split_once('=').map_or(word.clone().into_owned(), |(key, _)| key.to_owned())
            };
            let is_new = !words.iter().any(|known| key(known) == key(word));
            if word.to_string_lossy().starts_with("--") && is_new {
                words.insert(1, word.clone());
            }
        }
    }
    words
}
