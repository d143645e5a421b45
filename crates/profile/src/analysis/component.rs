//! Strongly connected components: the nodes of a directed graph that can reach each other.

/// Which component each node is in. A component has a greater number than those that can be reached from it.
pub(crate) struct Components {
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
}

/// What an arc of a node is.
pub(crate) enum Step {
    /// It leads to this node.
    To(usize),
    /// It leads nowhere.
    Skip,
    /// The node has no more.
    End,
}

/// Strongly connected components after Tarjan, with a stack of its own in place of recursion: a chain of a million
/// calls is no matter.
///
/// `first` tells where the arcs of a node begin, `step` where an arc of it leads.
pub(crate) fn components(
    nodes: usize,
    first: impl Fn(usize) -> u32,
    step: impl Fn(usize, u32) -> Step,
) -> Components {
    const UNSEEN: u32 = u32::MAX;
    let mut component = vec![UNSEEN; nodes];
    // When a node was met; the first meeting that can be reached from it.
    let mut met = vec![UNSEEN; nodes];
    let mut low = vec![UNSEEN; nodes];
    let mut clock = 0;
    let mut count = 0u32;
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<(usize, u32)> = Vec::new();
    for root in 0..nodes {
        if met[root] != UNSEEN {
            continue;
        }
        path.push((root, first(root)));
        met[root] = clock;
        low[root] = clock;
        clock += 1;
        open.push(root);
        while let Some((node, arc)) = path.last_mut() {
            let (at, taken) = (*node, step(*node, *arc));
            *arc += 1;
            match taken {
                Step::Skip => {}
                Step::To(next) if met[next] == UNSEEN => {
                    met[next] = clock;
                    low[next] = clock;
                    clock += 1;
                    open.push(next);
                    path.push((next, first(next)));
                }
                Step::To(next) => {
                    if component[next] == UNSEEN {
                        low[at] = low[at].min(met[next]);
                    }
                }
                Step::End => {
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        low[parent] = low[parent].min(low[at]);
                    }
                    if low[at] == met[at] {
                        while let Some(member) = open.pop() {
                            component[member] = count;
                            if member == at {
                                break;
                            }
                        }
                        count += 1;
                    }
                }
            }
        }
    }
    Components { of: component, count: count as usize }
}
