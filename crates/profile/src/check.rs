//! The invariants of every profile.

use std::collections::BTreeMap;
use std::fmt;

use gristmill_format::Cost;

use crate::decode::{BlockLine, BlockReader};
use crate::finding::MAX_FINDINGS;
use crate::id::PartId;
use crate::index::functions::FunctionKey;
use crate::lines::place_columns;
use crate::profile::Profile;

/// A broken invariant of a profile: an error in this library, whatever the files contain. See [`Profile::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenInvariant(String);

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BrokenInvariant {}

type Sums = BTreeMap<(usize, usize), Vec<Cost>>;

impl Profile {
    /// Checks a profile that was just loaded, in debug builds, if that takes no longer than a moment.
    pub(crate) fn debug_check(&self) {
        const MAX_CHECKED_BYTES: usize = 1 << 12;
        if cfg!(debug_assertions) {
            let byte_count: usize = self.inputs.iter().map(|input| input.bytes.len()).sum();
            if byte_count <= MAX_CHECKED_BYTES {
                let result = self.check();
                debug_assert!(result.is_ok(), "{result:?}");
            }
        }
    }

    /// Checks all invariants. It decodes every line, so it takes longer than loading.
    ///
    /// ```
    /// let profile = gristmill_profile::Profile::from_bytes(b"events: Ir\nfn=f\n1 2\n");
    /// assert_eq!(profile.check(), Ok(()));
    /// ```
    ///
    /// # Errors
    ///
    /// The first broken invariant.
    pub fn check(&self) -> Result<(), BrokenInvariant> {
        self.check_names()?;
        self.check_parts()?;
        for part in self.parts().map(|part| part.id()) {
            self.check_blocks(part)?;
            self.check_sums(part)?;
        }
        Ok(())
    }

    /// Checks that each function has one key, and each key leads to a function.
    fn check_names(&self) -> Result<(), BrokenInvariant> {
        let index = &self.index;
        for (id, function) in index.functions.iter() {
            let FunctionKey { object, file, name } = function.key;
            let names = [object.into(), file.into(), name];
            let is_known = names.iter().zip(&index.names).all(|(id, names)| id.index() < names.len());
            ensure(is_known, || format!("{id:?} has names that do not exist"))?;
            let found = index.functions.find(function.key);
            ensure(found == Some(id), || format!("{id:?} is found as {found:?}"))?;
        }
        ensure(index.functions.is_consistent(), || "a key leads to no function".to_owned())?;
        let findings = &index.findings;
        let kept = findings.kept.len();
        ensure(kept <= MAX_FINDINGS && kept as u64 <= findings.total, || {
            "more findings kept than there were".to_owned()
        })
    }

    /// Checks that parts are in order and do not overlap.
    fn check_parts(&self) -> Result<(), BrokenInvariant> {
        let mut before = (0, 0);
        for part in self.parts() {
            let bytes = part.bytes();
            ensure(before <= (part.input(), bytes.start) && bytes.start <= bytes.end, || {
                format!("{:?} is out of order", part.id())
            })?;
            before = (part.input(), bytes.end);
            let known = part.event_types().iter().all(|event| event.index() < self.event_count());
            ensure(known, || format!("{:?} has event types that are not there", part.id()))?;
        }
        Ok(())
    }

    /// Checks that the blocks of a part are in the part, in order.
    fn check_blocks(&self, part: PartId) -> Result<(), BrokenInvariant> {
        let bytes = self.part(part).bytes();
        let mut before = None;
        for block in &self.index.blocks[self.index.block_range(part)] {
            let follows = before.is_none_or(|before| before < (block.byte, block.line()));
            ensure(follows && bytes.contains(&block.byte), || {
                format!("a block of {part:?} is out of order")
            })?;
            let function = self.index.functions.get(block.function);
            ensure(function.mention.is_defined, || {
                format!("a block of {part:?} has a function without lines")
            })?;
            before = Some((block.byte, block.line()));
        }
        Ok(())
    }

    /// Checks that the sums of a part are those of its lines, each under one key, sorted.
    fn check_sums(&self, part: PartId) -> Result<(), BrokenInvariant> {
        let (mut selves, mut arcs) = (Sums::new(), Sums::new());
        let info = self.part(part);
        let width = info.event_types().len();
        for index in self.index.block_range(part) {
            let function = self.index.blocks[index].function.index();
            let mut reader = BlockReader::new(self, part, index);
            while let Some(line) = reader.next_line() {
                let (sums, key, count, costs) = match line {
                    BlockLine::SelfCost { place, costs } => {
                        (&mut selves, (function, place.file.index()), 0, costs)
                    }
                    BlockLine::Calls { callee, count, costs, .. } => {
                        (&mut arcs, (function, callee.index()), count, costs)
                    }
                    BlockLine::Jump { .. } => continue,
                };
                let sum = sums.entry(key).or_default();
                if sum.is_empty() {
                    sum.push(0);
                }
                sum[0] += count;
                place_columns(&costs, width, sum);
            }
        }
        let mut loaded = Vec::new();
        self.each_self_cost(&info, |function, file, costs| {
            loaded.push(((function.index(), file.index()), row(0, costs)));
        });
        ensure(loaded == rows(selves), || format!("the self costs of {part:?} are not those of its lines"))?;
        let mut loaded = Vec::new();
        self.each_arc(&info, |arc, costs| {
            loaded.push(((arc.caller.index(), arc.callee.index()), row(arc.count, costs)));
        });
        ensure(loaded == rows(arcs), || format!("the arcs of {part:?} are not those of its lines"))
    }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), BrokenInvariant> {
    if holds { Ok(()) } else { Err(BrokenInvariant(message())) }
}

/// Returns a count and costs without zeros at the end.
fn row(count: Cost, costs: &[Cost]) -> Vec<Cost> {
    let mut row = vec![count];
    row.extend_from_slice(costs);
    trimmed(row)
}

fn rows(sums: Sums) -> Vec<((usize, usize), Vec<Cost>)> {
    sums.into_iter().map(|(key, sum)| (key, trimmed(sum))).collect()
}

fn trimmed(mut row: Vec<Cost>) -> Vec<Cost> {
    row.truncate(row.iter().rposition(|&cost| cost != 0).map_or(0, |last| last + 1));
    row
}
