//! Remarks on rows.

use gristmill_format::Cost;
use gristmill_output::{CostUnit, grouped};
use gristmill_profile::compare::{Change, JoinRule, Presence};

use super::amounts::{from_to, per_call, spread};
use super::{DiffHead, DiffRow, JoinRow, RenameRow};
use crate::names::short;

/// Returns the unit and the self cost of a row's first event type.
fn first_cost(head: &DiffHead, row: &DiffRow) -> (CostUnit, Change) {
    (head.events[0].unit, *row.self_costs[0])
}

/// Lists the remarks on a row, with names of about this many columns.
pub(super) fn remarks(head: &DiffHead, row: &DiffRow, name_columns: usize) -> Vec<String> {
    let (unit, own) = first_cost(head, row);
    let has_both = row.presence == Presence::Both && !own.is_none();
    let mut remarks = Vec::from_iter(has_both.then(|| from_to(own, unit)));
    remarks.extend(remarks_beside_cost(head, row, name_columns));
    remarks
}

/// Lists the remarks on a row, except the change of its self cost.
pub(super) fn remarks_beside_cost(head: &DiffHead, row: &DiffRow, name_columns: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    let (unit, own) = first_cost(head, row);
    match row.presence {
        Presence::New => remarks.push("new".to_owned()),
        Presence::Vanished => remarks.push("vanished".to_owned()),
        Presence::Both => {}
    }
    if own.is_noise() {
        remarks.push("noise: within the spread of the runs".to_owned());
    }
    remarks.extend(spread(own, unit));
    if let Some(RenameRow { text, .. }) = &row.renamed {
        remarks.push(match &row.base_name {
            Some(from) => format!("perhaps {} renamed ({text})", short(from, name_columns)),
            // An address in a program of another name.
            None => format!("joined by resemblance ({text})"),
        });
    } else if let Some(other) = &row.doubted {
        remarks.push(format!("if it is {other}"));
    }
    if row.is_upper_bound {
        remarks.push("inclusive cost may count calls twice: they leave the group and return".to_owned());
    }
    let calls = *row.calls;
    // A sampling profiler does not count calls.
    if !calls.is_none() && !head.is_sampled {
        remarks.push(match row.presence {
            Presence::New => times(calls.new.median),
            Presence::Vanished => format!("{} before", times(calls.base.median)),
            Presence::Both => format!("calls {}", from_to(calls, CostUnit::Count)),
        });
        if let Some(each) = per_call(own, calls).filter(|_| row.presence == Presence::Both) {
            remarks.push(format!("per call {each}"));
        }
    }
    remarks
}

fn times(calls: Cost) -> String {
    if calls == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(calls)) }
}

/// Lists the joins, except renames, which have a list of their own.
pub(super) fn joins(head: &DiffHead) -> Vec<String> {
    let joins = head.joined.iter().filter(|join| join.rule != JoinRule::Rename.name());
    joins.map(JoinRow::text).collect()
}
