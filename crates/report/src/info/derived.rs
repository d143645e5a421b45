//! Derived event types of a file, with their totals as the other reports calculate them.

use std::collections::{HashMap, HashSet};

use gristmill_format::{Cost, EventDefinition};
use gristmill_profile::MemoryBudget;
use gristmill_profile::formula::{DefinedBy, Definition, Derived, Formula, derive, well_known};

use super::InfoReport;

/// The memory that the calculation of a derived event type takes.
const BYTES_OF_DEFINITION: usize = 1536;

/// An event type with a formula and without a column.
#[derive(Debug)]
pub(super) struct DerivedTotal<'a> {
    pub(super) event: EventDefinition<'a>,
    /// `None` if the formula cannot be calculated.
    pub(super) total: Option<Cost>,
    /// Event types that the formula needs and that do not exist; the total lacks them.
    pub(super) missing: Vec<Vec<u8>>,
}

impl InfoReport {
    /// Returns the derived event types of all parts, in the order of the file. Of several with one name the last counts.
    pub(super) fn derived_totals(&self) -> Vec<DerivedTotal<'_>> {
        let events = self.derived_events();
        if events.is_empty() {
            return Vec::new();
        }
        let (names, totals): (Vec<&[u8]>, Vec<Cost>) = self.totals().iter().unzip();
        let recorded: HashSet<&[u8]> = names.iter().copied().collect();
        // Nobody has this many; their names are listed without totals.
        let budget = MemoryBudget::for_bytes(usize::try_from(self.size()).unwrap_or(usize::MAX));
        let is_too_much = budget.check_bytes(events.len().saturating_mul(BYTES_OF_DEFINITION)).is_err();
        let calculated = if is_too_much { &[][..] } else { &events[..] };
        let of_file = calculated.iter().filter_map(|event| {
            let formula = Formula::parse(event.formula?).ok()?;
            Some(Definition { name: event.name.to_vec(), formula, long_name: None, by: DefinedBy::File })
        });
        let definitions: Vec<Definition> = well_known().into_iter().chain(of_file).collect();
        let mut derived: HashMap<Vec<u8>, Derived> = derive(&names, &definitions)
            .derived
            .into_iter()
            .filter(|derived| derived.definition.by == DefinedBy::File)
            .map(|derived| (derived.definition.name.clone(), derived))
            .collect();
        let mut seen = HashSet::new();
        let mut rows: Vec<DerivedTotal<'_>> = events
            .into_iter()
            .rev()
            .filter(|event| !recorded.contains(event.name) && seen.insert(event.name))
            .map(|event| match derived.remove(event.name) {
                Some(derived) => {
                    let total = derived.cost(&totals).ok();
                    DerivedTotal { event, total, missing: derived.missing }
                }
                None => DerivedTotal { event, total: None, missing: Vec::new() },
            })
            .collect();
        rows.reverse();
        rows
    }

    /// Returns each different definition once.
    fn derived_events(&self) -> Vec<EventDefinition<'_>> {
        let mut seen = HashSet::new();
        let definitions = self.profile.event_definitions().filter(|event| event.formula.is_some());
        definitions.filter(|event| seen.insert((event.name, event.formula))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use gristmill_profile::Profile;

    use super::*;
    use crate::info::InfoFile;

    fn report(bytes: &[u8]) -> InfoReport {
        InfoReport::new(vec![InfoFile::plain(Path::new("a"))], Profile::from_bytes(bytes))
    }

    #[test]
    fn totals_are_calculated() {
        let bytes = b"event: Sum = Ir + 2 Dr : all\nevent: H = 0x10 Ir + 3*Dr\nevent: Both = Sum - H\n\
                      event: Lacks = Ir + Zz\nevent: None = Zz\nevent: Odd = Ir Dr\nevent: Ir = Dr\nevents: Ir Dr\n\
                      fn=f\n1 10 5\n2 20 7\n";
        let report = report(bytes);
        let rows: Vec<_> = report
            .derived_totals()
            .into_iter()
            .map(|row| (String::from_utf8_lossy(row.event.name).into_owned(), row.total, row.missing))
            .collect();
        let expected = [
            ("Sum", Some(54), vec![]),
            ("H", Some(516), vec![]),
            ("Both", Some(54 - 516), vec![]),
            ("Lacks", Some(30), vec![b"Zz".to_vec()]),
            ("None", None, vec![]),
            ("Odd", None, vec![]),
        ];
        assert_eq!(rows, expected.map(|(name, total, missing)| (name.to_owned(), total, missing)));
    }

    #[test]
    fn too_many_are_not_calculated() {
        let definitions: String = (0..40_000).map(|event| format!("event: d{event} = Ir\n")).collect();
        let bytes = format!("{definitions}events: Ir\nfn=f\n1 10\n");
        let report = report(bytes.as_bytes());
        let rows = report.derived_totals();
        assert_eq!((rows.len(), rows.iter().filter(|row| row.total.is_some()).count()), (40_000, 0));
    }

    #[test]
    fn later_parts_count() {
        let bytes =
            b"part: 1\nevent: S = 2 Ir\nevents: Ir\nfn=f\n1 10\n\npart: 2\nevent: S = 3 Ir\nevents: Ir Dr\n\
                      fn=f\n1 1 1\n\npart: 3\nevent: Dr = Ir\nevents: Ir\nfn=f\n1 1\n";
        let report = report(bytes);
        let rows: Vec<_> = report.derived_totals().iter().map(|row| (row.event.formula, row.total)).collect();
        assert_eq!(rows, [(Some(&b"3 Ir"[..]), Some(36))]);
    }
}
