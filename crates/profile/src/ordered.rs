//! Maps in the order of their keys that share the code of one tree.
//!
//! A `BTreeMap` is compiled for each pair of key and value, several thousand bytes at a time: in WebAssembly, where a page loads
//! them all, a tenth of the library. Here the keys of all maps are numbers of one type, and the tree has the places of the
//! entries.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

/// A key of an [`OrderedMap`]. See the example there.
pub trait OrderedKey: Copy {
    /// The bits that a number has at most: 128, or fewer.
    const BITS: u32;

    /// Returns a number that no other key has, greater than those of the keys before it.
    fn ordinal(self) -> u128;
}

/// A map in the order of its keys.
///
/// ```
/// use gristmill_profile::ordered::OrderedMap;
///
/// let mut lines: OrderedMap<u64, Vec<&str>> = OrderedMap::default();
/// lines.or_default(20).push("late");
/// lines.or_default(3).push("early");
/// lines.or_default(20).push("later");
/// let all: Vec<(u64, Vec<&str>)> = lines.into_iter().collect();
/// assert_eq!(all, [(3, vec!["early"]), (20, vec!["late", "later"])]);
/// ```
#[derive(Clone)]
pub struct OrderedMap<K, V> {
    /// By number of the key: the place among the entries.
    places: BTreeMap<u128, usize>,
    /// In the order in which they came; nothing where one was removed.
    entries: Vec<Option<(K, V)>>,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        OrderedMap { places: BTreeMap::new(), entries: Vec::new() }
    }
}

impl<K, V> OrderedMap<K, V> {
    /// Returns how many keys there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns `true` if there is no key.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl<K: OrderedKey, V> OrderedMap<K, V> {
    /// Returns the value of a key.
    pub fn get(&self, key: K) -> Option<&V> {
        let entry = &self.entries[*self.places.get(&key.ordinal())?];
        entry.as_ref().map(|(_, value)| value)
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let entry = &mut self.entries[*self.places.get(&key.ordinal())?];
        entry.as_mut().map(|(_, value)| value)
    }

    /// Returns `true` if there is a value for a key.
    pub fn contains(&self, key: K) -> bool {
        self.places.contains_key(&key.ordinal())
    }

    /// Sets the value of a key, and returns the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let place = self.place(key);
        self.entries[place].replace((key, value)).map(|(_, value)| value)
    }

    /// Returns the value of a key; makes it if there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(key);
        &mut self.entries[place].get_or_insert_with(|| (key, make())).1
    }

    /// Returns the value of a key; sets it to the default if there is none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert_with(key, V::default)
    }

    /// Removes a key, and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let place = self.places.remove(&key.ordinal())?;
        self.entries[place].take().map(|(_, value)| value)
    }

    /// Removes what the function returns `false` for.
    pub fn retain(&mut self, mut is_kept: impl FnMut(K, &V) -> bool) {
        for entry in &mut self.entries {
            if let Some((key, _)) = entry.take_if(|(key, value)| !is_kept(*key, value)) {
                self.places.remove(&key.ordinal());
            }
        }
    }

    /// Returns the place of a key, a new one if it has none.
    fn place(&mut self, key: K) -> usize {
        let new = self.entries.len();
        let place = *self.places.entry(key.ordinal()).or_insert(new);
        if place == new {
            self.entries.push(None);
        }
        place
    }

    /// Returns the first and the last key.
    pub fn ends(&self) -> Option<[K; 2]> {
        let key = |place: Option<(&u128, &usize)>| self.entries[*place?.1].as_ref().map(|(key, _)| *key);
        Some([key(self.places.first_key_value())?, key(self.places.last_key_value())?])
    }

    /// Iterates over keys and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let entries = self.places.values().filter_map(|&place| self.entries[place].as_ref());
        entries.map(|(key, value)| (*key, value))
    }

    /// Iterates over the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.iter().map(|(key, _)| key)
    }

    /// Iterates over the values in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Iterates over the values in no useful order, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().flatten().map(|(_, value)| value)
    }

    /// Takes keys and values, in the order of the keys.
    #[expect(
        clippy::should_implement_trait,
        reason = "the trait would have to name the type of the iterator"
    )]
    pub fn into_iter(self) -> impl ExactSizeIterator<Item = (K, V)> {
        let mut entries = self.entries;
        self.places.into_values().map(move |place| {
            #[expect(clippy::expect_used, reason = "a place is that of an entry")]
            entries[place].take().expect("an entry at each place")
        })
    }
}

impl<K: OrderedKey, V> Index<K> for OrderedMap<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        #[expect(clippy::expect_used, reason = "as that of other maps")]
        self.get(key).expect("a value for the key")
    }
}

impl<K: OrderedKey, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = OrderedMap::default();
        entries.into_iter().for_each(|(key, value)| drop(map.insert(key, value)));
        map
    }
}

impl<K: OrderedKey + fmt::Debug, V: fmt::Debug> fmt::Debug for OrderedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl OrderedKey for bool {
    const BITS: u32 = 1;

    fn ordinal(self) -> u128 {
        self.into()
    }
}

impl OrderedKey for u64 {
    const BITS: u32 = u64::BITS;

    fn ordinal(self) -> u128 {
        self.into()
    }
}

impl OrderedKey for usize {
    const BITS: u32 = u64::BITS;

    fn ordinal(self) -> u128 {
        self as u128
    }
}

impl OrderedKey for i64 {
    const BITS: u32 = u64::BITS;

    fn ordinal(self) -> u128 {
        (i128::from(self) - i128::from(i64::MIN)).unsigned_abs()
    }
}

impl<K: OrderedKey> OrderedKey for Option<K> {
    const BITS: u32 = 1 + K::BITS;

    fn ordinal(self) -> u128 {
        self.map_or(0, |key| 1 << K::BITS | key.ordinal())
    }
}

impl<A: OrderedKey, B: OrderedKey> OrderedKey for (A, B) {
    const BITS: u32 = {
        assert!(A::BITS + B::BITS <= u128::BITS, "a number has 128 bits");
        A::BITS + B::BITS
    };

    fn ordinal(self) -> u128 {
        self.0.ordinal() << B::BITS | self.1.ordinal()
    }
}
