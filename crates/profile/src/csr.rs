//! Things by a number of theirs, such as arcs by callee: sorted by counting.

use std::ops::Range;

/// The places of things in a list, those of one number side by side and in the order of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Grouped {
    begins: Vec<u32>,
    places: Vec<u32>,
}

impl Grouped {
    /// Takes the number of each thing in the list, all of them below `count`. Those without one are left out.
    pub(crate) fn of(count: usize, numbers: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let begins = begins(count, numbers.clone().flatten());
        let mut next = begins.clone();
        let mut places = vec![0; begins.last().map_or(0, |&end| end as usize)];
        for (place, number) in (0u32..).zip(numbers) {
            if let Some(number) = number {
                places[next[number] as usize] = place;
                next[number] += 1;
            }
        }
        Grouped { begins, places }
    }

    /// The places of those with this number; none above all numbers.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> &[u32] {
        self.places.get(self.range(number)).unwrap_or_default()
    }

    /// The same, to be put in another order.
    pub(crate) fn get_mut(&mut self, number: usize) -> &mut [u32] {
        let range = self.range(number);
        self.places.get_mut(range).unwrap_or_default()
    }

    #[inline]
    fn range(&self, number: usize) -> Range<usize> {
        let begin =
            |number: usize| self.begins.get(number).map_or(self.places.len(), |&begin| begin as usize);
        begin(number)..begin(number + 1)
    }
}

/// Where those of each number begin when they stand side by side; one more at the end.
pub(crate) fn begins(count: usize, numbers: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut begins = vec![0u32; count + 1];
    numbers.for_each(|number| begins[number + 1] += 1);
    (0..count).for_each(|number| begins[number + 1] += begins[number]);
    begins
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_those_that_a_search_finds(numbers in prop::collection::vec(prop::option::of(0usize..6), 0..40)) {
            let mut grouped = Grouped::of(6, numbers.iter().copied());
            for number in 0..8 {
                let is_of = |&place: &u32| numbers[place as usize] == Some(number);
                let searched: Vec<u32> = (0..).take(numbers.len()).filter(is_of).collect();
                prop_assert_eq!(grouped.get(number), &searched[..]);
                prop_assert_eq!(grouped.get_mut(number), &searched[..]);
            }
        }
    }
}
