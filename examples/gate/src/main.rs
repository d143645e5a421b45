//! Grinds grain: sieves numbers, sums them up, and says what came of it.

/// The numbers up to a limit that no smaller one divides.
#[inline(never)]
fn sieve(limit: usize) -> Vec<usize> {
    let mut is_flour = vec![true; limit + 1];
    let mut kept = Vec::new();
    for grain in 2..=limit {
        if is_flour[grain] {
            kept.push(grain);
            for husk in (grain * grain..=limit).step_by(grain) {
                is_flour[husk] = false;
            }
        }
    }
    kept
}

/// Returns the fineness of the flour: the remainders of all products of two neighbours, added up.
#[inline(never)]
fn fineness(flour: &[usize]) -> usize {
    flour.windows(2).map(|pair| (pair[0] * pair[1]) % 97).sum()
}

fn main() {
    let limit = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let flour = sieve(limit);
    println!("{} kept, {} fine", flour.len(), fineness(&flour));
}
