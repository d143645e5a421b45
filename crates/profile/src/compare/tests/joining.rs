//! Joining functions of two sides.

use crate::Profile;
use crate::compare::{Checkout, CompareOptions, Comparison, JoinDoubt, JoinRule, JoinedId, Presence};

fn functions(names: &[(&str, &str, &str, i32)]) -> Profile {
    let mut text = "events: Ir\n".to_owned();
    for (object, file, name, cost) in names {
        text.push_str(&format!("ob={object}\nfl={file}\nfn={name}\n1 {cost}\n"));
    }
    Profile::from_bytes(text)
}

/// Returns the functions: name in the base and in the new profile, and costs.
fn joined(base: &Profile, new: &Profile, options: &CompareOptions) -> Vec<(String, String, i128, i128)> {
    let comparison = Comparison::new(&[base], &[new], options).unwrap();
    let name =
        |name: Option<&[u8]>| name.map_or("-".to_owned(), |name| String::from_utf8_lossy(name).into_owned());
    let row = |function: JoinedId| {
        let cost = comparison.self_cost(function, 0);
        (
            name(comparison.in_base(function).map(|mention| mention.name)),
            name(comparison.in_new(function).map(|mention| mention.name)),
            cost.base.median,
            cost.new.median,
        )
    };
    comparison.functions().map(row).collect()
}

fn rows(rows: &[(&str, &str, i128, i128)]) -> Vec<(String, String, i128, i128)> {
    rows.iter().map(|&(base, new, from, to)| (base.to_owned(), new.to_owned(), from, to)).collect()
}

#[test]
fn directories_are_found_by_common_ends() {
    let base = functions(&[
        ("/home/a/mill/target/mill", "/home/a/mill/src/main.rs", "main", 1),
        ("/home/a/mill/target/mill", "/home/a/mill/src/stone.rs", "grind", 2),
        ("/usr/lib/libc.so", "/build/libc/malloc.c", "malloc", 3),
    ]);
    let new = functions(&[
        ("/ci/job/7/target/mill", "/ci/job/7/src/main.rs", "main", 1),
        ("/ci/job/7/target/mill", "/ci/job/7/src/stone.rs", "grind", 2),
        ("/usr/lib/libc.so", "/build/libc/malloc.c", "malloc", 3),
    ]);
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    assert!(comparison.functions().all(|function| comparison.presence(function) == Presence::Both));
    let checkout = Checkout { base: b"/home/a/mill/".to_vec(), new: b"/ci/job/7/".to_vec(), paths: 3 };
    assert_eq!(comparison.checkouts(), [checkout]);
    let joins: Vec<(JoinRule, usize)> =
        comparison.joins().iter().map(|join| (join.rule, join.functions)).collect();
    assert_eq!(joins, [(JoinRule::CheckoutDirectory, 2)]);
}

#[test]
fn directories_beside_a_file_that_stayed_are_not_joined() {
    let of = |directory: &str, files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| format!("/mill/{directory}/{file}.c")).collect();
        let mut all = vec![("mill", "/mill/main.c", "main", 1)];
        all.extend(files.iter().map(|file| ("mill", &file[..], "step", 2)));
        functions(&all)
    };
    // Four files for each that stayed, and each counts once.
    for (files, count) in [(&["a", "b", "c"][..], 0), (&["a", "b", "c", "d"], 1)] {
        let (base, new) = (of("png", files), of("jpeg", files));
        let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
        assert_eq!(comparison.checkouts().len(), count, "{files:?}");
    }
}

#[test]
fn paths_in_names_follow_their_directories() {
    let base = functions(&[
        ("", "/srv/old/index.php", "require_once::/srv/old/lib/a.php", 1),
        ("", "/srv/old/lib/a.php", "App\\{closure:/srv/old/lib/a.php:3-9}", 2),
    ]);
    let new = functions(&[
        ("", "/srv/new/index.php", "require_once::/srv/new/lib/a.php", 1),
        ("", "/srv/new/lib/a.php", "App\\{closure:/srv/new/lib/a.php:4-9}", 2),
    ]);
    let joined = joined(&base, &new, &CompareOptions::default());
    assert!(joined.iter().all(|(base, new, from, to)| base != "-" && new != "-" && from == to), "{joined:?}");
}

#[test]
fn equal_hashes_stay_apart_and_others_come_together() {
    let name = |hash: u8| format!("vec::from_iter::h{hash:016x}");
    let side = |costs: &[(u8, i32)]| {
        let names: Vec<String> = costs.iter().map(|(hash, _)| name(*hash)).collect();
        let of: Vec<(&str, &str, &str, i32)> =
            names.iter().zip(costs).map(|(name, (_, cost))| ("", "vec.rs", name.as_str(), *cost)).collect();
        functions(&of)
    };
    let (base, new) = (side(&[(1, 10), (2, 20), (3, 40)]), side(&[(1, 11), (7, 65)]));
    assert_eq!(
        joined(&base, &new, &CompareOptions::default()),
        rows(&[(&name(1), &name(1), 10, 11), (&name(2), &name(7), 60, 65)])
    );
    let mut options = CompareOptions::default();
    options.joining.rules = options.joining.rules.without(JoinRule::SymbolHash).without(JoinRule::Rename);
    assert_eq!(joined(&base, &new, &options).len(), 4);
}

#[test]
fn closures_stay_apart_where_their_numbers_are_the_same() {
    let side = |closures: &[(u8, i32)]| {
        let names: Vec<String> = closures.iter().map(|(nth, _)| format!("main::{{closure#{nth}}}")).collect();
        let of: Vec<(&str, &str, &str, i32)> =
            names.iter().zip(closures).map(|(name, (_, cost))| ("", "m.rs", name.as_str(), *cost)).collect();
        functions(&of)
    };
    let options = CompareOptions::default();
    let [two, also_two, three] =
        [side(&[(0, 1), (1, 2)]), side(&[(0, 5), (1, 2)]), side(&[(0, 9), (1, 1), (2, 2)])];
    assert_eq!(joined(&two, &also_two, &options).len(), 2);
    // A closure came before the others: their costs tell which is which.
    assert_eq!(
        joined(&two, &three, &options),
        rows(&[
            ("main::{closure#0}", "main::{closure#1}", 1, 1),
            ("main::{closure#1}", "main::{closure#2}", 2, 2),
            ("-", "main::{closure#0}", 0, 9)
        ])
    );
}

/// Before, all those of the new side were the one of the base, as instances of a generic function are that of an older mangling.
#[test]
fn a_closure_more_is_no_instance_of_the_other() {
    for [first, second] in [
        ["main::{closure#0}", "main::{closure#1}"],
        ["main.work.func1", "main.work.func2"],
        ["_RNCNvCs1234_4mill4main0B3_", "_RNCNvCs1234_4mill4mains_0B3_"],
        ["App\\{closure:/f.php:10-12}", "App\\{closure:/f.php:14-16}"],
        ["__ANON__[f.pl:12]", "__ANON__[f.pl:16]"],
    ] {
        let base = functions(&[("", "m.rs", first, 360)]);
        let new = functions(&[("", "m.rs", first, 600), ("", "m.rs", second, 290)]);
        for (base, new, is_swapped) in [(&base, &new, false), (&new, &base, true)] {
            let costs: Vec<(i128, i128)> =
                joined(base, new, &CompareOptions::default()).into_iter().map(|row| (row.2, row.3)).collect();
            let expected = [(360, 600), (0, 290)].map(|(a, b)| if is_swapped { (b, a) } else { (a, b) });
            assert_eq!(costs, expected, "{first}");
        }
    }
}

/// Closures that only one side has say nothing about the others: these are one if their names are, with a condition.
#[test]
fn closures_that_both_sides_have_are_one_beside_more_of_them() {
    for [first, second] in [
        ["main::{closure#0}", "main::{closure#1}"],
        ["main.work.func1", "main.work.func2"],
        ["App\\{closure:/f.php:10-12}", "App\\{closure:/f.php:14-16}"],
        ["A::__ANON__[f.pl:12]", "A::__ANON__[f.pl:16]"],
    ] {
        let base = functions(&[("", "m.rs", first, 500), ("", "m.rs", second, 300)]);
        let new = functions(&[("", "m.rs", first, 5000)]);
        assert_eq!(
            joined(&base, &new, &CompareOptions::default()),
            rows(&[(first, first, 500, 5000), (second, "-", 300, 0)])
        );
        let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
        let both = comparison.functions().find(|&function| comparison.presence(function) == Presence::Both);
        assert_eq!(comparison.doubt(both.unwrap()), Some(JoinDoubt::UnclearLines), "{first}");
    }
}

/// The numbers of closures in generic arguments are not those of the function.
#[test]
fn instances_for_several_closures_are_those_of_an_older_mangling() {
    let base = functions(&[("", "m.rs", "m::map", 500)]);
    let new = functions(&[
        ("", "m.rs", "m::map::<A, x::{closure#0}>", 300),
        ("", "m.rs", "m::map::<A, x::{closure#1}>", 200),
    ]);
    let costs: Vec<(i128, i128)> =
        joined(&base, &new, &CompareOptions::default()).into_iter().map(|row| (row.2, row.3)).collect();
    assert_eq!(costs, [(500, 500)]);
}

#[test]
fn a_function_and_its_cold_part_are_one() {
    let base = functions(&[("m", "m.c", "grind", 10), ("m", "m.c", "grind.cold", 1)]);
    let new = functions(&[("m", "m.c", "grind", 10)]);
    assert_eq!(joined(&base, &new, &CompareOptions::default()), rows(&[("grind", "grind", 11, 10)]));
}

#[test]
fn functions_are_found_elsewhere_if_they_are_alone() {
    let base =
        functions(&[("libm-2.so", "e.c", "exp", 1), ("m", "a.c", "moved", 2), ("m", "a.c", "twin", 3)]);
    let new = functions(&[
        ("libm-3.so", "e.c", "exp", 1),
        ("m", "b.c", "moved", 2),
        ("m", "b.c", "twin", 3),
        ("m", "c.c", "twin", 4),
    ]);
    let joined = joined(&base, &new, &CompareOptions::default());
    assert_eq!(
        joined,
        rows(&[
            ("exp", "exp", 1, 1),
            ("moved", "moved", 2, 2),
            ("twin", "-", 3, 0),
            ("-", "twin", 0, 3),
            ("-", "twin", 0, 4)
        ])
    );
}

#[test]
fn options_of_the_user_come_before_the_rules() {
    let base = functions(&[("", "/a/one/m.c", "f", 1), ("", "/x/n.c", "g", 1)]);
    let new = functions(&[("", "two/m.c", "f", 1), ("", "/y/n.c", "g", 1)]);
    let mut options = CompareOptions::default();
    options.joining.rules = super::super::JoinRules::NONE;
    assert_eq!(joined(&base, &new, &options).len(), 4);
    options.joining.strip_prefix = vec![b"/a".to_vec()];
    options.joining.map = vec![(b"one/".to_vec(), b"two/".to_vec()), (b"/x".to_vec(), b"/y".to_vec())];
    assert_eq!(joined(&base, &new, &options).len(), 2);
}

#[test]
fn renamed_functions_are_found_by_cost_and_callers() {
    let side = |class: &str, cost: i32| {
        Profile::from_bytes(format!(
            "events: Ir\nfl=m.cc\nfn=main\n1 5\ncfn={class}::run\ncalls=3 1\n2 {}\nfn={class}::run\n3 {cost}\n\
             cfn={class}::inner\ncalls=9 1\n4 70\nfn={class}::inner\n5 70\n",
            cost + 70
        ))
    };
    let (base, new) = (side("Mill", 100), side("Grinder", 101));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let renamed: Vec<JoinedId> =
        comparison.functions().filter(|&function| comparison.renamed(function).is_some()).collect();
    assert_eq!((comparison.functions().len(), renamed.len()), (3, 2));
    let why = comparison.renamed(renamed[1]).unwrap();
    assert_eq!((why.common_callers, why.callers, why.calls, why.self_costs), (1, 1, (9, 9), (70, 70)));
    let mut options = CompareOptions::default();
    options.joining.rules = options.joining.rules.without(JoinRule::Rename);
    assert_eq!(Comparison::new(&[&base], &[&new], &options).unwrap().functions().len(), 5);
}

/// A program under another name: its functions without names have equal addresses, and here equal costs, calls and callers.
#[test]
fn addresses_of_a_renamed_program_are_joined_by_resemblance() {
    let side = |object: &str, address: &str, cost: i32| {
        let plt = format!("0x{address:0>16}");
        Profile::from_bytes(format!(
            "events: Ir\nob=/lib/ld.so\nfl=start.c\nfn=start\n1 5\ncob={object}\ncfi=???\ncfn={plt}\ncalls=3 1\n2 {cost}\n\
             ob={object}\nfl=???\nfn={plt}\n0 {cost}\nfl=mill.c\nfn=main\n3 7\n"
        ))
    };
    let count = |base: &Profile, new: &Profile| {
        Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap().functions().len()
    };
    let base = side("/opt/mill", "1130", 30);
    assert_eq!(count(&base, &side("/opt/mill-2", "1130", 30)), 3);
    assert_eq!(count(&base, &side("/opt/mill-2", "1140", 30)), 4);
    assert_eq!(count(&base, &side("/opt/mill-2", "1130", 40)), 4);
}

#[test]
fn runs_of_one_side_may_be_of_other_builds() {
    let run = |directory: &str, hash: u8, cost: i32| {
        let file = format!("/{directory}/mill/src/main.rs");
        functions(&[("mill", &file, &format!("mill::grind::h{hash:016x}"), cost)])
    };
    let base = [run("ci/1", 1, 10), run("ci/2", 2, 12), run("ci/3", 3, 14)];
    let new = [run("ci/2", 2, 20), run("ci/4", 4, 21)];
    let [base, new] = [&base[..], &new[..]].map(|runs| runs.iter().collect::<Vec<_>>());
    let comparison = Comparison::new(&base, &new, &CompareOptions::default()).unwrap();
    let costs: Vec<_> = comparison.functions().map(|function| comparison.self_cost(function, 0)).collect();
    assert_eq!(costs.len(), 1);
    assert_eq!((costs[0].base.min, costs[0].base.median, costs[0].base.max), (10, 12, 14));
    assert_eq!((costs[0].new.min, costs[0].new.median, costs[0].new.max), (20, 20, 21));
}

/// A call through the PLT has no symbol. Its file is the one that held before, so that it can differ.
#[test]
fn addresses_are_joined_in_the_same_object_only() {
    let plt = "0x0000000000001050";
    let base = functions(&[
        ("/opt/mill", "mill.c", "main", 5),
        ("/opt/mill", "", plt, 3),
        ("/lib/a.so", "a.c", plt, 7),
    ]);
    let new = functions(&[
        ("/opt/mill", "mill.c", "main", 5),
        ("/opt/mill", "???", plt, 4),
        ("/lib/b.so", "b.c", plt, 9),
    ]);
    let expected = rows(&[("main", "main", 5, 5), (plt, plt, 3, 4), (plt, "-", 7, 0), ("-", plt, 0, 9)]);
    assert_eq!(joined(&base, &new, &CompareOptions::default()), expected);
    let base = functions(&[("/opt/mill", "mill.c", "main", 5), ("/opt/mill", "mill.c", plt, 3)]);
    assert_eq!(joined(&base, &new, &CompareOptions::default())[1], rows(&[(plt, plt, 3, 4)])[0]);
}
