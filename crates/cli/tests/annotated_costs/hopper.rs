//! Sorts grain, with generics, closures and inlined functions, so that the costs of a line come from many places.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Grain {
    Rye(u32),
    Wheat { weight: u32, moist: bool },
}

impl Grain {
    #[inline(always)]
    fn weight(&self) -> u32 {
        match self {
            Grain::Rye(weight) => *weight,
            Grain::Wheat { weight, moist } => weight + u32::from(*moist),
        }
    }
}

fn heaviest<T, K: Ord>(items: &[T], key: impl Fn(&T) -> K) -> Option<&T> {
    let (first, rest) = items.split_first()?;
    Some(rest.iter().fold(first, |best, item| if key(item) > key(best) { item } else { best }))
}

#[inline(never)]
fn shake(seed: u32, times: u32) -> Vec<Grain> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    (0..times)
        .map(|nth| {
            if nth % 3 == 0 {
                Grain::Rye(next() % 100)
            } else {
                Grain::Wheat { weight: next() % 80, moist: next() % 2 == 0 }
            }
        })
        .collect()
}

#[inline(never)]
fn depth(levels: u32) -> u32 {
    if levels == 0 { 0 } else { 1 + depth(levels - 1) + depth(levels / 2) }
}

fn main() {
    let mut grains = shake(7, 200);
    grains.sort();
    let mut by_weight: BTreeMap<u32, Vec<&Grain>> = BTreeMap::new();
    for grain in &grains {
        by_weight.entry(grain.weight()).or_default().push(grain);
    }
    let most = heaviest(&grains, Grain::weight);
    let moist = heaviest(&grains, |grain| matches!(grain, Grain::Wheat { moist: true, .. }));
    println!("{} {most:?} {moist:?} {}", by_weight.len(), depth(9));
}
