//! Alignment of the lines of two versions of a text.

use std::collections::HashMap;

/// Returns the index of each line of the base in the new text, or `None` if it was removed.
///
/// It is a patience diff: the common start and end are aligned, then lines that each side has exactly once and in the same
/// order, then equal lines next to them. A line that moved past others counts as removed and added.
pub(super) fn aligned(base: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let mut of = vec![None; base.len()];
    let start = base.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = base.len().min(new.len()) - start;
    let end = base.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    (0..start).for_each(|line| of[line] = Some(line));
    (1..=end).for_each(|line| of[base.len() - line] = Some(new.len() - line));

    let (base_middle, new_middle) = (start..base.len() - end, start..new.len() - end);
    // By line: its count and last index on each side.
    let mut seen: HashMap<&[u8], [(u32, usize); 2]> = HashMap::new();
    for (side, (lines, middle)) in
        [(base, base_middle.clone()), (new, new_middle.clone())].into_iter().enumerate()
    {
        for line in middle {
            let (count, place) = &mut seen.entry(lines[line]).or_default()[side];
            *count += 1;
            *place = line;
        }
    }
    let unique = base_middle.clone().filter_map(|line| match seen.get(base[line]) {
        Some([(1, _), (1, place)]) => Some((line, *place)),
        _ => None,
    });
    let unique: Vec<(usize, usize)> = unique.collect();
    for (line, place) in in_order(&unique) {
        of[line] = Some(place);
    }
    // Between two aligned lines: equal lines after the first, then equal lines before the second.
    let anchors = base_middle.clone().filter_map(|line| of[line].map(|place| (line, place)));
    let mut anchors: Vec<(usize, usize)> = anchors.collect();
    anchors.push((base_middle.end, new_middle.end));
    let (mut line, mut place) = (base_middle.start, new_middle.start);
    for (next_line, next_place) in anchors {
        let (mut last_line, mut last_place) = (next_line, next_place);
        while line < last_line && place < last_place && base[line] == new[place] {
            of[line] = Some(place);
            (line, place) = (line + 1, place + 1);
        }
        while line < last_line && place < last_place && base[last_line - 1] == new[last_place - 1] {
            (last_line, last_place) = (last_line - 1, last_place - 1);
            of[last_line] = Some(last_place);
        }
        (line, place) = (next_line + 1, next_place + 1);
    }
    of
}

/// Returns the longest subsequence of pairs with rising second members.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // By length of subsequence: the pair with the smallest second member that ends one.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (nth, &(_, place)) in pairs.iter().enumerate() {
        let at = ends.partition_point(|&end| pairs[end].1 < place);
        before[nth] = at.checked_sub(1).map(|at| ends[at]);
        if at == ends.len() { ends.push(nth) } else { ends[at] = nth }
    }
    let mut run = Vec::new();
    let mut at = ends.last().copied();
    while let Some(nth) = at {
        run.push(pairs[nth]);
        at = before[nth];
    }
    run.reverse();
    run
}
