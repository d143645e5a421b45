//! Formulas by hand, and any formula against a naive calculation.
#![cfg(test)]

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn definition(text: &str) -> Definition {
    Definition::parse(text.as_bytes(), DefinedBy::User).unwrap()
}

fn faults(derivation: &Derivation) -> Vec<String> {
    derivation.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn formulas_are_parsed() {
    for (text, shown) in [
        ("Ir", "Ir"),
        ("Ir + Dr", "Ir + Dr"),
        ("Ir+Dr-Dw", "Ir + Dr - Dw"),
        ("  - Ir", "-Ir"),
        ("+Ir", "Ir"),
        ("10 Bm", "10 Bm"),
        ("10Bm", "10 Bm"),
        ("10*Bm", "10 Bm"),
        ("0x10 Bm + 0x1f*Ir", "16 Bm + 31 Ir"),
        ("-2 * Bm\t+ 0 x", "-2 Bm + 0 x"),
        ("Time_(10ns) - Time_(µs)", "Time_(10ns) - Time_(µs)"),
    ] {
        assert_eq!(Formula::parse(text.as_bytes()).unwrap().to_string(), shown, "{text}");
    }
    for (text, kind, at) in [
        ("", FormulaErrorKind::NameExpected, 0),
        ("  ", FormulaErrorKind::NameExpected, 2),
        ("Ir +", FormulaErrorKind::NameExpected, 4),
        ("Ir Dr", FormulaErrorKind::SignExpected, 3),
        ("Ir * 2", FormulaErrorKind::SignExpected, 3),
        ("2 * 3 Ir", FormulaErrorKind::NameExpected, 4),
        ("7", FormulaErrorKind::NameExpected, 1),
        ("- - Ir", FormulaErrorKind::NameExpected, 2),
        ("0x8000000000000000 Ir", FormulaErrorKind::FactorTooLarge, 0),
        ("0x10", FormulaErrorKind::NameExpected, 4),
        ("99999999999999999999 Ir", FormulaErrorKind::FactorTooLarge, 0),
    ] {
        assert_eq!(Formula::parse(text.as_bytes()), Err(FormulaError { kind, offset: at }), "{text}");
    }
}

#[test]
fn definitions_are_read() {
    let parsed = definition("Cost = Ir + 10 Bm : what it took: about");
    assert_eq!(parsed.name, b"Cost");
    assert_eq!(parsed.formula.to_string(), "Ir + 10 Bm");
    assert_eq!(parsed.long_name.as_deref(), Some(&b"what it took: about"[..]));
    for (text, at) in [("Cost", 4), ("= Ir", 0), ("a b = Ir", 0)] {
        let kind = FormulaErrorKind::DefinitionExpected;
        let error = Definition::parse(text.as_bytes(), DefinedBy::User);
        assert_eq!(error, Err(FormulaError { kind, offset: at }), "{text}");
    }
    let error = Definition::parse(b"Cost = Ir Bm", DefinedBy::User).unwrap_err();
    assert_eq!((error.offset, error.to_string()), (10, "`+` or `-` is expected at column 11".to_owned()));
}

#[test]
fn well_known_types_are_there_where_their_parts_are() {
    let derivation = derive(&[b"Ir", b"I1mr", b"D1mr", b"D1mw", b"ILmr", b"Bc", b"Bcm"], &well_known());
    let names: Vec<&[u8]> = derivation.derived.iter().map(|derived| &derived.definition.name[..]).collect();
    assert_eq!(names, [&b"L1m"[..], b"LLm", b"Bm", b"CEst"]);
    assert_eq!(derivation.faults, []);

    // Ir I1mr D1mr D1mw ILmr Bc Bcm
    let row = [1000, 1, 2, 3, 1, 70, 5];
    let costs: Vec<Cost> = derivation.derived.iter().map(|derived| derived.cost(&row).unwrap()).collect();
    // CEst = 1000 + 10 * 5 + 10 * 6 + 100 * 1
    assert_eq!(costs, [6, 1, 5, 1210]);
    assert_eq!(derivation.derived[0].missing, [] as [&[u8]; 0]);
    assert_eq!(derivation.derived[1].missing, [b"DLmr", b"DLmw"]);
    assert_eq!(derivation.derived[3].missing, [&b"Bim"[..], b"Ge", b"L2m", b"DLmr", b"DLmw"]);

    assert_eq!(derive(&[b"Time"], &well_known()), Derivation::default());

    // The numbers of iai and gungraun need the whole cache simulation.
    let events = [&b"Ir"[..], b"Dr", b"Dw", b"I1mr", b"D1mr", b"D1mw", b"ILmr", b"DLmr", b"DLmw"];
    let row = [1000, 300, 200, 10, 20, 5, 4, 3, 2];
    let derivation = derive(&events, &well_known());
    let costs: Vec<(&[u8], Cost)> = derivation
        .derived
        .iter()
        .map(|derived| (&derived.definition.name[..], derived.cost(&row).unwrap()))
        .collect();
    // RamHits = 4 + 3 + 2; LLhits = 35 - 9; L1hits = 1500 - 9 - 26; cycles = 1465 + 5 * 26 + 35 * 9
    assert_eq!(
        costs[3..],
        [
            (&b"RamHits"[..], 9),
            (b"LLhits", 26),
            (b"TotalRW", 1500),
            (b"L1hits", 1465),
            (b"EstimatedCycles", 1910),
        ]
    );
    let names = |derivation: &Derivation| {
        derivation.derived.iter().map(|derived| derived.definition.name.clone()).collect::<Vec<_>>()
    };
    for missing in 0..events.len() {
        let some: Vec<&[u8]> =
            events.iter().enumerate().filter(|(index, _)| *index != missing).map(|(_, &name)| name).collect();
        let derivation = derive(&some, &well_known());
        assert!(
            !names(&derivation).contains(&b"EstimatedCycles".to_vec()),
            "without {}",
            events[missing].escape_ascii()
        );
        assert_eq!(derivation.faults, []);
    }
}

#[test]
fn derived_of_derived() {
    let definitions =
        [definition("A = 2 B - Ir"), definition("B = 3 C + Dr"), definition("C = Ir + Ir - Dr")];
    let derivation = derive(&[b"Ir", b"Dr"], &definitions);
    // C = 2 Ir - Dr; B = 6 Ir - 2 Dr; A = 11 Ir - 4 Dr
    let factors: Vec<_> = derivation.derived.iter().map(|derived| derived.factors.clone()).collect();
    assert_eq!(factors, [[(0, 11), (1, -4)], [(0, 6), (1, -2)], [(0, 2), (1, -1)]]);
    assert_eq!(derivation.faults, []);
    assert_eq!(derivation.derived[0].cost(&[5, 20]), Ok(-25));
}

#[test]
fn few_costs_of_many_event_types_have_the_same_sum() {
    let names: Vec<String> = (0..40).map(|event| format!("e{event}")).collect();
    let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    // Every third one has a factor, some are below 0.
    let terms: String = (0..40).step_by(3).map(|event| format!(" + {} e{event}", event - 18)).collect();
    let derivation = derive(&names, &[definition(&format!("Sum = e1{}", terms.replace("+ -", "- ")))]);
    let [sum] = &derivation.derived[..] else { panic!("{derivation:?}") };
    let mut row = CostRow::new(names.len());
    for count in [0, 1, 2, 5, 20, 40] {
        let columns = (0..count).map(|nth| nth * 7 % names.len());
        let mut costs = vec![0; names.len()];
        row.clear();
        for (column, cost) in columns.zip([5, -7, 0, 11, 13].into_iter().cycle()) {
            // In two steps, over 0.
            [cost, -cost, cost].into_iter().for_each(|cost| row.add(column, cost));
            costs[column] += cost;
        }
        assert_eq!(sum.cost_of(&row), sum.cost(&costs), "{count}");
        assert!((0..names.len()).all(|column| row.get(column) == costs[column]), "{count}");
    }
    row.add(0, 1 << 96);
    assert_eq!(sum.cost_of(&row), Err(CostOverflow));
}

#[test]
fn faults_are_reported() {
    let definitions = [
        definition("A = B + Ir"),
        definition("B = C"),
        definition("C = A"),
        definition("Self = Ir + Self"),
        definition("After = Self + Ir"),
        definition("None = Nowhere + Never"),
        definition("Half = Ir + Never - Never"),
        definition("Ir = 2 Dr"),
        definition("Twice = Ir"),
        definition("Twice = 2 Ir"),
        definition("Nothing = Ir - Ir"),
    ];
    let derivation = derive(&[b"Ir", b"Dr"], &definitions);
    assert_eq!(
        faults(&derivation),
        [
            "`Ir` is not derived: it was recorded",
            "`Twice` is defined more than once: the last counts",
            "`A`, `B`, `C` cannot be derived: defined by itself",
            "`Self` cannot be derived: defined by itself",
            "`After` is derived without `Self`",
            "`None` cannot be derived: there is no `Nowhere`, `Never`",
            "`Half` is derived without `Never`",
        ]
    );
    let derived: Vec<_> = derivation
        .derived
        .iter()
        .map(|derived| (&derived.definition.name[..], &derived.factors[..]))
        .collect();
    assert_eq!(
        derived,
        [(&b"After"[..], &[(0, 1)][..]), (b"Half", &[(0, 1)]), (b"Twice", &[(0, 2)]), (b"Nothing", &[])]
    );
}

#[test]
fn the_definition_of_the_file_counts() {
    let file_definition = Definition { by: DefinedBy::File, ..definition("Bm = Bcm") };
    for order in [0, 1] {
        let mut definitions = well_known();
        definitions.insert(order * definitions.len(), file_definition.clone());
        let derivation = derive(&[b"Bcm", b"Bim"], &definitions);
        let bm = derivation.derived.iter().find(|derived| derived.definition.name == b"Bm").unwrap();
        assert_eq!(bm.factors, [(0, 1)]);
        assert_eq!(derivation.faults, []);
    }
}

#[test]
fn sums_above_the_limit() {
    let derivation = derive(&[b"Ir"], &[definition("A = 9000000000000000000 Ir")]);
    let derived = &derivation.derived[0];
    assert_eq!(derived.cost(&[1 << 96]), Err(CostOverflow));
    assert_eq!(derived.cost(&[1 << 30]), Ok(9_000_000_000_000_000_000 << 30));
    // Each of them could be held, but not the sum of many.
    assert_eq!([1, -1].map(|sign| derived.cost(&[sign << 40])), [Err(CostOverflow); 2]);
    let derivation = derive(
        &[b"Ir"],
        &[definition("A = 9000000000000000000 Ir"), definition("B = 2 A"), definition("C = B")],
    );
    assert_eq!(
        faults(&derivation),
        ["`B` cannot be derived: its formula is too large", "`C` cannot be derived: there is no `B`"]
    );
}

#[test]
fn many_definitions() {
    // A long chain, a cycle of as many, and one that takes all before it.
    let many = if std::env::var_os("GRISTMILL_CI").is_some() { 200_000 } else { 20_000 };
    let chain = |count: usize, last: &str| -> Vec<Definition> {
        (0..count)
            .map(|index| match index + 1 == count {
                true => definition(&format!("E{index} = {last}")),
                false => definition(&format!("E{index} = E{}", index + 1)),
            })
            .collect()
    };
    let derivation = derive(&[b"Ir"], &chain(many, "Ir"));
    assert_eq!((derivation.derived.len(), derivation.faults.len()), (many, 0));
    let derivation = derive(&[b"Ir"], &chain(many, "E0 + Ir"));
    assert_eq!((derivation.derived.len(), derivation.faults.len()), (0, 1));

    // Each one has one event type more than the one before.
    let names: Vec<Vec<u8>> = (0..20_000).map(|index| format!("C{index}").into_bytes()).collect();
    let names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
    let growing: Vec<Definition> = (1..20_000)
        .map(|index| definition(&format!("D{index} = D{} + C{index} + M{index}", index - 1)))
        .collect();
    let derivation = derive(&names, &growing);
    let factors: usize = derivation.derived.iter().map(|derived| derived.factors.len()).sum();
    assert!(factors <= MAX_FACTORS);
    assert!(faults(&derivation).iter().any(|fault| fault.ends_with("too large")));
}

/// The value of a name, by recursion.
fn naive(name: &str, row: &HashMap<String, Cost>, formulas: &HashMap<String, Vec<(Cost, String)>>) -> Cost {
    match (row.get(name), formulas.get(name)) {
        (Some(cost), _) => *cost,
        (None, Some(terms)) => terms.iter().map(|(factor, name)| factor * naive(name, row, formulas)).sum(),
        (None, None) => 0,
    }
}

proptest! {
    #[test]
    fn derived_costs_are_those_of_a_naive_calculation(
        costs in prop::collection::vec(-1000i128..1000, 3),
        formulas in prop::collection::vec(prop::collection::vec((-9i128..10, 0usize..8), 1..5), 4),
    ) {
        // Types 0 to 2 are recorded, 3 to 6 derived from smaller ones only, and 7 is unknown.
        let mut row = HashMap::new();
        for (index, cost) in costs.iter().enumerate() {
            row.insert(format!("T{index}"), *cost);
        }
        let mut naive_formulas = HashMap::new();
        let mut definitions = Vec::new();
        for (index, terms) in formulas.iter().enumerate() {
            let own = index + 3;
            let terms: Vec<(Cost, String)> = terms
                .iter()
                .map(|&(factor, name)| (factor, format!("T{}", if name >= own { 7 } else { name })))
                .collect();
            let text: Vec<String> = terms.iter().map(|(factor, name)| format!("{factor:+} {name}")).collect();
            definitions.push(definition(&format!("T{own} = {}", text.join(" "))));
            naive_formulas.insert(format!("T{own}"), terms);
        }
        definitions.reverse();
        let derivation = derive(&[b"T0", b"T1", b"T2"], &definitions);
        for derived in &derivation.derived {
            let name = String::from_utf8(derived.definition.name.clone()).unwrap();
            prop_assert_eq!(derived.cost(&costs), Ok(naive(&name, &row, &naive_formulas)));
        }
    }

    #[test]
    fn shown_formulas_parse_to_the_same(text in "[-+]? ?[0-9]{0,3} ?\\*? ?[A-Z]{1,3}( ?[-+] ?[0-9]{0,3}\\*?[a-z]{1,2}){0,4}") {
        if let Ok(formula) = Formula::parse(text.as_bytes()) {
            prop_assert_eq!(Formula::parse(formula.to_string().as_bytes()), Ok(formula));
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = Definition::parse(&text, DefinedBy::File);
        if let Err(error) = Formula::parse(&text) {
            prop_assert!(error.offset <= text.len());
        }
    }
}
