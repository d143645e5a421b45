//! A mill that grinds grain, measured by the tests of `gristmill diff`.

mod stone;

use std::collections::BTreeMap;

#[inline(never)]
fn fill(count: u32) -> Vec<u32> {
    let mut seed = 12345u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        seed
    };
    (0..count).map(|_| next()).collect()
}

#[inline(never)]
fn sieve(sack: &[u32], mesh: u32) -> u32 {
    sack.iter().filter(|grain| **grain % mesh == 0).fold(0, |sum: u32, grain| sum.wrapping_add(*grain))
}

#[inline(never)]
fn by_size(sack: &[u32]) -> BTreeMap<u32, u32> {
    let mut sizes = BTreeMap::new();
    for grain in sack {
        *sizes.entry(grain >> 22).or_insert(0) += 1;
    }
    sizes
}

fn main() {
    let sack = fill(20_000);
    let mut sum = stone::grind(&sack);
    for round in 0..10 {
        sum = sum.wrapping_add(sieve(&sack, 3 + round));
    }
    println!("{} {}", sum, by_size(&sack).len());
}
