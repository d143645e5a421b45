//! The total of a search in a tree: what the functions that match cost together.

use gristmill_output::json::Costs;
use gristmill_report::{Head, matches_name};
use regex::Regex;

use crate::call_tree::{KeptTree, add};
use crate::changed_answer::Matches;

/// Adds up the nodes that match, without those below another one that matches: their costs are part of it.
pub(crate) fn matches(kept: &KeptTree, head: &Head, pattern: &Regex) -> Matches {
    let fits: Vec<bool> = kept.tree.entries.iter().map(|entry| matches_name(pattern, &entry.name)).collect();
    let mut is_inside = vec![false; kept.tree.nodes.len()];
    let mut is_used = vec![false; fits.len()];
    let mut nodes = 0;
    let mut matched = vec![0; head.totals.len()];
    let (mut is_lower_bound, mut is_guessed) = (false, false);
    for (id, node) in kept.tree.nodes.iter().enumerate() {
        let is_below = node.parent.is_some_and(|parent| is_inside[parent]);
        let is_match = fits[node.entry];
        is_used[node.entry] |= is_match;
        is_inside[id] = is_below || is_match;
        if is_match && !is_below {
            nodes += 1;
            add(&mut matched, &node.inclusive);
            is_guessed |= node.is_guessed;
        }
        // Below a match, everything is counted already.
        is_lower_bound |= !is_inside[id] && node.hidden > 0;
    }
    Matches {
        functions: is_used.into_iter().filter(|used| *used).count(),
        nodes,
        matched: Costs::new(&head.event_types, matched),
        is_lower_bound,
        is_guessed,
    }
}
