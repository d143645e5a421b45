//! The path of a node of a tree as text.

/// The most names in the path of a CSV row. Without a limit, the paths of a deep tree would grow with its square.
const MAX_PATH_NAMES: usize = 64;
/// The same limit in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// Returns the names from the root to a node. A long path begins with `…`. `get` returns the name of a node, and the node
/// above it.
pub(crate) fn path<'n>(node: usize, get: impl Fn(usize) -> (&'n str, Option<usize>)) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for node in std::iter::successors(Some(node), |&node| get(node).1) {
        let name = get(node).0;
        bytes += name.len();
        if names.len() == MAX_PATH_NAMES || !names.is_empty() && bytes > MAX_PATH_BYTES {
            names.push("…");
            break;
        }
        names.push(name);
    }
    names.reverse();
    names.join(";")
}
