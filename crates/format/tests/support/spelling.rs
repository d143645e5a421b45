//! The spelling that Callgrind uses when it is not told otherwise, and the way out of it and back.

use gristmill_format::{Error, NameStyle, PositionStyle, Rewrite};

use crate::lines::lines;

/// Away from all compression, and back to it.
pub(crate) fn plain_and_back(file: &[u8]) -> Result<Vec<u8>, Error> {
    let plain = Rewrite { names: NameStyle::Plain, positions: PositionStyle::Absolute, ..Rewrite::default() };
    let compressed =
        Rewrite { names: NameStyle::Compressed, positions: PositionStyle::Compressed, ..Rewrite::default() };
    compressed.run(&plain.run(file, Vec::new())?, Vec::new())
}

/// `true` if names have numbers and positions are relative wherever they can be, told from the text alone.
pub(crate) fn is_written_by_default(file: &[u8]) -> bool {
    has_numbered_names(file) && has_relative_positions(file)
}

fn has_numbered_names(file: &[u8]) -> bool {
    let mut defines = false;
    for line in lines(file) {
        let Some((key, value)) = line.split_once('=') else { continue };
        if !["ob", "fl", "fi", "fe", "fn", "cob", "cfi", "cfl", "cfn", "jfi", "jfn", "frfn"].contains(&key) {
            continue;
        }
        match value.strip_prefix('(').and_then(|inside| inside.split_once(')')) {
            // Callgrind writes this one without a number.
            Some(("spontaneous", "")) if key == "frfn" => {}
            // With `--compress-mangled=yes` names are made of numbers of other names.
            Some((_, rest)) if rest.starts_with(" (") && rest.contains(")'(") => return false,
            Some((digits, rest)) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                defines |= rest.starts_with(' ');
            }
            _ => return false,
        }
    }
    defines
}

/// Every position that can be relative is: nothing absolute is nearer than 100 to the last self cost line of its
/// function.
fn has_relative_positions(file: &[u8]) -> bool {
    let mut columns = 1;
    let mut last = vec![0; columns];
    let mut second_line = false;
    for line in lines(file) {
        if let Some(words) = line.strip_prefix("positions:") {
            columns = words.split_whitespace().count();
            last = vec![0; columns];
        } else if line.starts_with("fn=") || line.starts_with("frfn=") || line.starts_with("events:") {
            last = vec![0; columns];
        } else if line.starts_with("calls=") || line.starts_with("jump=") || line.starts_with("jcnd=") {
            second_line = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let mut here = last.clone();
            for (place, word) in here.iter_mut().zip(line.split_whitespace()) {
                let Some((position, is_relative)) = position(word, *place) else { return false };
                if !is_relative && *place > 0 && (position - *place).abs() < 100 {
                    return false;
                }
                *place = position;
            }
            if !std::mem::take(&mut second_line) {
                last = here;
            }
        }
    }
    true
}

fn position(word: &str, last: i64) -> Option<(i64, bool)> {
    let number = |digits: &str| match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    match word.as_bytes().first()? {
        b'*' => Some((last, true)),
        b'+' => Some((last + number(&word[1..])?, true)),
        b'-' => Some((last - number(&word[1..])?, true)),
        _ => Some((number(word)?, false)),
    }
}
