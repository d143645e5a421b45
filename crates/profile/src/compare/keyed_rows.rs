//! Sums of costs by key, in the order of the keys.

use gristmill_format::Cost;

use crate::cost::CostTable;

/// Rows of costs by key: sorted, each key once.
#[derive(Debug)]
pub(super) struct KeyedRows<K> {
    pub(super) keys: Vec<K>,
    pub(super) costs: CostTable,
}

impl<K: Copy + Ord> KeyedRows<K> {
    /// Sorts rows, and adds up those of equal keys.
    pub(super) fn new(keys: Vec<K>, costs: CostTable) -> Self {
        if keys.is_sorted_by(|key, next| key < next) {
            return KeyedRows { keys, costs };
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&row| keys[row]);
        let mut sums = KeyedRows { keys: Vec::new(), costs: CostTable::new(costs.width(), 0) };
        for row in order {
            if sums.keys.last() == Some(&keys[row]) {
                sums.costs.add(sums.keys.len() - 1, costs.row(row));
            } else {
                sums.keys.push(keys[row]);
                sums.costs.push(costs.row(row));
            }
        }
        sums
    }

    /// Returns the row of a key.
    pub(super) fn get(&self, key: K) -> Option<&[Cost]> {
        self.keys.binary_search(&key).ok().map(|row| self.costs.row(row))
    }
}
