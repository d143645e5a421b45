//! The judgement whether the inputs of a profile are whole, from what the loader has seen of them.

use gristmill_format::{
    CallBalance, Cost, JoinedPart, JoinedParts, Location, NameSpace, PartEnd, ProducerKind, Shortfall,
    is_near_end, says_its_file,
};

use super::wrapped::MIN_WRAPPED;
use crate::damage::{ClaimedCost, Damage, DamageKind};
use crate::finding::{Finding, InputErrors};
use crate::id::NameId;
use crate::index::restored::RestoredCost;
use crate::part::Part;
use crate::profile::Profile;

impl Profile {
    /// Returns the reasons why the numbers are not those of the recording, at most one of each kind for an input. There is
    /// none if all inputs are whole.
    pub fn damage(&self) -> &[Damage] {
        &self.index.damage
    }

    /// Adds that the file of an input is packed, and that its packing is damaged: `message` is a sentence about it.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    ///
    /// let mut profile = Profile::from_bytes(b"events: Ir\nfn=main\n1 20\n");
    /// assert!(profile.damage().is_empty());
    /// profile.add_packing_damage(0, "the gzip data ends before it is complete".to_owned());
    /// assert_eq!(profile.damage().len(), 1);
    /// ```
    pub fn add_packing_damage(&mut self, input: usize, message: String) {
        let damage =
            Damage { input, location: Location { byte: 0, line: 1 }, kind: DamageKind::Packing(message) };
        self.index.damage.push(damage);
        self.index.damage.sort_by_key(|damage| damage.input);
    }

    /// Returns the count of lines that were skipped, or whose meaning is in doubt, besides those that are damage. Lines of
    /// dialects that could be read nevertheless are none of them.
    pub fn doubt_count(&self) -> u64 {
        self.index.input_errors.iter().map(|errors| errors.doubts).sum()
    }

    /// `true` if a producer that is known to write such numbers may have written costs below 0 without their sign.
    pub(crate) fn may_have_wrapped(&self) -> bool {
        let is_large = |costs: &[Cost]| costs.iter().any(|&cost| cost >= MIN_WRAPPED);
        let has_unusual_costs = self.index.has_unusual_costs.0;
        self.parts().any(|part| match part.producer() {
            // Only the cost of a call can wrap. Its `summary:` need not: that of a signal handler is another.
            ProducerKind::Callgrind => has_unusual_costs,
            ProducerKind::Xdebug => {
                let mut has_large = false;
                self.each_self_cost(&part, |_, _, costs| has_large |= is_large(costs));
                self.each_arc(&part, |_, costs| has_large |= is_large(costs));
                has_large
            }
            _ => false,
        })
    }

    /// Adds that costs were restored: for each input, how many and the first.
    pub(crate) fn add_restored(&mut self, costs: Vec<RestoredCost>) {
        for of_input in costs.chunk_by(|one, other| one.input == other.input) {
            let RestoredCost { input, location, event, written, restored, .. } = &of_input[0];
            let kind = DamageKind::Wrapped {
                count: of_input.len() as u64,
                event: event.clone(),
                written: *written,
                restored: *restored,
            };
            self.index.damage.push(Damage { input: *input, location: *location, kind });
        }
        self.index.damage.sort_by_key(|damage| damage.input);
        self.index.restored = costs;
    }

    /// Finds the damage of all inputs.
    pub(crate) fn find_damage(&self) -> Vec<Damage> {
        let mut damage = Vec::new();
        let mut parts = self.parts().peekable();
        let mut balance = CallBalance::default();
        for input in 0..self.inputs.len() {
            let mut of_input = InputDamage { is_confirmed: true, ..InputDamage::default() };
            let mut joined = JoinedParts::default();
            while let Some(part) = parts.next_if(|part| part.input() == input) {
                let is_last = parts.peek().is_none_or(|next| next.input() != input);
                self.judge(&part, is_last, &mut balance, &mut of_input);
                if let Some(sign) = joined.add(&self.joined_part(&part)) {
                    of_input.joined.get_or_insert((part.location(), DamageKind::Joined(sign)));
                }
            }
            self.collect(input, of_input, &mut damage);
        }
        damage
    }

    fn errors_of(&self, input: usize) -> InputErrors {
        self.index.input_errors.get(input).copied().unwrap_or_default()
    }

    fn text_of(&self, part: &Part<'_>) -> &[u8] {
        let input = &self.inputs[part.input()].bytes;
        let offset = |byte: u64| usize::try_from(byte).unwrap_or(input.len());
        &input[offset(part.bytes().start)..offset(part.bytes().end)]
    }

    fn joined_part<'p>(&'p self, part: &Part<'p>) -> JoinedPart<'p> {
        JoinedPart {
            location: part.location(),
            text: self.text_of(part),
            pid: part.pid(),
            number: part.number(),
            thread: part.thread(),
            command: part.command(),
            creator: part.creator(),
            says_its_file: part.descriptions().any(|(kind, _)| says_its_file(kind)),
        }
    }

    fn judge(&self, part: &Part<'_>, is_last: bool, balance: &mut CallBalance, found: &mut InputDamage) {
        let text = self.text_of(part);
        let (summary, totals) = (part.claimed_summary(), part.claimed_totals());
        let sums = if summary.is_some() || totals.is_some() { part.totals() } else { Vec::new() };
        let part_end = PartEnd {
            text,
            is_last,
            producer: part.producer(),
            creator: part.creator(),
            summary,
            totals,
            sums: &sums,
            has_more_signs: is_last && !text.ends_with(b"\n") && self.has_more_signs(part.input()),
        };
        let claim = |short: Shortfall| {
            let event = *part.event_types().get(short.column)?;
            Some(ClaimedCost { event, claimed: short.claimed, computed: short.computed })
        };
        let mismatch = part_end.mismatch();
        found.is_confirmed &= totals.is_some() && mismatch.is_none();
        if let Some(sign) = part_end.cut_sign() {
            let short = part_end.shortfall();
            let kind = DamageKind::CutOff { sign, producer: part.producer(), claim: short.and_then(claim) };
            // The end of the file is what was cut, if it was.
            if is_last || found.cut.is_none() {
                found.cut = Some((part.location(), kind));
            }
        } else if let Some(short) = mismatch
            && let Some(claim) = claim(short)
        {
            found.totals.get_or_insert((part.location(), DamageKind::Totals(claim)));
        } else if part_end.has_block_per_call() {
            self.balance_calls(part, balance);
            let name = |name: u32| self.name(NameSpace::Function, NameId::from_u32(name));
            if let Some(fault) = balance.fault(&part_end, name) {
                found.calls.get_or_insert((part.location(), DamageKind::Calls(fault)));
            }
            if let Some(claim) = part_end.excess(balance.block_count()).and_then(claim) {
                let (list, kind) = match balance.has_fibers(name) {
                    true => (&mut found.counted_twice, DamageKind::CountedTwice(claim)),
                    false => (&mut found.totals, DamageKind::Totals(claim)),
                };
                list.get_or_insert((part.location(), kind));
            }
            balance.clear();
        }
        let twice = part.event_types().iter().find(|&&event| self.event(event).repetition > 0);
        if let Some(&event) = twice {
            found.events.get_or_insert((part.location(), DamageKind::DuplicateEvent(event)));
        }
    }

    /// Adds up blocks and calls of a part, by the names of functions.
    fn balance_calls(&self, part: &Part<'_>, balance: &mut CallBalance) {
        let name = |function| self.index.functions.get(function).key.name.to_u32();
        for block in &self.index.blocks[self.index.block_range(part.id())] {
            balance.block(name(block.function));
        }
        let first = |costs: &[Cost]| costs.first().copied().unwrap_or(0);
        self.each_self_cost(part, |function, _, costs| balance.self_cost(name(function), first(costs)));
        self.each_arc(part, |arc, costs| {
            balance.calls(name(arc.caller), name(arc.callee), arc.count, first(costs));
        });
    }

    /// `true` if a line at the end of an input could not be read, or a function that is called has no lines.
    fn has_more_signs(&self, input: usize) -> bool {
        let errors = self.errors_of(input);
        let at_end = errors.first.is_some_and(|first| self.is_near_end(input, &first));
        at_end || self.functions().any(|function| !self.function(function).is_defined)
    }

    /// `true` if a finding is about one of the last two lines of an input.
    fn is_near_end(&self, input: usize, finding: &Finding) -> bool {
        is_near_end(&self.inputs[input].bytes, finding.location.byte)
    }

    fn collect(&self, input: usize, found: InputDamage, damage: &mut Vec<Damage>) {
        let InputDamage { cut, joined, totals, calls, counted_twice, events, is_confirmed } = found;
        let mut errors = self.errors_of(input);
        // If all lines count that were written, only the producer can have left out the names.
        if !is_confirmed {
            errors.count += errors.undefined_names;
            errors.first = [errors.first, errors.first_undefined]
                .into_iter()
                .flatten()
                .min_by_key(|finding| finding.sort_key());
        }
        // The cut explains lines at the end.
        let is_explained = |first: &Finding| cut.is_some() && self.is_near_end(input, first);
        let errors = errors
            .first
            .filter(|first| !is_explained(first))
            .map(|first| (first.location, DamageKind::Errors { count: errors.count, first }));
        // Lines that could not be read explain what calls and blocks lack.
        let calls = calls.filter(|_| cut.is_none() && errors.is_none());
        let all = [cut, joined, totals, calls, counted_twice, errors, events].into_iter().flatten();
        damage.extend(all.map(|(location, kind)| Damage { input, location, kind }));
    }
}

/// The damage of one input.
#[derive(Debug, Default)]
struct InputDamage {
    cut: Option<(Location, DamageKind)>,
    joined: Option<(Location, DamageKind)>,
    totals: Option<(Location, DamageKind)>,
    calls: Option<(Location, DamageKind)>,
    counted_twice: Option<(Location, DamageKind)>,
    events: Option<(Location, DamageKind)>,
    /// Each part states its totals, and they are the sums of its lines.
    is_confirmed: bool,
}
