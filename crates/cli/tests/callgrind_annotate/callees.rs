//! The callee of a call that does not name its file or object.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Call, Facts};

/// Object and file.
type Place = (Option<String>, String);

/// Makes calls to functions that have no lines where they are said to be lead to the one function of their name that
/// has; says whether there were any.
pub(crate) fn unite(facts: &mut Facts) -> bool {
    let mut places: BTreeMap<String, BTreeSet<Place>> = BTreeMap::new();
    for block in &facts.blocks {
        let place = (block.object.clone(), block.file.clone());
        places.entry(block.function.clone()).or_default().insert(place);
    }
    // Whether object and file were ever said of a callee.
    let mut said: BTreeMap<(String, Place), [bool; 2]> = BTreeMap::new();
    let rows = facts.blocks.iter().flat_map(|block| &block.rows);
    for call in rows.filter_map(|row| row.call.as_ref()) {
        let [object, file] = said.entry(key(call)).or_default();
        *object |= call.is_object_said;
        *file |= call.is_file_said;
    }
    let mut meant: BTreeMap<(String, Place), Place> = BTreeMap::new();
    for ((name, place), said) in said {
        let Some(known) = places.get(&name).filter(|known| !known.contains(&place)) else { continue };
        if let Some(found) = one_of(known, &place, said) {
            meant.insert((name, place), found);
        }
    }
    let rows = facts.blocks.iter_mut().flat_map(|block| &mut block.rows);
    for call in rows.filter_map(|row| row.call.as_mut()) {
        if let Some((object, file)) = meant.get(&key(call)) {
            (call.object, call.file) = (object.clone(), file.clone());
        }
    }
    !meant.is_empty()
}

fn key(call: &Call) -> (String, Place) {
    (call.function.clone(), (call.object.clone(), call.file.clone()))
}

/// The same object if only that is certain, then the same file, then wherever there is but one.
fn one_of(known: &BTreeSet<Place>, (object, file): &Place, said: [bool; 2]) -> Option<Place> {
    let only = |fits: &dyn Fn(&Place) -> bool| {
        let mut found = known.iter().filter(|place| fits(place));
        found.next().filter(|_| found.next().is_none()).cloned()
    };
    let ends = |path: &str| {
        let before = path.strip_suffix(file.as_str());
        !file.is_empty() && before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
    };
    let in_object = || only(&|place| place.0 == *object);
    let in_file = || only(&|place| place.1 == *file);
    match said {
        [true, true] => None,
        [true, false] => in_object(),
        [false, true] => in_file().or_else(|| only(&|place| ends(&place.1))),
        [false, false] => in_object().or_else(in_file).or_else(|| only(&|_| true)),
    }
}
