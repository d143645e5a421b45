//! Nodes of a directed graph that can reach themselves.

/// Returns for each node whether an arc leads from it to itself, directly or through others. `arcs` has the targets of each.
///
/// This is Gabow's search for strongly connected components. A stack of its own stands in for recursion: a file decides how
/// deep it goes.
pub(super) fn members(arcs: &[Vec<usize>]) -> Vec<bool> {
    const UNSEEN: usize = 0;
    const DONE: usize = usize::MAX;
    let mut is_member = vec![false; arcs.len()];
    // When a node was met, counted from 1.
    let mut met = vec![UNSEEN; arcs.len()];
    let mut count = 0;
    // Nodes whose component is not complete, and the first nodes of what may be components.
    let (mut open, mut firsts): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    // The nodes of the path, each with the count of its arcs that are followed.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..arcs.len() {
        if met[root] == UNSEEN {
            path.push((root, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            if *followed == 0 && met[node] == UNSEEN {
                count += 1;
                met[node] = count;
                open.push(node);
                firsts.push(node);
            }
            let Some(&target) = arcs[node].get(*followed) else {
                path.pop();
                if firsts.last() == Some(&node) {
                    firsts.pop();
                    let begin = open.iter().rposition(|&other| other == node).unwrap_or(open.len());
                    let is_loop = open.len() - begin > 1 || arcs[node].contains(&node);
                    for other in open.drain(begin..) {
                        is_member[other] = is_loop;
                        met[other] = DONE;
                    }
                }
                continue;
            };
            *followed += 1;
            if met[target] == UNSEEN {
                path.push((target, 0));
            } else if met[target] != DONE {
                while firsts.last().is_some_and(|&first| met[first] > met[target]) {
                    firsts.pop();
                }
            }
        }
    }
    is_member
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn members_of_loops_are_found_and_no_others() {
        let numbers = |arcs: &[&[usize]]| -> Vec<usize> {
            let arcs: Vec<Vec<usize>> = arcs.iter().map(|targets| targets.to_vec()).collect();
            let is_member = members(&arcs);
            (0..arcs.len()).filter(|&node| is_member[node]).collect()
        };
        assert_eq!(numbers(&[&[1], &[2], &[]]), []);
        assert_eq!(numbers(&[&[0], &[0]]), [0]);
        // 0 leads to a loop, and 4 is led to from one.
        assert_eq!(numbers(&[&[1], &[2], &[3], &[1, 4], &[]]), [1, 2, 3]);
        // A node between two loops is in none.
        assert_eq!(numbers(&[&[1], &[0, 2], &[3], &[4, 4], &[3]]), [0, 1, 3, 4]);
        assert_eq!(numbers(&[&[1, 2], &[0], &[1]]), [0, 1, 2]);
    }

    #[test]
    fn a_long_chain_needs_no_recursion() {
        let mut arcs: Vec<Vec<usize>> = (1..200_000).map(|next| vec![next]).collect();
        arcs.push(vec![]);
        assert!(!members(&arcs).contains(&true));
        arcs[199_999] = vec![0];
        assert!(!members(&arcs).contains(&false));
    }
}
