//! The reason for a part of the profile.

use crate::contexts::FunctionId;

/// The reason for a part.
#[derive(Debug)]
pub(crate) enum Trigger {
    /// The end of the program.
    End,
    /// Another program, which takes the place of this one: its path.
    Replaced(Vec<u8>),
    Before(FunctionId),
    After(FunctionId),
    Blocks,
    /// A request of the program, as it is written.
    Request(Vec<u8>),
    /// A request of the user, as it is written.
    Command(String),
}

impl Trigger {
    /// `true` if it is of one thread, so that others with a profile of their own go on.
    pub(super) fn is_of_thread(&self) -> bool {
        matches!(self, Trigger::Before(_) | Trigger::After(_) | Trigger::Request(_))
    }
}
