//! Which lines of two versions of a text are the same.

use std::collections::HashMap;

/// For each line of the base, where it stands in the new text; none where it went.
///
/// What both have in common at the beginning and at the end is the same. In between, lines that each side has once and
/// that stand in the same order are the same, and what is equal next to them. So it takes little more than one look at
/// each line, and what moved past other lines counts as gone and come.
pub(super) fn aligned(base: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let mut of = vec![None; base.len()];
    let start = base.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = base.len().min(new.len()) - start;
    let end = base.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    (0..start).for_each(|line| of[line] = Some(line));
    (1..=end).for_each(|line| of[base.len() - line] = Some(new.len() - line));

    let (base_middle, new_middle) = (start..base.len() - end, start..new.len() - end);
    // How often each line comes on each side, and where.
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
    // Between two lines that are the same, what is equal next to the first, then what is equal next to the second.
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

/// The longest run of pairs whose places rise.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // By length of run: the pair that ends the one with the smallest place.
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
