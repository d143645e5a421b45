//! What the answers for programs have in common: event types, and costs by their names.

use std::io::{self, Write};

use gristmill_format::Cost;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::head::Head;
use crate::view::View;

/// Writes the members that say what is looked at; others follow.
pub(crate) fn write_view(view: &View, head: &Head, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"event_types\":")?;
    serde_json::to_writer(
        &mut *out,
        &view.events().iter().map(|event| event.name.as_str()).collect::<Vec<_>>(),
    )?;
    write!(out, ",\n\"events\":")?;
    serde_json::to_writer(&mut *out, view.events())?;
    write!(out, ",\n\"totals\":")?;
    serde_json::to_writer(&mut *out, &CostsByName(view, view.totals()))?;
    write!(out, ",\n\"parts\":{},\"selected_parts\":{}", head.all_parts, head.parts)?;
    write!(out, ",\"findings\":{}", view.profile().finding_count())
}

/// Writes the items of a list, each on a line of its own.
pub(crate) fn write_rows(rows: impl Iterator<Item: Serialize>, out: &mut dyn Write) -> io::Result<()> {
    for (nth, row) in rows.enumerate() {
        out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &row)?;
    }
    Ok(())
}

/// Costs by the names of their event types.
pub(crate) struct CostsByName<'r>(pub(crate) &'r View, pub(crate) &'r [Cost]);

impl Serialize for CostsByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CostsByName(view, costs) = self;
        let mut map = serializer.serialize_map(Some(costs.len()))?;
        for (event, cost) in view.events().iter().zip(*costs) {
            map.serialize_entry(&event.name, cost)?;
        }
        map.end()
    }
}
