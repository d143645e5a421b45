//! The flags that code needs: where it needs none, counting may change them.

use super::Engine;
use crate::block::{ALL_FLAGS, Block, End, FlagsNeeded};
use crate::symbols::Section;

/// The count of instructions among which one that sets the flags is searched. Many functions begin with seven that save registers and take
/// space on the stack, of which the last one does.
const LOOK_AHEAD_INSTRUCTIONS: usize = 8;

/// The count of jumps and calls that are followed in such a search.
const LOOK_AHEAD_JUMPS: usize = 2;

impl Engine {
    /// Returns the flags that the code behind a block needs, as far as it is known.
    pub(super) fn flags_needed_behind(&self, block: &Block<'_>) -> u32 {
        match block.end {
            End::Jump(target) | End::Call(target) => self.flags_needed_at(target),
            End::Conditional(target) => self.flags_needed_at(target) | self.flags_needed_at(block.next()),
            End::Next(next) => self.flags_needed_at(next),
            End::IndirectJump if self.is_stub(block.start) => 0,
            // The kernel keeps flags, but the way to it is long.
            _ => ALL_FLAGS,
        }
    }

    /// `true` for code that leads to functions of other objects.
    fn is_stub(&self, address: u64) -> bool {
        matches!(self.objects.at(address), Some((_, Section::Stubs)))
    }

    /// Returns the flags that the code at an address needs.
    pub(super) fn flags_needed_at(&self, address: u64) -> u32 {
        if let Some(known) = self.needed_flags.borrow().get(&address) {
            return *known;
        }
        let needed = self.search_needed_flags(address);
        self.needed_flags.borrow_mut().insert(address, needed);
        needed
    }

    fn search_needed_flags(&self, mut address: u64) -> u32 {
        let mut needed = FlagsNeeded::default();
        for _ in 0..=LOOK_AHEAD_JUMPS {
            // Stubs lead to the dynamic linker as well, which changes flags.
            if self.is_stub(address) {
                return needed.read;
            }
            if self.space.has_changing_code(address) {
                break;
            }
            match needed.look_at(self.code_at(address), address, LOOK_AHEAD_INSTRUCTIONS) {
                Some(next) => address = next,
                None => break,
            }
        }
        needed.all()
    }
}
