//! Pages of a list against a naive twin that puts all functions in order by their names.

use std::cmp::{Ordering, Reverse};

use gristmill_profile::Profile;
use proptest::prelude::*;

use super::*;
use crate::functions::filtered_functions::plain_text;
use crate::functions::group_numbers::group_name;
use crate::functions::list_order::per_call;
use crate::view::ViewOptions;
use crate::{Functions, SortBy};

/// A profile with many equal costs, names, files and objects: `count` functions, and calls between neighbours.
fn view(count: usize, seed: u64, values: u64) -> View {
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::from("events: Ir\n");
    for nth in 0..count {
        let (object, file, cost) = (random(3), random(5), random(values));
        let name = match random(5) {
            0 => format!("same{}", random(4)),
            1 => format!("_ZN3app4f{:03}Ev", random(900)),
            2 => format!("f{}'2", random(count as u64)),
            3 => format!("f{}'same{}'app::f{}", random(count as u64), random(4), random(9)),
            _ => format!("f{nth}"),
        };
        // Costs beyond the bits of an approximate number, too.
        let cost = if random(4) == 0 { 1_000_000_000_000 + cost } else { cost };
        text.push_str(&format!("ob=o{object}\nfl=f{file}.c\nfn={name}\n1 {cost}\n"));
        if random(2) == 0 {
            text.push_str(&format!(
                "cfn=f{}\ncalls={} 1\n1 {}\n",
                random(count as u64),
                random(3),
                random(values)
            ));
        }
    }
    View::new(Profile::from_bytes(text.into_bytes()), &ViewOptions::default()).unwrap()
}

const ORDERS: [ListOrder; 7] = [
    ListOrder::By(SortBy::SelfCost),
    ListOrder::By(SortBy::Inclusive),
    ListOrder::By(SortBy::Calls),
    ListOrder::By(SortBy::Name),
    ListOrder::PerCall,
    ListOrder::Object,
    ListOrder::File,
];

/// Returns all functions that match in order.
fn naive(
    view: &View,
    options: &FunctionsOptions,
    order: ListOrder,
    within: Option<(Grouping, &str)>,
) -> Vec<SubjectId> {
    let profile = view.profile();
    let path = |id: SubjectId| {
        let subject = view.subject(id);
        (profile.file(subject.file), profile.object(subject.object))
    };
    let is_within =
        |id: SubjectId| within.is_none_or(|(grouping, name)| group_name(view, id, grouping) == name);
    let mut ids: Vec<SubjectId> = view
        .subject_ids()
        .filter(|&id| options.takes(view, id) && options.takes_name(view.subject(id).name()) && is_within(id))
        .collect();
    ids.sort_by(|&a, &b| {
        let (own, all, calls) =
            (|id| view.self_cost(id)[0], |id| view.inclusive_cost(id)[0], |id| view.call_count(id));
        let by_key = match order {
            ListOrder::By(SortBy::SelfCost) => {
                (Reverse(own(a)), Reverse(all(a))).cmp(&(Reverse(own(b)), Reverse(all(b))))
            }
            ListOrder::By(SortBy::Inclusive) => {
                (Reverse(all(a)), Reverse(own(a))).cmp(&(Reverse(all(b)), Reverse(own(b))))
            }
            ListOrder::By(SortBy::Calls) => {
                (Reverse(calls(a)), Reverse(all(a))).cmp(&(Reverse(calls(b)), Reverse(all(b))))
            }
            ListOrder::By(SortBy::Name) => Ordering::Equal,
            ListOrder::PerCall => per_call((all(b), calls(b)), (all(a), calls(a))),
            ListOrder::Object => path(a).1.cmp(path(b).1),
            ListOrder::File => path(a).0.cmp(path(b).0),
        };
        let name = |id: SubjectId| view.subject(id).name();
        by_key.then_with(|| name(a).cmp(name(b))).then_with(|| path(a).cmp(&path(b))).then_with(|| a.cmp(&b))
    });
    ids
}

fn ids(rows: Vec<FunctionRow>) -> Vec<SubjectId> {
    rows.into_iter().filter_map(|row| row.id).collect()
}

#[test]
fn pages_are_slices_of_all_functions_in_order() {
    // Few values make ranges of equal keys that are larger than those that are put in order together.
    for (seed, values) in [(1, 3), (2, 100_000)] {
        let view = view(12_000, seed, values);
        let head = Head::new(&view);
        let names = NameIndex::new(&view).unwrap();
        let options = FunctionsOptions::default();
        for order in ORDERS {
            let all = naive(&view, &options, order, None);
            // The names come while pages are read.
            let list = FunctionList::new(&view, &options, order, None, None);
            let with_names = FunctionList::new(&view, &options, order, None, Some(&names));
            let reversed = FunctionList::new(&view, &options, order, None, Some(&names)).reversed();
            let backwards: Vec<SubjectId> = all.iter().rev().copied().collect();
            assert_eq!((list.len(), list.matched()), (all.len(), view.totals()));
            for (nth, start) in
                [6_000, 0, 100, all.len() - 50, 3_000, 3_050, 9_000, 0].into_iter().enumerate()
            {
                let page = start..start + 150;
                let expected = page.start..page.end.min(all.len());
                let known = (nth > 2).then_some(&names);
                assert_eq!(
                    ids(list.page(&view, &head, page.clone(), known)),
                    all[expected.clone()],
                    "{order:?}"
                );
                assert_eq!(
                    ids(with_names.page(&view, &head, page.clone(), Some(&names))),
                    all[expected.clone()]
                );
                assert_eq!(
                    ids(list.page_from_end(&view, &head, page.clone(), known)),
                    backwards[expected.clone()]
                );
                assert_eq!(ids(reversed.page(&view, &head, page, Some(&names))), backwards[expected]);
            }
            assert_eq!(ids(list.page(&view, &head, 0..all.len(), None)), all);
        }
    }
}

proptest! {
    #[test]
    fn lists_have_what_the_twin_has(
        count in 1usize..60,
        seed in any::<u64>(),
        order in prop::sample::select(&ORDERS[..]),
        filter in prop::sample::select(&["", "f1", "same", r"f\d", "app::", r"app::f\(?", r"f1\.c", "^f2", "e1$", "F1"][..]),
        within in prop::sample::select(&[None, Some((Grouping::Object, "o1")), Some((Grouping::File, "f2.c")),
            Some((Grouping::Class, "app")), Some((Grouping::Class, "none"))][..]),
        start in 0usize..60,
    ) {
        let view = view(count, seed, 4);
        let head = Head::new(&view);
        let names = NameIndex::new(&view).unwrap();
        let filter = (!filter.is_empty()).then(|| crate::pattern(filter).unwrap());
        let options = FunctionsOptions { filter, ..FunctionsOptions::default() };
        let all = naive(&view, &options, order, within);
        let page = start.min(all.len())..(start + 7).min(all.len());
        for names in [None, Some(&names)] {
            let list = FunctionList::new(&view, &options, order, within, names);
            prop_assert_eq!(ids(list.page(&view, &head, start..start + 7, names)), &all[page.clone()]);
            prop_assert_eq!(list.len(), all.len());
            let matched: Cost = all.iter().map(|&id| view.self_cost(id)[0]).sum();
            prop_assert_eq!(list.matched(), [matched]);
        }
        for id in view.subject_ids() {
            prop_assert_eq!(names.name(id), view.subject(id).name());
        }
    }

    #[test]
    fn functions_of_a_longer_text_are_among_those_of_a_shorter_one(
        count in 1usize..60,
        seed in any::<u64>(),
        shorter in "(same|app|f|F|e|a|::|1|k|'|\\.|f\\d){1,2}",
        other in "(same|app|f|F|e|a|::|1|k|'|\u{212a}|\\.|f\\d){1,3}",
        around in prop::option::of(("(same|f|'|a)?", "(f|'|1)?")),
    ) {
        let longer = around.map_or(other, |(before, behind)| format!("{before}{shorter}{behind}"));
        let view = view(count, seed, 4);
        let index = NameIndex::new(&view).unwrap();
        let options = |filter: &str| {
            FunctionsOptions { filter: Some(crate::pattern(filter).unwrap()), ..FunctionsOptions::default() }
        };
        let (options_of_shorter, options) = (options(&shorter), options(&longer));
        for names in [None, Some(&index)] {
            let among = FilteredFunctions::new(&view, &options_of_shorter, names, None);
            if !among.has_all_of(&longer) {
                continue;
            }
            let all = naive(&view, &options, ListOrder::By(SortBy::Name), None);
            prop_assert!(all.iter().all(|id| among.ids().contains(id)));
            let found = FilteredFunctions::new(&view, &options, names, Some(&among));
            let list = FilteredFunctions::new(&view, &options, names, None);
            prop_assert_eq!(found.ids(), list.ids());
            prop_assert_eq!(found.costs(), list.costs());
            let list = FunctionList::of_functions(&view, &found, ListOrder::By(SortBy::Name), None, names);
            let page = 0..all.len();
            prop_assert_eq!(ids(list.page(&view, &Head::new(&view), page, names)), all);
        }
    }

    #[test]
    fn groups_are_the_same_with_and_without_names(count in 1usize..60, seed in any::<u64>()) {
        let view = view(count, seed, 9);
        let head = Head::new(&view);
        let names = NameIndex::new(&view).unwrap();
        for grouping in [Grouping::Object, Grouping::File, Grouping::Directory, Grouping::Class, Grouping::Crate, Grouping::Package] {
            let options = FunctionsOptions { grouping, ..FunctionsOptions::default() };
            let list = |names| FunctionList::new(&view, &options, ListOrder::By(SortBy::SelfCost), None, names);
            let rows = list(None).page(&view, &head, 0..100, None);
            prop_assert_eq!(&rows, &list(Some(&names)).page(&view, &head, 0..100, None));
            // Each row has the costs of the functions with its name.
            for row in rows {
                let members = view.subject_ids().filter(|&id| group_name(&view, id, grouping) == row.name);
                prop_assert_eq!(row.self_costs[0], members.map(|id| view.self_cost(id)[0]).sum::<Cost>());
            }
        }
    }
}

/// Returns all groups in order: those of the report, which are ordered by name, in the order of another key.
fn naive_groups(view: &View, options: &FunctionsOptions, order: ListOrder) -> Vec<FunctionRow> {
    let sort = if let ListOrder::By(sort) = order { sort } else { SortBy::Name };
    let options = FunctionsOptions { sort, ..options.clone() };
    let mut rows: Vec<FunctionRow> =
        Functions::new(view, &options).rows().map(std::borrow::Cow::into_owned).collect();
    match order {
        ListOrder::By(_) => {}
        ListOrder::PerCall => {
            let of = |row: &FunctionRow| (row.inclusive[0], row.calls.recorded());
            rows.sort_by(|a, b| per_call(of(b), of(a)));
        }
        ListOrder::Object => rows.sort_by(|a, b| a.object.cmp(&b.object)),
        ListOrder::File => rows.sort_by(|a, b| a.file.cmp(&b.file)),
    }
    rows
}

const GROUPINGS: [Grouping; 7] = [
    Grouping::Object,
    Grouping::File,
    Grouping::Directory,
    Grouping::Class,
    Grouping::Crate,
    Grouping::Package,
    Grouping::Cycle,
];

#[test]
fn pages_are_slices_of_all_groups_in_order() {
    // Threads divide the larger one.
    for (count, seed, filter) in
        [(5_000, 1, ""), (200, 2, ""), (200, 3, "s|1"), (200, 4, "cycle"), (200, 5, "F1")]
    {
        let view = view(count, seed, 9);
        let head = Head::new(&view);
        let names = NameIndex::new(&view).unwrap();
        for grouping in GROUPINGS {
            let filter = (!filter.is_empty()).then(|| crate::pattern(filter).unwrap());
            let options = FunctionsOptions { grouping, filter, ..FunctionsOptions::default() };
            let first = ListOrder::By(SortBy::SelfCost);
            for names in [None, Some(&names)] {
                let list = FunctionList::new(&view, &options, first, None, names);
                for order in ORDERS {
                    let all = naive_groups(&view, &options, order);
                    let list = list.in_order(&view, order, names).unwrap();
                    let page = all.len() / 3..all.len() / 2;
                    assert_eq!(
                        list.page(&view, &head, page.clone(), names),
                        all[page],
                        "{grouping:?} {order:?}"
                    );
                    assert_eq!(list.page(&view, &head, 0..all.len(), names), all, "{grouping:?} {order:?}");
                    let matched: Cost = all.iter().map(|row| row.self_costs[0]).sum();
                    assert_eq!((list.len(), list.matched()), (all.len(), &[matched][..]));
                }
            }
        }
    }
}

#[test]
fn a_longer_text_is_known_by_the_shorter_one() {
    let view = view(3, 1, 9);
    let filtered = |filter: &str| {
        let filter = (!filter.is_empty()).then(|| crate::pattern(filter).unwrap());
        FilteredFunctions::new(&view, &FunctionsOptions { filter, ..FunctionsOptions::default() }, None, None)
    };
    for (shorter, longer) in
        [("", "x|y"), ("re", "read"), ("ea", "Read"), ("Re", "aRea"), (r"a\.b", r"xa\.b"), ("n'", "main'")]
    {
        assert!(filtered(shorter).has_all_of(longer), "{shorter} {longer}");
    }
    for (shorter, longer) in [
        ("Re", "read"),
        ("re", "ra"),
        ("r.", "r.x"),
        ("re", "re|x"),
        ("read", "re"),
        ("a", ""),
        ("main", "main'"),
    ] {
        assert!(!filtered(shorter).has_all_of(longer), "{shorter} {longer}");
    }
}

#[test]
fn texts_are_no_patterns() {
    for text in ["main", r"a\.b\(", "std::vector", "µ", ""] {
        assert!(plain_text(text).is_some(), "{text}");
        assert_eq!(plain_text(&regex::escape(text)).as_deref(), Some(text));
    }
    for pattern in ["a.b", "^a", "a$", r"\d", "a|b", "(a)", "[a]", "a{2}", "a*", r"\<a", r"\b", "a\nb", "a\\"]
    {
        assert!(plain_text(pattern).is_none(), "{pattern}");
    }
}
