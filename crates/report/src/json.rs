//! What the answers for programs have in common: event types, and costs by their names.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::json::ExactInteger;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::head::Head;
use crate::view::View;

/// Writes the version and the members of the head; others follow.
pub(crate) fn write_view(head: &Head, out: &mut dyn Write) -> io::Result<()> {
    let mut members = Vec::new();
    serde_json::to_writer(&mut members, head)?;
    writeln!(out, "{{\"schema\":{},", gristmill_output::json::VERSION)?;
    out.write_all(&members[1..members.len() - 1])
}

/// Costs by the names of their event types.
pub(crate) struct CostsByName<'r>(pub(crate) &'r View, pub(crate) &'r [Cost]);

impl Serialize for CostsByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CostsByName(view, costs) = self;
        let mut map = serializer.serialize_map(Some(costs.len()))?;
        for (event, cost) in view.events().iter().zip(*costs) {
            map.serialize_entry(&event.name, &ExactInteger(*cost))?;
        }
        map.end()
    }
}
