//! The balance of calls: what must hold of a producer that writes one block for each call.
//!
//! Xdebug writes the block of a call when the call ends, and a `calls=` line in the block of the caller. So a function has
//! no more calls than blocks, and its calls cost what its blocks cost, up to rounding, in recursion too. A function may have
//! more blocks than calls: PHP itself calls destructors, handlers, the first function of a fiber, and what runs at shutdown.

use memchr::memmem;

use crate::cost::Cost;
use crate::shown::shown;
use crate::wholeness::{PartEnd, may_be_wrapped};

/// The function that each profile of Xdebug has.
const MAIN: &[u8] = b"{main}";

/// The beginnings of the names of PHP's own functions on fibers.
const FIBER: [&[u8]; 2] = [b"php::Fiber->", b"php::Fiber::"];

/// The blocks and calls of the functions of one part, for the question whether blocks are missing or costs were changed.
///
/// ```
/// use gristmill_format::{CallBalance, CallFault, PartEnd, ProducerKind};
///
/// let part = PartEnd {
///     text: b"creator: xdebug 3.2.0\n...",
///     is_last: true,
///     producer: ProducerKind::Xdebug,
///     creator: Some(b"xdebug 3.2.0"),
///     summary: Some(&[80]),
///     totals: None,
///     sums: &[64],
///     has_more_signs: false,
/// };
/// let names: [&[u8]; 2] = [b"{main}", b"f"];
/// let mut balance = CallBalance::default();
/// balance.block(0);
/// balance.self_cost(0, 50);
/// balance.calls(0, 1, 2, 30);
/// balance.block(1);
/// balance.self_cost(1, 14);
/// let fault = balance.fault(&part, |id| names[id as usize]);
/// assert_eq!(
///     fault,
///     Some(CallFault::MissingBlocks { missing: 1, all_calls: 2, name: b"f".to_vec(), calls: 2, blocks: 1 })
/// );
/// ```
#[derive(Debug, Default)]
pub struct CallBalance {
    /// By the id of a function.
    accounts: Vec<Account>,
    /// The functions with an account. Only these are reset, so that many small parts do not pay for all functions.
    used: Vec<u32>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Account {
    is_used: bool,
    blocks: Cost,
    calls: Cost,
    /// The cost of calls to it.
    incoming: Cost,
    /// The cost of its blocks: self cost, and that of the calls in them.
    through: Cost,
    /// The count of calls in its blocks.
    outgoing: Cost,
}

impl Account {
    /// `true` if rounding cannot explain how the cost of the calls differs from that of the blocks. Each number is cut to an
    /// integer, or rounded to the nearest.
    fn contradicts_itself(&self) -> bool {
        let Account { blocks, calls, incoming, through, outgoing, .. } = *self;
        let in_blocks = blocks + outgoing;
        let is_above = incoming - through > in_blocks;
        // What has more blocks than calls also costs more.
        let is_below = blocks <= calls && through - incoming > calls.max((calls + in_blocks) / 2);
        let is_certain = ![incoming, through].into_iter().any(may_be_wrapped);
        calls > 0 && blocks > 0 && (is_above || is_below) && is_certain
    }
}

/// A reason why the calls of a part cannot be what its producer wrote. See the example of [`CallBalance`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallFault {
    /// Functions were called more often than they have blocks.
    MissingBlocks {
        /// Calls without a block.
        missing: Cost,
        /// Calls of all functions.
        all_calls: Cost,
        /// The function that lacks most blocks.
        name: Vec<u8>,
        /// Its calls.
        calls: Cost,
        /// Its blocks.
        blocks: Cost,
    },
    /// There is no block of the main program.
    NoMain,
    /// The calls of a function do not cost what its blocks do.
    Costs {
        /// The function.
        name: Vec<u8>,
        /// The cost of its calls.
        called: Cost,
        /// The cost of its blocks.
        found: Cost,
    },
}

impl CallBalance {
    #[inline]
    fn account(&mut self, function: u32) -> &mut Account {
        let index = function as usize;
        if index >= self.accounts.len() {
            self.accounts.resize(index + 1, Account::default());
        }
        let account = &mut self.accounts[index];
        if !account.is_used {
            account.is_used = true;
            self.used.push(function);
        }
        account
    }

    /// Adds a block of a function.
    #[inline]
    pub fn block(&mut self, function: u32) {
        let account = self.account(function);
        account.blocks += 1;
    }

    /// Adds self cost of a function.
    pub fn self_cost(&mut self, function: u32, cost: Cost) {
        self.account(function).through += cost;
    }

    /// Adds calls.
    pub fn calls(&mut self, caller: u32, callee: u32, count: Cost, cost: Cost) {
        let count = count.max(0);
        let from = self.account(caller);
        from.through += cost;
        from.outgoing += count;
        let to = self.account(callee);
        to.calls += count;
        to.incoming += cost;
    }

    /// Forgets everything, and keeps the memory for the next part.
    pub fn clear(&mut self) {
        for function in self.used.drain(..) {
            self.accounts[function as usize] = Account::default();
        }
    }

    /// Returns how many blocks there are.
    pub fn block_count(&self) -> Cost {
        self.used().map(|(_, account)| account.blocks).sum()
    }

    /// `true` if the program switched between fibers.
    pub fn has_fibers<'n>(&self, name: impl Fn(u32) -> &'n [u8]) -> bool {
        self.used().any(|(function, _)| FIBER.iter().any(|fiber| name(function).starts_with(fiber)))
    }

    fn used(&self) -> impl Iterator<Item = (u32, &Account)> {
        self.used.iter().map(|&function| (function, &self.accounts[function as usize]))
    }

    /// Returns the reason why these are not all calls and costs that the producer wrote, if there is one: the most telling
    /// of several.
    pub fn fault<'n>(&self, part: &PartEnd<'_>, name: impl Fn(u32) -> &'n [u8]) -> Option<CallFault> {
        let with_blocks = || self.used().filter(|(_, account)| account.blocks > 0);
        with_blocks().next()?;
        let of_missing = |account: &Account| (account.calls - account.blocks).max(0);
        let missing: Cost = self.used().map(|(_, account)| of_missing(account)).sum();
        // Version 2.0 left it out with the summary when a script ended early.
        let has_main = part.summary.is_none() || with_blocks().any(|(function, _)| name(function) == MAIN);
        // A profile that was aggregated has one block for many calls.
        let has_each_call = (missing == 0 && has_main) || !has_counted_calls(part.text);
        if has_each_call && missing > 0 {
            // The first of several.
            let (function, account) = self.used().fold(None, |most: Option<(u32, &Account)>, next| {
                let rank = |(function, account): (u32, &Account)| (of_missing(account), u32::MAX - function);
                if most.is_some_and(|most| rank(most) >= rank(next)) { most } else { Some(next) }
            })?;
            return Some(CallFault::MissingBlocks {
                missing,
                all_calls: self.used().map(|(_, account)| account.calls).sum(),
                name: name(function).to_vec(),
                calls: account.calls,
                blocks: account.blocks,
            });
        }
        if has_each_call && !has_main {
            return Some(CallFault::NoMain);
        }
        let (function, account) = self
            .used()
            .filter(|(_, account)| account.contradicts_itself())
            .min_by_key(|(function, _)| *function)?;
        let (called, found) = (account.incoming, account.through);
        Some(CallFault::Costs { name: name(function).to_vec(), called, found })
    }
}

impl CallFault {
    /// Returns what is wrong, about a part: `it has 3 calls of 5 without costs`.
    pub fn sentence(&self) -> String {
        match self {
            CallFault::MissingBlocks { missing, all_calls, name, calls, blocks } => format!(
                "costs are missing: {missing} of {all_calls} calls have none (`{}` has {} and {})",
                shown(name),
                counted(*calls, "call"),
                counted(*blocks, "block"),
            ),
            CallFault::NoMain => {
                format!("costs are missing: it lacks `{}`, which every program has", shown(MAIN))
            }
            CallFault::Costs { name, called, found } => {
                let name = shown(name);
                format!("it contradicts itself: calls of `{name}` cost {called}, its lines {found}")
            }
        }
    }
}

/// `1 call`, `2 calls`.
fn counted(count: Cost, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `true` if a line of a part stands for another count of calls than 1.
fn has_counted_calls(text: &[u8]) -> bool {
    const CALLS: &[u8] = b"calls=";
    memmem::find_iter(text, CALLS).any(|at| {
        let is_line = at == 0 || matches!(text[at - 1], b'\n' | b'\r');
        let count = || text[at + CALLS.len()..].split(|byte| byte.is_ascii_whitespace()).next();
        is_line && count() != Some(b"1")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::producer::ProducerKind;

    const NAMES: [&[u8]; 3] = [b"{main}", b"f", b"php::Fiber->start"];

    fn name(id: u32) -> &'static [u8] {
        NAMES[id as usize]
    }

    fn part(text: &[u8]) -> PartEnd<'_> {
        PartEnd {
            text,
            is_last: true,
            producer: ProducerKind::Xdebug,
            creator: None,
            summary: Some(&[200]),
            totals: None,
            sums: &[200],
            has_more_signs: false,
        }
    }

    /// Two calls of `f`, which calls itself once. Each number is rounded.
    fn whole() -> CallBalance {
        let mut balance = CallBalance::default();
        balance.block(0);
        balance.self_cost(0, 100);
        balance.calls(0, 1, 2, 31);
        for (cost, inner) in [(9, None), (10, Some(10)), (11, None)] {
            balance.block(1);
            balance.self_cost(1, cost);
            if let Some(inner) = inner {
                balance.calls(1, 1, 1, inner);
            }
        }
        balance
    }

    #[test]
    fn a_whole_part_balances() {
        assert_eq!(whole().fault(&part(b""), name), None);
        let mut balance = whole();
        // A destructor that PHP called.
        balance.block(1);
        balance.self_cost(1, 1000);
        assert_eq!(balance.fault(&part(b""), name), None);
        assert_eq!(CallBalance::default().fault(&part(b""), name), None);
    }

    #[test]
    fn changed_costs_are_found() {
        for (caller, cost) in [(0, 20), (0, -20)] {
            let mut balance = whole();
            balance.calls(caller, 1, 0, cost);
            assert!(matches!(balance.fault(&part(b""), name), Some(CallFault::Costs { .. })), "{cost}");
        }
        let mut balance = whole();
        balance.calls(0, 1, 0, 3);
        assert_eq!(balance.fault(&part(b""), name), None, "rounding");
    }

    #[test]
    fn an_aggregated_part_has_fewer_blocks() {
        let mut balance = whole();
        balance.calls(0, 1, 5, 0);
        let fault =
            CallFault::MissingBlocks { missing: 5, all_calls: 8, name: b"f".to_vec(), calls: 8, blocks: 3 };
        assert_eq!(balance.fault(&part(b"fn=f\ncalls=1 0 0\n1 2\ncfn=calls=6\n"), name), Some(fault));
        assert_eq!(balance.fault(&part(b"fn=f\ncalls=6 0 0\n1 2\n"), name), None);
    }

    #[test]
    fn main_is_missing_and_parts_are_apart() {
        let mut balance = whole();
        assert!(!balance.has_fibers(name));
        balance.clear();
        balance.block(2);
        assert_eq!((balance.fault(&part(b""), name), balance.block_count()), (Some(CallFault::NoMain), 1));
        assert_eq!(balance.fault(&PartEnd { summary: None, ..part(b"") }, name), None);
        assert!(balance.has_fibers(name));
    }
}
