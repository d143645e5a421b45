//! The millstone.

/// Each grain depends on the last one, so that the compiler keeps to one after the other.
#[inline(never)]
fn crack(flour: u32, grain: u32) -> u32 {
    let grain = (grain ^ flour >> 15).wrapping_mul(2246822519);
    flour.rotate_left(5) ^ grain ^ grain >> 13
}

#[inline(never)]
pub fn grind(sack: &[u32]) -> u32 {
    sack.iter().fold(0, |flour, grain| crack(flour, *grain))
}
