//! Finds the inlined calls that were written in the profile that was loaded from the text.

use std::collections::BTreeMap;

use gristmill_format::NameSpace;

use super::arcs::{ArcKey, ArcSum};
use super::nodes::{Node, Nodes};
use crate::hash::Map;
use crate::id::FunctionId;
use crate::index::functions::FunctionKey;
use crate::index::inlined::Inlined;
use crate::profile::Profile;

/// Returns the inlined calls of each part.
pub(super) fn inlined_calls(
    profile: &Profile,
    nodes: &Nodes<'_>,
    arcs: &[BTreeMap<ArcKey, ArcSum>],
) -> Inlined {
    let mut functions: Map<Node, Option<FunctionId>> = Map::default();
    let mut function = |node| *functions.entry(node).or_insert_with(|| find(profile, nodes, node));
    let mut sites = Vec::new();
    let mut pairs = Vec::new();
    for of_part in arcs {
        let mut of_part_pairs = Vec::new();
        for ArcKey { caller, file, line, callee } in of_part.keys().copied() {
            let ends = function(caller).zip(function(callee));
            debug_assert!(ends.is_some(), "its functions were written");
            let Some((caller, callee)) = ends else { continue };
            of_part_pairs.push((caller, callee));
            let file = profile.index.names[NameSpace::File].get(nodes.file(file), &profile.texts());
            sites.extend(file.map(|file| (caller, file.into(), line.unwrap_or(0), callee)));
        }
        pairs.push(of_part_pairs);
    }
    Inlined::new(pairs, sites)
}

/// Returns the function of the loaded profile that a function of the text has become.
fn find(profile: &Profile, nodes: &Nodes<'_>, node: Node) -> Option<FunctionId> {
    let (object, file, name) = nodes.key(node);
    let index = &profile.index;
    let texts = profile.texts();
    let object = index.names[NameSpace::Object].get(nodes.object(object), &texts)?;
    let file = index.names[NameSpace::File].get(nodes.file(file), &texts)?;
    let name = index.names[NameSpace::Function].get(name, &texts)?;
    index.functions.find(FunctionKey { object: object.into(), file: file.into(), name })
}
