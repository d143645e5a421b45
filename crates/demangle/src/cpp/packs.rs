//! The packs of templates that are in a pattern.

use super::ast::{Id, List, Node};
use super::printer::Printer;

/// The limit of nesting.
const MAX_DEPTH: u32 = 96;

impl Printer<'_, '_> {
    /// Returns the count of elements of the first pack in a pattern.
    pub(super) fn pack_len(&mut self, pattern: Id, depth: u32) -> Option<usize> {
        if depth > MAX_DEPTH || !self.count_step() {
            return None;
        }
        match self.tree.node(pattern) {
            Node::Parameter(number) => self.pack_of(number),
            Node::Nested(a, b) | Node::Vector(a, b) | Node::MemberPointer(a, b) => {
                self.first_pack(depth, &[a, b])
            }
            Node::Binary(a, _, b) | Node::NamedCast(_, a, b) | Node::VendorQualified(a, b) => {
                self.first_pack(depth, &[a, b])
            }
            Node::Condition(a, b, c) => self.first_pack(depth, &[a, b, c]),
            Node::Template(of, list) | Node::Call(of, list) | Node::Cast(of, list) => {
                self.first_pack(depth, &[of]).or_else(|| self.pack_len_of(list, depth))
            }
            Node::Initializers(of, list) => {
                of.and_then(|of| self.pack_len(of, depth + 1)).or_else(|| self.pack_len_of(list, depth))
            }
            Node::Pack(list) => self.pack_len_of(list, depth),
            Node::FunctionType { returned, parameters, .. } => {
                self.first_pack(depth, &[returned]).or_else(|| self.pack_len_of(parameters, depth))
            }
            Node::Array(size, of) => {
                size.and_then(|size| self.pack_len(size, depth + 1)).or_else(|| self.pack_len(of, depth + 1))
            }
            Node::Tagged(of, _)
            | Node::Conversion(of)
            | Node::Qualified(of, _)
            | Node::Pointer(of)
            | Node::LeftReference(of)
            | Node::RightReference(of)
            | Node::Suffixed(of, _)
            | Node::Decltype(of)
            | Node::Prefix(_, of)
            | Node::Postfix(of, _)
            | Node::Word(_, of) => self.first_pack(depth, &[of]),
            _ => None,
        }
    }

    fn first_pack(&mut self, depth: u32, ids: &[Id]) -> Option<usize> {
        ids.iter().find_map(|&id| self.pack_len(id, depth + 1))
    }

    fn pack_len_of(&mut self, list: List, depth: u32) -> Option<usize> {
        let tree = self.tree;
        self.first_pack(depth, tree.items(list))
    }
}
