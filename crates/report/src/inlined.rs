//! Remarks on a profile with inlined functions: how much is certain, and what could not be changed.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use gristmill_output::{grouped, lossy, percent, printable};
use gristmill_profile::inlining::{InlinedObject, ProgramState};
use gristmill_profile::{EventId, Profile};

use crate::names::fitted_paths;
use crate::path::base;

/// Objects that are named.
const MAX_OBJECTS: usize = 3;
/// The columns of their names.
const MAX_NAME: usize = 60;

/// Returns the remarks, one sentence each. There are none if nobody asked for inlined functions.
///
/// ```
/// use gristmill_profile::Profile;
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=main\n1 20\n");
/// assert!(gristmill_report::inlining_notes(&profile).is_empty());
/// ```
pub fn inlining_notes(profile: &Profile) -> Vec<String> {
    let objects = profile.inlined_objects();
    let Some(event) = profile.events().next().filter(|_| !objects.is_empty()) else { return Vec::new() };
    let name = printable(profile.event(event).name);
    let of = |costs: &BTreeMap<EventId, Cost>| costs.get(&event).copied().unwrap_or(0);
    let sum = |part: fn(&InlinedObject) -> &BTreeMap<EventId, Cost>| {
        objects.iter().map(|object| of(part(object))).sum::<Cost>()
    };
    let total = sum(|object| &object.total);
    let share = |cost: Cost| match percent(cost, total) {
        share if share.is_empty() => grouped(cost),
        share if share == "0.0%" && cost != 0 => "less than 0.1%".to_owned(),
        share => share,
    };
    let mut notes = Vec::new();
    if objects.iter().any(|object| object.program == ProgramState::Usable) {
        let moved = sum(|object| &object.moved);
        let mut note = format!("inlined functions have {} of {name}", share(moved));
        let estimated = sum(|object| &object.estimated);
        if estimated != 0 {
            note.push_str(&format!("; which function has it is an estimate for {}", share(estimated)));
        }
        let calls = sum(|object| &object.estimated_calls);
        if calls != 0 {
            note.push_str(&format!("; which calls lead to it is an estimate for {}", share(calls)));
        }
        if profile.has_inlined_calls() {
            note.push_str("; inlined calls have no count: `inlined`, or `+` beside recorded ones");
        }
        notes.push(note);
    }
    let left = |object: &InlinedObject| match object.program {
        ProgramState::Usable => of(&object.unknown),
        _ => of(&object.total),
    };
    let mut others: Vec<&InlinedObject> = objects.iter().filter(|object| left(object) != 0).collect();
    others.sort_by_key(|object| std::cmp::Reverse(left(object)));
    if !others.is_empty() {
        let named = |object: &&InlinedObject| {
            let path = lossy(&object.path);
            let name = if path.is_empty() { "???" } else { base(&path) };
            let name = fitted_paths(&[&printable(name.as_bytes())], MAX_NAME).concat();
            format!("{name} ({})", reason(object.program))
        };
        let mut names: Vec<String> = others.iter().take(MAX_OBJECTS).map(named).collect();
        if others.len() > MAX_OBJECTS {
            names.push(format!("{} more", grouped(others.len() - MAX_OBJECTS)));
        }
        let cost = others.iter().copied().map(left).sum();
        notes.push(format!("{} of {name} stays as recorded: {}", share(cost), names.join(", ")));
    }
    notes
}

fn reason(program: ProgramState) -> &'static str {
    match program {
        ProgramState::Usable => "some code was not found or has no debug information",
        ProgramState::Missing => "program not found",
        ProgramState::Unnamed => "not named by the profile",
        ProgramState::Unreadable => "program cannot be read",
        ProgramState::OtherBuild => "program of another build",
        ProgramState::OtherLines => "another build, or its lines are ambiguous",
        ProgramState::NoDebugInformation => "no debug information",
        ProgramState::Unverified => "perhaps another program",
        ProgramState::OneSide => "not known on both sides",
        _ => "not usable",
    }
}
