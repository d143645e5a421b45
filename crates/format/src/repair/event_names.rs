//! Names of event types that the published grammar has, for those that it has not.

use std::collections::{BTreeMap, BTreeSet};

use crate::factor::Factor;
use crate::grammar::{is_name, is_term};
use crate::record::Words;
use crate::scan::{trim_end, trim_start};

/// All names of event types of a file.
#[derive(Debug, Default)]
pub(super) struct EventNames<'a> {
    /// The locations of legal names, which matter only when others need new names: the lists, and single names.
    lists: Vec<Words<'a>>,
    singles: Vec<&'a [u8]>,
    /// Those that need another name, in the order of the file.
    others: Vec<&'a [u8]>,
    renamed: BTreeMap<&'a [u8], Vec<u8>>,
}

impl<'a> EventNames<'a> {
    /// Takes note of the names of an `events:` line.
    pub(super) fn add_all(&mut self, names: Words<'a>) {
        if self.lists.last() != Some(&names) {
            self.lists.push(names);
            names.iter().for_each(|name| self.add_other(name));
        }
    }

    /// Takes note of a name.
    pub(super) fn add(&mut self, name: &'a [u8]) {
        if is_name(name) {
            self.singles.push(name);
        } else {
            self.add_other(name);
        }
    }

    fn add_other(&mut self, name: &'a [u8]) {
        if !is_name(name) && self.renamed.insert(name, Vec::new()).is_none() {
            self.others.push(name);
        }
    }

    /// Gives new names, once all are known.
    pub(super) fn settle(&mut self) {
        let lists = std::mem::take(&mut self.lists);
        let singles = std::mem::take(&mut self.singles);
        if self.others.is_empty() {
            return;
        }
        let words = lists.iter().flat_map(Words::iter).filter(|name| is_name(name));
        let legal: BTreeSet<&[u8]> = words.chain(singles).collect();
        let mut taken: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut next: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for name in &self.others {
            let mut stem: Vec<u8> = name.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
            let bare = stem.is_empty();
            if !stem.first().is_some_and(u8::is_ascii_alphabetic) {
                stem.insert(0, b'E');
            }
            // The search goes on where it ended for this stem, so that many alike cost no more than a few.
            let number = next.entry(stem.clone()).or_insert(u64::from(bare));
            let chosen = loop {
                let mut candidate = stem.clone();
                if *number > 0 {
                    candidate.extend_from_slice(number.to_string().as_bytes());
                }
                *number = if *number == 0 { 2 } else { *number + 1 };
                if !legal.contains(&candidate[..]) && !taken.contains(&candidate) {
                    break candidate;
                }
            };
            taken.insert(chosen.clone());
            self.renamed.insert(name, chosen);
        }
    }

    /// `true` if no name of the file needs another.
    pub(super) fn are_kept(&self) -> bool {
        self.renamed.is_empty()
    }

    /// The new name of one that needs it.
    pub(super) fn renamed(&self, name: &[u8]) -> Option<&[u8]> {
        self.renamed.get(name).map(Vec::as_slice)
    }

    /// The formula with new names, if the grammar can have it.
    pub(super) fn formula(&self, formula: &[u8]) -> Option<Vec<u8>> {
        let mut terms = Vec::new();
        for term in formula.split(|&byte| byte == b'+') {
            let name = match self.renamed(trim_blanks(term)) {
                Some(_) => trim_blanks(term),
                None => trim_end(Factor::split(term).rest),
            };
            let mut written = term.to_vec();
            if let Some(renamed) = self.renamed(name) {
                let before = term.len() - trim_start_to(term, name).len();
                written.splice(before..before + name.len(), renamed.iter().copied());
            }
            if !is_term(&written) {
                return None;
            }
            terms.push(written);
        }
        Some(terms.join(&b'+'))
    }
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    trim_end(trim_start(text))
}

/// The end of the term that begins with the name, which is the last thing in it.
fn trim_start_to<'t>(term: &'t [u8], name: &[u8]) -> &'t [u8] {
    let blanks = term.len() - trim_end(term).len();
    &term[term.len() - blanks - name.len()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_legal_and_stay_apart() {
        let mut names = EventNames::default();
        let given: [&[u8]; 9] = [
            b"Time_(10ns)",
            b"cpu(ms)",
            b"Ir",
            b"I_r",
            b"I-r",
            b"\xc3\xa9",
            b"\xc3\xa8",
            b"1st",
            b"Time_(10ns)",
        ];
        for name in given {
            names.add(name);
        }
        names.settle();
        for (name, expected) in [
            (&b"Time_(10ns)"[..], Some(&b"Time10ns"[..])),
            (b"cpu(ms)", Some(b"cpums")),
            (b"Ir", None),
            (b"I_r", Some(b"Ir2")),
            (b"I-r", Some(b"Ir3")),
            (b"\xc3\xa9", Some(b"E1")),
            (b"\xc3\xa8", Some(b"E2")),
            (b"1st", Some(b"E1st")),
        ] {
            assert_eq!(names.renamed(name), expected, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn formulas_follow() {
        let mut names = EventNames::default();
        names.add(b"a(b)");
        names.add(b"1st");
        names.settle();
        for (formula, expected) in [
            (&b"Ir + 10 Bm"[..], Some(&b"Ir + 10 Bm"[..])),
            (b"Ir + 10 * a(b)", Some(b"Ir + 10 * ab")),
            (b"0x10 Ir + 0x1f * a(b)", Some(b"0x10 Ir + 0x1f * ab")),
            (b"a(b)+1st", Some(b"ab+E1st")),
            (b"Ir - Bm", None),
            (b"Ir + c(d)", None),
            (b"", None),
        ] {
            assert_eq!(names.formula(formula).as_deref(), expected, "{}", formula.escape_ascii());
        }
    }
}
