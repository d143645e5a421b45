use gristmill_profile::formula::{DefinedBy, Definition};

use regex::Regex;

use super::*;

/// Lines of a function: its self cost, and what each call costs. There is a cost for each event type.
fn lines(name: &str, own: &str, calls: &[(&str, &str)]) -> String {
    let calls: String =
        calls.iter().map(|(callee, cost)| format!("cfn={callee}\ncalls=1 0\n0 {cost}\n")).collect();
    format!("fn={name}\n0 {own}\n{calls}")
}

fn loaded(text: impl Into<Vec<u8>>) -> Arc<Profile> {
    Arc::new(Profile::from_bytes(text.into()))
}

fn part(thread: u64, functions: &[String]) -> String {
    format!("version: 1\npid: 1\nthread: {thread}\npart: 1\nevents: Ir\n\n{}\n", functions.concat())
}

fn cut(caller: &str, callee: &str) -> Cut {
    let whole = |name: &str| Regex::new(&format!("^{name}$")).unwrap();
    Cut { caller: whole(caller), callee: whole(callee) }
}

fn thread(number: u64) -> Selection {
    Selection { threads: vec![number..=number], ..Selection::default() }
}

/// The arcs that are left, as caller and callee.
fn arcs(view: &View) -> Vec<String> {
    let name = |node| view.subject(view.subject_at(node)).name().to_owned();
    let mut arcs: Vec<String> =
        view.graph().arcs().map(|arc| format!("{} {}", name(arc.caller), name(arc.callee))).collect();
    arcs.sort();
    arcs
}

/// Inclusive costs by name.
fn inclusive(view: &View, name: &str) -> Cost {
    let (id, _) = view.subjects().find(|(_, subject)| subject.name() == name).unwrap();
    view.inclusive_cost(id)[0]
}

/// Returns the count of functions of each cycle.
fn cycles(profile: &Arc<Profile>, options: &ViewOptions) -> Vec<usize> {
    let view = View::new(Arc::clone(profile), options).unwrap();
    let cycles = view.inclusive().cycles();
    cycles.ids().map(|cycle| cycles.members(cycle).len()).collect()
}

#[test]
fn views_are_shared_between_threads() {
    fn check<T: Send + Sync + 'static>() {}
    check::<View>();
}

#[test]
fn weak_calls_are_so_whatever_their_sign() {
    let functions = [
        lines("main", "-10", &[("f", "-40"), ("g", "30")]),
        lines("f", "-38", &[]),
        lines("g", "30", &[]),
        lines("h", "0", &[("f", "-3")]),
        lines("i", "0", &[("f", "5")]),
    ];
    // A tenth of 40 is 4: more than 3, less than 5.
    let options = ViewOptions { cut_below: 100, ..ViewOptions::default() };
    let profile = loaded(part(1, &functions));
    let view = View::new(Arc::clone(&profile), &options).unwrap();
    assert_eq!(arcs(&view), ["i f", "main f", "main g"]);
    assert_eq!(inclusive(&view, "main"), -10 - 40 + 30);

    let profile = loaded(part(1, &functions[..3]));
    assert_eq!(View::new(Arc::clone(&profile), &options).unwrap().cut_arc_count(), 0);
}

#[test]
fn weak_calls_may_be_so_by_a_derived_event_type() {
    let functions = [
        lines("main", "0 0", &[("f", "100 1")]),
        lines("other", "0 0", &[("f", "10 4")]),
        lines("f", "110 5", &[]),
    ];
    let profile = loaded(format!("events: Ir Bm\n\n{}", functions.concat()));
    let left = |event: &str, formula: &str| {
        let definition = format!("Y = {formula}");
        let options = ViewOptions {
            events: EventSelection::Named(vec![event.to_owned()]),
            derive: vec![Definition::parse(definition.as_bytes(), DefinedBy::User).unwrap()],
            cut_below: 500,
            ..ViewOptions::default()
        };
        arcs(&View::new(Arc::clone(&profile), &options).unwrap())
    };
    // Of `Ir`, 10 is below half of 100; of `Bm`, 1 is below half of 4.
    assert_eq!(left("Ir", "Bm"), ["main f"]);
    assert_eq!(left("Bm", "Bm"), ["other f"]);
    assert_eq!(left("Y", "Bm"), ["other f"]);
    // 100 - 20 = 80 and 10 - 80 = -70, which is not below half of 80.
    assert_eq!(left("Y", "Ir - 20 Bm"), ["main f", "other f"]);
}

#[test]
fn cuts_leave_sums_of_parts_apart() {
    let profile = loaded(
        part(
            1,
            &[
                lines("main", "20", &[("f", "100"), ("g", "30")]),
                lines("f", "500", &[]),
                lines("g", "25", &[]),
            ],
        ) + &part(2, &[lines("f", "7", &[("g", "4")]), lines("g", "4", &[])]),
    );
    let costs = |cuts: &[Cut]| {
        let options =
            ViewOptions { rule: InclusiveRule::KCachegrind, cuts: cuts.to_vec(), ..ViewOptions::default() };
        let view = View::new(Arc::clone(&profile), &options).unwrap();
        ["main", "f", "g"].map(|name| inclusive(&view, name))
    };
    // `f` costs what its caller says in the first part, and what it does in the second, where nothing calls it.
    assert_eq!(costs(&[]), [20 + 100 + 30, 100 + (7 + 4), 30 + 4]);
    // Now nothing calls `g` in the first part.
    assert_eq!(costs(&[cut("main", "g")]), [20 + 100, 100 + (7 + 4), 25 + 4]);
    assert_eq!(costs(&[cut("f", "g")]), [20 + 100 + 30, 100 + 7, 30 + 4]);
}

#[test]
fn cuts_leave_cycles_those_of_all_parts() {
    // Only both parts together make a cycle of `a` and `b`.
    let profile = loaded(
        part(
            1,
            &[
                lines("main", "1", &[("a", "100"), ("b", "100"), ("c", "1")]),
                lines("a", "99", &[("b", "1")]),
                lines("b", "101", &[]),
                lines("c", "1", &[]),
            ],
        ) + &part(2, &[lines("a", "0", &[("b", "50")]), lines("b", "20", &[("a", "30")])]),
    );
    let options = |selection: Selection, cuts: &[Cut], cut_below| ViewOptions {
        rule: InclusiveRule::KCachegrind,
        selection,
        cuts: cuts.to_vec(),
        cut_below,
        ..ViewOptions::default()
    };
    for selection in [Selection::default(), thread(1), thread(2)] {
        let members =
            |cuts: &[Cut], cut_below| cycles(&profile, &options(selection.clone(), cuts, cut_below));
        assert_eq!(members(&[], 0), [2], "{selection:?}");
        assert_eq!(members(&[cut("main", "c")], 0), [2], "{selection:?}");
        assert_eq!(members(&[cut("b", "a")], 0), [0; 0], "{selection:?}");
        assert_eq!(members(&[cut("a", "b")], 0), [0; 0], "{selection:?}");
        // Of the calls to `a`, 30 are below 40% of 100.
        assert_eq!(members(&[], 400), [0; 0], "{selection:?}");
    }
    // Of the calls to `b`, 1 is below 10% of 100 in the first part; 1 + 50 are not in both.
    assert_eq!(cycles(&profile, &options(Selection::default(), &[], 100)), [2]);
    assert_eq!(cycles(&profile, &options(thread(1), &[], 100)), [0; 0]);
    assert_eq!(cycles(&profile, &options(thread(2), &[], 100)), [2]);
}

#[test]
fn derived_costs_whose_sums_would_wrap_are_refused() {
    let lines = |name: &str| format!("fn={name}\n1 {}\n", u64::MAX);
    let functions = ["a", "b", "c", "d"].map(lines).concat();
    let profile = loaded(format!("event: X = {} Ir\nevents: Ir\n{functions}", i64::MAX));
    let view = |event: &str| {
        View::new(
            Arc::clone(&profile),
            &ViewOptions { events: EventSelection::Named(vec![event.to_owned()]), ..ViewOptions::default() },
        )
    };
    assert_eq!(view("X").unwrap_err(), ViewError::Overflow);
    assert_eq!(view("Ir").unwrap().totals(), [4 * Cost::from(u64::MAX)]);
}

#[test]
fn costs_of_hidden_functions_that_nothing_calls_are_stated() {
    // The cost has no caller to count for, and the event type that decides the order has none of it.
    let text = "events: Ir Dr Dw\nfn=f\n1 0 2 3\nfn=g\n1 5 1\n";
    let hide = Some(Regex::new("^f$").unwrap());
    let options = ViewOptions { hide, ..ViewOptions::default() };
    let view = View::new(loaded(text), &options).unwrap();
    let notes = view.attribution_notes().join("\n");
    assert!(notes.contains("nothing calls those that have 2 Dr, 3 Dw"), "{notes}");
}

/// The self and inclusive cost of a function with their marks, with calls of hidden functions and without.
fn estimates(profile: &Arc<Profile>, options: &ViewOptions, name: &str) -> Vec<(Cost, bool, Cost, bool)> {
    let of = |bypasses_hidden| {
        let options = ViewOptions { bypasses_hidden, ..options.clone() };
        let view = View::new(Arc::clone(profile), &options).unwrap();
        let (id, _) = view.subjects().find(|(_, subject)| subject.name() == name).unwrap();
        let (own, inclusive) = (view.self_cost(id)[0], view.inclusive_cost(id)[0]);
        (own, view.is_self_estimate(id), inclusive, view.is_inclusive_estimate(id))
    };
    vec![of(false), of(true)]
}

fn whole(name: &str) -> Option<Regex> {
    Some(Regex::new(&format!("^{name}$")).unwrap())
}

#[test]
fn each_step_knows_the_estimates_of_the_steps_before() {
    // `main` and `fd` call `ff`, which calls `fg` once: for `main`, so that `ff` costs `fd` 100,000 by itself.
    let functions = [
        lines("main", "10", &[("fd", "100100"), ("ff", "1100000")]),
        lines("fd", "100", &[("ff", "100000")]),
        lines("ff", "200000", &[("fg", "1000000")]),
        lines("fg", "1000000", &[]),
    ];
    let profile = loaded(part(1, &functions));
    let options = ViewOptions { hide: whole("ff"), focus: whole("fd"), ..ViewOptions::default() };
    for (own, is_self_estimate, inclusive, is_inclusive_estimate) in estimates(&profile, &options, "fd") {
        assert_ne!(own, 100_100, "the graph does not tell it");
        assert_eq!((is_self_estimate, inclusive, is_inclusive_estimate), (true, 100_100, false));
    }
    // Where `ff` calls nothing that is shown, all of its cost is known.
    let options = ViewOptions { hide: whole("f[fg]"), ..options };
    let exact = (100_100, false, 100_100, false);
    assert_eq!(estimates(&profile, &options, "fd"), [exact, exact]);

    // Without `fg`, nobody knows what is left of the calls of `ff`: of `fd`, and of its caller.
    let options = ViewOptions { drop: whole("fg"), focus: whole("ff"), ..ViewOptions::default() };
    for (own, is_self_estimate, _, is_inclusive_estimate) in estimates(&profile, &options, "fd") {
        assert_eq!((own, is_self_estimate, is_inclusive_estimate), (0, false, true));
    }
}

#[test]
fn hidden_functions_that_call_nothing_give_what_their_calls_cost_also_below_zero() {
    let functions = [
        lines("main", "0", &[("f", "100"), ("g", "-40")]),
        lines("f", "0", &[("h", "100")]),
        lines("g", "0", &[("h", "-40")]),
        lines("h", "60", &[]),
    ];
    let profile = loaded(part(1, &functions));
    let options = ViewOptions { hide: whole("h"), ..ViewOptions::default() };
    for (name, cost) in [("f", 100), ("g", -40)] {
        let exact = (cost, false, cost, false);
        assert_eq!(estimates(&profile, &options, name), [exact, exact], "{name}");
    }
}
