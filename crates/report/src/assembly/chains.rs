//! The functions and lines of instructions: each with those around it, so that chains share what they have in common.

use std::collections::HashMap;
use std::rc::Rc;

use gristmill_profile::FileId;

use crate::program::Frame;

/// A chain of functions and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ChainId(u32);

/// Chains as a tree. Each instruction of a large function can have its own line in a hundred inlined functions.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// Each with the chain around it.
    frames: Vec<(Option<ChainId>, Frame)>,
    known: HashMap<FrameKey, ChainId>,
    /// The last chain that was added. Neighbours usually share it.
    last: Option<(Vec<Frame>, ChainId)>,
    /// Paths of the profile.
    paths: HashMap<FileId, Rc<[u8]>>,
}

/// The identity of a frame: the chain around it, and the addresses and lengths of its texts, which are shared.
type FrameKey = (Option<ChainId>, (usize, usize), (usize, usize), Option<u64>);

impl Chains {
    /// Adds a chain, the outermost function first. `None` if it is empty.
    pub(super) fn add(&mut self, chain: Vec<Frame>) -> Option<ChainId> {
        if let Some((last, id)) = &self.last
            && *last == chain
        {
            return Some(*id);
        }
        let mut around = None;
        for frame in &chain {
            let key = (around, identity(frame.function.as_bytes()), identity(&frame.file), frame.line);
            // A frame that is kept keeps its texts, so no other text gets their addresses.
            let id = match self.known.get(&key) {
                Some(&id) => id,
                None => {
                    #[expect(clippy::cast_possible_truncation, reason = "each has memory of its own")]
                    let id = ChainId(self.frames.len() as u32);
                    self.frames.push((around, frame.clone()));
                    self.known.insert(key, id);
                    id
                }
            };
            around = Some(id);
        }
        let id = around?;
        self.last = Some((chain, id));
        Some(id)
    }

    /// The path of a file of the profile, shared by all frames.
    pub(super) fn path(&mut self, file: FileId, path: impl FnOnce() -> Rc<[u8]>) -> Rc<[u8]> {
        Rc::clone(self.paths.entry(file).or_insert_with(path))
    }

    /// The frames of a chain, the outermost first.
    pub(super) fn frames(&self, chain: ChainId) -> Vec<&Frame> {
        let next = |id: &ChainId| self.frames[id.0 as usize].0;
        let mut frames: Vec<&Frame> =
            std::iter::successors(Some(chain), next).map(|id| &self.frames[id.0 as usize].1).collect();
        frames.reverse();
        frames
    }
}

/// The address and length of a text. All empty ones are the same.
fn identity(text: &[u8]) -> (usize, usize) {
    if text.is_empty() { (0, 0) } else { (text.as_ptr().addr(), text.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_share_what_is_around_them() {
        let (main, weigh, file): (Rc<str>, Rc<str>, Rc<[u8]>) =
            ("main".into(), "weigh".into(), b"mill.c".as_slice().into());
        let frame = |function: &Rc<str>, line| Frame {
            function: Rc::clone(function),
            file: Rc::clone(&file),
            line: Some(line),
        };
        let mut chains = Chains::default();
        let added: Vec<Vec<Frame>> = vec![
            vec![frame(&main, 1)],
            vec![frame(&main, 1), frame(&weigh, 7)],
            vec![frame(&main, 2), frame(&weigh, 7)],
            vec![frame(&main, 1), frame(&weigh, 7)],
            vec![frame(&main, 1), frame(&weigh, 8), frame(&main, 1)],
        ];
        let ids: Vec<ChainId> = added.iter().map(|chain| chains.add(chain.clone()).unwrap()).collect();
        for (id, chain) in ids.iter().zip(&added) {
            assert_eq!(chains.frames(*id), chain.iter().collect::<Vec<_>>());
        }
        assert_eq!(ids[1], ids[3]);
        assert_eq!(chains.frames.len(), 6);
        assert_eq!(chains.add(Vec::new()), None);
    }
}
