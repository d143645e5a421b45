//! A small deterministic generator of numbers (`SplitMix64`): the same seed gives the same file on every machine.

#[derive(Debug, Clone)]
pub(crate) struct Prng(u64);

impl Prng {
    #[cfg(test)]
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream of its own for each item, so that an item comes out the same whoever asks for it, and when.
    pub(crate) fn for_item(seed: u64, kind: u64, item: u64) -> Self {
        let mut mixer = Self(seed ^ kind.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let start = mixer.next() ^ item.wrapping_mul(0xA076_1D64_78BD_642F);
        Self(start)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A number whose count of digits, not whose value, is spread evenly over `0..=digits`.
    pub(crate) fn magnitude(&mut self, digits: u32) -> u64 {
        let bound = 10u64.pow(u32::try_from(self.below(u64::from(digits) + 1)).unwrap_or(0));
        self.below(bound)
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        let bound = from.len() as u64;
        let at = usize::try_from(self.below(bound)).unwrap_or(0);
        from[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_first_numbers() {
        // The reference values of SplitMix64 for seed 1234567.
        let mut prng = Prng::new(1_234_567);
        assert_eq!(prng.next(), 6_457_827_717_110_365_317);
        assert_eq!(prng.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn bounds_hold() {
        let mut prng = Prng::new(1);
        for _ in 0..10_000 {
            assert!(prng.below(7) < 7);
            assert!((3..=5).contains(&prng.between(3, 5)));
            assert!(prng.magnitude(3) < 1000);
        }
        assert_eq!(prng.below(0), 0);
    }
}
