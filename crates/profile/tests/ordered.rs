//! `OrderedMap` against the map of the standard library.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use gristmill_profile::ordered::{OrderedKey, OrderedMap};
use proptest::prelude::*;

type Key = (Option<bool>, i64);

/// A change of a map.
#[derive(Debug, Clone)]
enum Step {
    Insert(Key, u8),
    AddTo(Key, u8),
    Remove(Key),
    RetainBelow(u8),
}

fn key() -> impl Strategy<Value = Key> {
    let numbers = prop_oneof![-3_i64..4, Just(i64::MIN), Just(i64::MAX)];
    (proptest::option::of(any::<bool>()), numbers)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Insert(key, value)),
        4 => (key(), any::<u8>()).prop_map(|(key, value)| Step::AddTo(key, value)),
        3 => key().prop_map(Step::Remove),
        1 => any::<u8>().prop_map(Step::RetainBelow),
    ]
}

proptest! {
    #[test]
    fn it_does_what_another_map_does(steps in proptest::collection::vec(step(), 0..60)) {
        let mut map: OrderedMap<Key, u8> = OrderedMap::default();
        let mut naive: BTreeMap<Key, u8> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(key, value) => prop_assert_eq!(map.insert(key, value), naive.insert(key, value)),
                Step::AddTo(key, value) => {
                    let [sum, naive] = [map.or_default(key), naive.entry(key).or_default()];
                    *sum = sum.wrapping_add(value);
                    *naive = naive.wrapping_add(value);
                }
                Step::Remove(key) => prop_assert_eq!(map.remove(key), naive.remove(&key)),
                Step::RetainBelow(limit) => {
                    map.retain(|_, value| *value < limit);
                    naive.retain(|_, value| *value < limit);
                }
            }
            prop_assert_eq!((map.len(), map.is_empty()), (naive.len(), naive.is_empty()));
            let ends = naive.keys().next().zip(naive.keys().next_back());
            prop_assert_eq!(map.ends(), ends.map(|(&first, &last)| [first, last]));
            prop_assert!(map.iter().eq(naive.iter().map(|(&key, value)| (key, value))));
            for &key in naive.keys() {
                prop_assert_eq!(map.get(key), naive.get(&key));
                prop_assert!(map.contains(key));
            }
        }
        let all: Vec<(Key, u8)> = map.into_iter().collect();
        prop_assert_eq!(all, naive.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn numbers_of_keys_are_in_their_order(a in key(), b in key()) {
        prop_assert_eq!(a.cmp(&b), a.ordinal().cmp(&b.ordinal()));
    }
}
