//! The facts of a profile: every name is a text, every position a line.

use std::collections::BTreeSet;

use super::rules::Rule;

/// Costs as they stand in the file: what is not given is None.
pub(crate) type Given = Vec<Option<i128>>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The lines of the first header that the original shows.
    pub(crate) header: Vec<String>,
    pub(crate) events: Vec<String>,
    pub(crate) parts: Vec<Part>,
    pub(crate) blocks: Vec<Block>,
    /// The rules for what the original reads differently.
    pub(crate) rules: BTreeSet<Rule>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// The index of each of its events in [`Facts::events`].
    pub(crate) columns: Vec<usize>,
    pub(crate) summary: Option<Given>,
    pub(crate) totals: Option<Given>,
    /// The sum of its self costs.
    pub(crate) sum: Given,
    /// Process, part and thread.
    pub(crate) said: [Option<u64>; 3],
}

/// The header lines that tell one part from another.
pub(crate) const IDENTITY: [&str; 3] = ["pid", "part", "thread"];

/// From one `fn=` to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub(crate) object: Option<String>,
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) costs: Given,
    /// None for self costs.
    pub(crate) call: Option<Call>,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) object: Option<String>,
    pub(crate) file: String,
    pub(crate) function: String,
    /// By `cob=` and `cfi=`.
    pub(crate) is_object_said: bool,
    pub(crate) is_file_said: bool,
    pub(crate) count: i128,
}

impl Facts {
    /// Keeps only header lines that all parts share.
    pub(crate) fn keep_shared_header(&mut self) {
        for (nth, key) in IDENTITY.iter().enumerate() {
            let first = self.parts.first().and_then(|part| part.said[nth]);
            if self.parts.iter().any(|part| part.said[nth] != first) {
                self.header.retain(|line| !line.starts_with(&format!("{key}:")));
            }
        }
    }

    /// The total that percentages refer to, and whether every part says it.
    pub(crate) fn total(&self) -> (Given, bool) {
        let mut total = vec![None; self.events.len()];
        let mut is_said = true;
        for part in &self.parts {
            let said = [&part.summary, &part.totals].into_iter().flatten();
            let said = said.into_iter().find(|costs| costs.iter().flatten().any(|&cost| cost > 0));
            // Where nothing was counted there is nothing to say.
            is_said &= said.is_some() || part.sum.iter().flatten().all(|&cost| cost == 0);
            add(&mut total, said.unwrap_or(&part.sum));
        }
        (total, is_said)
    }
}

/// The bytes of a text in which every byte is one character.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|one| u8::try_from(u32::from(one)).expect("made of bytes")).collect()
}

pub(crate) fn add(sum: &mut Given, costs: &[Option<i128>]) {
    sum.resize(sum.len().max(costs.len()), None);
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum = cost.map_or(*sum, |cost| Some(sum.unwrap_or_default() + cost));
    }
}
