//! Functions that are joined although nothing proves that they are one.

use crate::Profile;
use crate::compare::{CompareOptions, Comparison, JoinDoubt, JoinedId};

/// A function: object, file, name and line.
type Text<'t> = (&'t str, &'t str, &'t str, u32);

fn profile(functions: &[Text<'_>], cost: u32) -> Profile {
    let mut text = "# callgrind format\ncreator: callgrind-3.19.0\ncmd: /opt/mill\nevents: Ir\n".to_owned();
    for (object, file, name, line) in functions {
        text += &format!("ob={object}\nfl={file}\nfn={name}\n{line} {cost}\n");
    }
    Profile::from_bytes(text)
}

/// Returns the doubt about the function of that name; nothing if the sides have two functions.
fn doubt(base: &[Text<'_>], new: &[Text<'_>], name: &str) -> Option<Option<JoinDoubt>> {
    let (base, new) = (profile(base, 100), profile(new, 130));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let is_meant = |function: &JoinedId| comparison.mention(*function).name == name.as_bytes();
    let found: Vec<JoinedId> = comparison.functions().filter(is_meant).collect();
    match found[..] {
        [function] => Some(comparison.doubt(function)),
        _ => None,
    }
}

#[test]
fn functions_of_one_name_in_other_files_may_be_two() {
    const MAIN: Text<'_> = ("/opt/mill", "main.c", "main", 1);
    let step = |file| [MAIN, ("/opt/mill", file, "step", 5)];
    assert_eq!(doubt(&step("a.c"), &step("b.c"), "step"), Some(Some(JoinDoubt::File)));
    // Files of one name in directories of one program: no build moved.
    assert_eq!(doubt(&step("a/util.c"), &step("b/util.c"), "step"), Some(Some(JoinDoubt::File)));
    // A name with its namespace is that of one function.
    let step = |file| [MAIN, ("/opt/mill", file, "mill::step(int)", 5)];
    assert_eq!(doubt(&step("a.cc"), &step("b.cc"), "mill::step(int)"), Some(None));
    let step = |file| [MAIN, ("/opt/mill", file, "(anonymous namespace)::step(int)", 5)];
    assert_eq!(
        doubt(&step("a.cc"), &step("b.cc"), "(anonymous namespace)::step(int)"),
        Some(Some(JoinDoubt::File))
    );
}

#[test]
fn the_first_instruction_of_a_function_can_be_of_a_header() {
    let of = |first: &str, then: &str| {
        Profile::from_bytes(format!(
            "events: Ir\nfl={first}\nfn=step\n7 5\nfi={then}\n9 5\nfl=main.c\nfn=main\n3 5\n"
        ))
    };
    let doubt = |base: &Profile, new: &Profile| {
        let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
        let step = comparison.functions().next().unwrap();
        comparison.doubt(step)
    };
    assert_eq!(doubt(&of("step.h", "a.c"), &of("a.c", "step.h")), None);
    // Functions of two files can both have code of a header in them.
    assert_eq!(doubt(&of("step.h", "a.c"), &of("b.c", "step.h")), Some(JoinDoubt::File));
}

#[test]
fn builds_in_other_directories_are_no_reason_to_doubt() {
    let build = |directory: &str| -> Vec<String> {
        ["main.c", "step.c", "sort.c", "read.c"]
            .iter()
            .map(|file| format!("{directory}/src/{file}"))
            .collect()
    };
    let (base, new) = (build("/home/a/mill"), build("/builds/7"));
    let functions = |paths: &'static [String]| -> Vec<Text<'static>> {
        let mut all: Vec<Text<'static>> = vec![
            ("/opt/mill", "/usr/include/sort.h", "swap", 9),
            ("/opt/mill", "/home/a/.cargo/registry/src/x/lib.rs", "grow", 9),
        ];
        all.extend(
            paths
                .iter()
                .zip(["main", "step", "sort", "read"])
                .map(|(path, name)| ("/opt/mill", &path[..], name, 3)),
        );
        all
    };
    let (base, new) = (functions(base.leak()), functions(new.leak()));
    for name in ["main", "step", "sort", "read", "swap"] {
        assert_eq!(doubt(&base, &new, name), Some(None), "{name}");
    }
}

#[test]
fn directories_of_a_program_that_stayed_may_have_other_functions() {
    let codec = |main: &'static str, directory: &str| -> Vec<Text<'static>> {
        let file = |name: &str| -> &'static str { format!("{directory}/{name}.c").leak() };
        let of = |name: &'static str| ("/opt/mill", file(name), name, 5);
        vec![("/opt/mill", main, "main", 1), of("step"), of("mix"), of("put"), of("read")]
    };
    let is_joined = |main: [&'static str; 2], directories: [&str; 2]| {
        doubt(&codec(main[0], directories[0]), &codec(main[1], directories[1]), "step")
    };
    // Where four files moved for one that stayed, or where that is not beside them.
    let other = Some(Some(JoinDoubt::File));
    assert_eq!(is_joined(["m/main.c"; 2], ["m/png", "m/jpeg"]), other);
    assert_eq!(is_joined(["/mill/main.c"; 2], ["/mill/lib/png", "/mill/lib/jpeg"]), other);
    assert_eq!(is_joined(["/a/m/main.c", "/b/m/main.c"], ["/a/m/png", "/b/m/jpeg"]), other);
    // The build moved, or a library that is not below it.
    assert_eq!(is_joined(["/a/main.c", "/b/main.c"], ["/a/png", "/b/png"]), Some(None));
    assert_eq!(is_joined(["/a/main.c", "/b/main.c"], ["/lib/png", "/lib/jpeg"]), Some(None));
    // Another version of a library.
    assert_eq!(is_joined(["m/main.c"; 2], ["m/png-1.2", "m/png-1.3.1"]), Some(None));
    assert_eq!(is_joined(["m/main.c"; 2], ["m/v1", "m/v2"]), other);

    // A library has no main function.
    let library = |directory: &str| {
        let mut all = codec("m/init.c", directory);
        all[0].2 = "init";
        all
    };
    assert_eq!(doubt(&library("m/png"), &library("m/jpeg"), "step"), other);
    assert_eq!(doubt(&library("/a/png"), &library("/b/png"), "step"), Some(None));
}

#[test]
fn a_file_that_stayed_is_no_reason_to_doubt_that_others_moved() {
    let build = |directory: &str| -> Vec<Text<'static>> {
        let file = |name: &str| -> &'static str { format!("{directory}/{name}.c").leak() };
        vec![
            ("/opt/mill", "/home/shared.c", "fold", 1),
            ("/opt/mill", file("main"), "main", 1),
            ("/opt/mill", file("step"), "step", 5),
        ]
    };
    assert_eq!(doubt(&build("/home/a"), &build("/home/b"), "step"), Some(None));
}

#[test]
fn objects_of_other_names_may_have_other_functions() {
    const MAIN: Text<'_> = ("/opt/mill", "???", "main", 0);
    let plugin = |object| [MAIN, (object, "???", "decode", 0)];
    assert_eq!(
        doubt(&plugin("/opt/png.so"), &plugin("/opt/jpeg.so"), "decode"),
        Some(Some(JoinDoubt::Object))
    );
    // Another version of a library, and the program itself.
    assert_eq!(doubt(&plugin("/lib/libz-1.2.so"), &plugin("/lib/libz-1.3.so"), "decode"), Some(None));
    for (base, new) in [("/lib/libz.so.1", "/lib/libz.so.1.2"), ("/lib/py3.10.so", "/lib/py3.11.so")] {
        assert_eq!(doubt(&plugin(base), &plugin(new), "decode"), Some(None), "{base}");
    }
    // Digits can be a part of the name.
    for (base, new) in [("/opt/mp3.so", "/opt/mp4.so"), ("/opt/crc-16.so", "/opt/crc-32.so")] {
        assert_eq!(doubt(&plugin(base), &plugin(new), "decode"), Some(Some(JoinDoubt::Object)), "{base}");
    }
    // Each plugin can have a class of its own.
    let plugin = |object, file| [MAIN, (object, file, "Codec::step(int)", 5)];
    let doubt_of = |base: [Text<'_>; 2], new: [Text<'_>; 2]| doubt(&base, &new, "Codec::step(int)");
    let (base, new) = (plugin("/opt/mp3.so", "mp3.cc"), plugin("/opt/mp4.so", "mp4.cc"));
    assert_eq!(doubt_of(base, new), Some(Some(JoinDoubt::File)));
    let (base, new) = (plugin("/opt/c.so.1", "mp3.cc"), plugin("/opt/c.so.2", "mp4.cc"));
    assert_eq!(doubt_of(base, new), Some(Some(JoinDoubt::File)));
    let (base, new) = (plugin("/opt/c.so.1", "mp3.cc"), plugin("/opt/c.so.2", "mp3.cc"));
    assert_eq!(doubt_of(base, new), Some(None));
    let of_program = |text: &str| Profile::from_bytes(text.to_owned());
    let base = of_program("cmd: ./mill.old\nevents: Ir\nob=/opt/mill.old\nfn=main\n0 5\n");
    let new = of_program("cmd: ./mill.new\nevents: Ir\nob=/opt/mill.new\nfn=main\n0 7\n");
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let main: Vec<JoinedId> = comparison.functions().collect();
    assert_eq!((main.len(), comparison.doubt(main[0])), (1, None));
}

#[test]
fn closures_of_one_name_at_other_lines_may_be_two() {
    let closure = |line: u32| {
        [
            ("/opt/mill", "mill.rs", "mill::main::{{closure}}", line),
            ("/opt/mill", "mill.rs", "mill::run", 20),
            ("/opt/mill", "mill.rs", "mill::main", 3),
        ]
    };
    assert_eq!(doubt(&closure(5), &closure(5), "mill::main::{{closure}}"), Some(None));
    assert_eq!(doubt(&closure(5), &closure(9), "mill::main::{{closure}}"), Some(Some(JoinDoubt::Lines)));
    // Code of a library is inlined at its begin.
    let closure = |line: u32| {
        Profile::from_bytes(format!(
            "events: Ir\nfl=range.rs\nfn=main::{{{{closure}}}}\n77 {line}\nfi=mill.rs\n{line} 50\nfl=mill.rs\nfn=run\n20 5\nfn=main\n3 5\n"
        ))
    };
    assert_eq!(doubt_of_first(&closure(5), &closure(6)), Some(JoinDoubt::Lines));
    // A run with other arguments takes another branch, whose function is inlined from another file.
    let closure = |around: &str, line: u32| {
        Profile::from_bytes(format!(
            "events: Ir\nfl=mill.rs\nfn=main::{{{{closure}}}}\n5 {line}\nfi=help.rs\n{line} 50\nfl=mill.rs\nfn=run\n20 5\nfn={around}\n3 5\n"
        ))
    };
    // If the function around it is inlined, its file is not known.
    for (around, expected) in [("main", None), ("start", Some(JoinDoubt::UnclearLines))] {
        let (base, new) = (closure(around, 6), closure(around, 8));
        assert_eq!(doubt_of_first(&base, &new), expected, "{around}");
    }
    // Closures of an inlined function have a line of the library in common, which says nothing, or one of a header, where they begin.
    let closure = |file: &str, around: &str, line: u32| {
        Profile::from_bytes(format!(
            "events: Ir\nfl={file}\nfn=mill::pick::{{{{closure}}}}\n900 {line}\nfi=mill.rs\n{line} 50\nfl=mill.rs\nfn=run\n20 5\nfn=mill::main\n3 5\n\
             fl={around}\nfn=mill::pick\n3 5\n"
        ))
    };
    let library = "/rustc/1234/library/core/src/hint.rs";
    for (file, around, expected) in [
        (library, "none.rs", JoinDoubt::Lines),
        (library, library, JoinDoubt::Lines),
        (library, "mill.rs", JoinDoubt::Lines),
        ("hint.h", "none.rs", JoinDoubt::UnclearLines),
        ("hint.h", "mill.rs", JoinDoubt::Lines),
    ] {
        let (base, new) = (closure(file, around, 7), closure(file, around, 13));
        assert_eq!(doubt_of_first(&base, &new), Some(expected), "{file} {around}");
        let new = closure(file, around, 7);
        assert_eq!(doubt_of_first(&base, &new), None, "{file} {around}");
    }
}

#[test]
fn closures_are_known_by_the_names_of_all_languages() {
    for (closures, around) in [
        (
            [1, 2]
                .map(|hash| format!("_ZN4mill4pick28_$u7b$$u7b$closure$u7d$$u7d$17h000000000000000{hash}E")),
            "_ZN4mill4pick17h0123456789abcdefE",
        ),
        (["_RNCNvCs1234_4mill4pick0B3_"; 2].map(str::to_owned), "_RNvCs1234_4mill4pick"),
        (["_ZZ4pickiENKUlvE_clEv"; 2].map(str::to_owned), "_Z4picki"),
        (["_ZZ4pickiENK3$_0clEv"; 2].map(str::to_owned), "_Z4picki"),
        (["pick(int)::{lambda()#1}::operator()() const"; 2].map(str::to_owned), "pick(int)"),
        (["main.pick.func1"; 2].map(str::to_owned), "main.pick"),
        (["<lambda>"; 2].map(str::to_owned), "pick"),
        (["Mill.lambda$pick$0"; 2].map(str::to_owned), "Mill.pick"),
    ] {
        let run = |name: &str, line: u32| {
            Profile::from_bytes(format!(
                "events: Ir\nfl=mill.rs\nfn={name}\n{line} {line}\nfi=help.rs\n3 50\nfl=mill.rs\nfn=run\n20 5\nfn=other\n40 5\nfn={around}\n3 5\n"
            ))
        };
        let [base, new] = &closures;
        let doubt = |line| doubt_of_first(&run(base, 5), &run(new, line));
        assert_eq!([doubt(9), doubt(5)], [Some(JoinDoubt::Lines), None], "{base}");
    }
}

/// The doubt about the first function of both sides.
fn doubt_of_first(base: &Profile, new: &Profile) -> Option<JoinDoubt> {
    let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
    comparison.doubt(comparison.functions().next().unwrap())
}

#[test]
fn closures_that_are_too_many_to_look_at_stay_doubted() {
    let with = |closure_line: u32, cost: u32| {
        let mut text = "events: Ir\nfl=mill.rs\n".to_owned();
        for number in 0..600 {
            let line = 100 + number * 10;
            text += &format!("fn=f{number}\n{line} 5\n");
            // Those with the highest ids change most.
            let cost = 10 + cost * (number + 1);
            text += &format!("fn=f{number}::{{{{closure}}}}\n{} {cost}\n", line + closure_line);
        }
        // Most of the code stayed where it was.
        for number in 0..12_000 {
            text += &format!("fn=g{number}\n{} 5\n", 10_000 + number);
        }
        Profile::from_bytes(text)
    };
    let doubts = |base: &Profile, new: &Profile| {
        let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
        let is_closure = |id: &JoinedId| comparison.mention(*id).name.ends_with(b"{{closure}}");
        comparison.functions().filter(is_closure).map(|id| comparison.doubt(id)).collect::<Vec<_>>()
    };
    let found = doubts(&with(3, 1), &with(5, 2));
    assert_eq!(found.len(), 600);
    assert!(found[..100].iter().all(|&doubt| doubt == Some(JoinDoubt::UnclearLines)), "{found:?}");
    assert!(found[100..].iter().all(|&doubt| doubt == Some(JoinDoubt::Lines)), "{found:?}");
    let same = doubts(&with(3, 1), &with(3, 2));
    assert!(same[100..].iter().all(|&doubt| doubt.is_none()), "{same:?}");
}

#[test]
fn renamed_functions_may_be_two() {
    let calls = |name: &str| {
        Profile::from_bytes(format!(
            "events: Ir\nob=mill\nfl=mill.c\nfn=main\n3 10\ncfn={name}\ncalls=2 5\n4 900\nfn={name}\n5 900\n"
        ))
    };
    let (base, new) = (calls("grind_one"), calls("grind_all"));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let renamed = comparison.functions().find(|&function| comparison.renamed(function).is_some()).unwrap();
    assert_eq!(comparison.doubt(renamed), Some(JoinDoubt::Name));
}

/// The doubts about the functions of both sides, by name. Each call is caller and callee.
fn doubts_by_calls(base: &[[&str; 2]], new: &[[&str; 2]]) -> Vec<(String, JoinDoubt)> {
    let run = |calls: &[[&str; 2]], cost: u32| {
        let call =
            |[caller, callee]: &[&str; 2]| format!("fn={caller}\n0 7\ncfn={callee}\ncalls=3 0\n0 90\n");
        let leaves = |[_, callee]: &[&str; 2]| format!("fn={callee}\n0 {cost}\n");
        let calls = calls.iter().map(call).chain(calls.iter().map(leaves)).collect::<String>();
        Profile::from_bytes(format!("creator: callgrind-3.19.0\nevents: Ir\nob=mill\nfl=???\n{calls}"))
    };
    let (base, new) = (run(base, 100), run(new, 130));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let name = |function| String::from_utf8_lossy(comparison.mention(function).name).into_owned();
    let doubts = comparison.functions().filter(|&function| comparison.renamed(function).is_none());
    doubts.filter_map(|function| Some((name(function), comparison.doubt(function)?))).collect()
}

#[test]
fn functions_without_files_are_known_by_their_callers() {
    let doubts = |base: &[[&str; 2]], new: &[[&str; 2]]| doubts_by_calls(base, new);
    let callers = |names: &[&str]| -> Vec<(String, JoinDoubt)> {
        names.iter().map(|&name| (name.to_owned(), JoinDoubt::Callers)).collect()
    };
    // Static functions of two files, each called by a function of its file.
    let start = ["start", "main"];
    let of = |run: &'static str| [start, ["main", run], [run, "step"], ["step", "mix"]];
    assert_eq!(doubts(&of("png"), &of("jpeg_all")), callers(&["step", "mix"]));
    assert_eq!(doubts(&of("png"), &of("png")), []);
    // One caller that stays is enough, and one of a cycle that nothing proves is none.
    let [base, new] = ["png", "jpeg_all"].map(|run| [start, ["main", run], [run, "step"], ["main", "step"]]);
    assert_eq!(doubts(&base, &new), []);
    let [base, new] = ["png", "jpeg_all"]
        .map(|run| [start, ["main", run], [run, "step"], ["step", "mix"], ["mix", "step"]]);
    assert_eq!(doubts(&base, &new), callers(&["step", "mix"]));
    // The name of a class is that of one function.
    let of = |run: &'static str| [start, ["main", run], [run, "Mill::step()"], ["Mill::step()", "mix"]];
    assert_eq!(doubts(&of("png"), &of("jpeg_all")), []);
}

#[test]
fn copies_of_other_numbers_may_be_two() {
    let step = |name: &'static str| [("/opt/mill", "mill.c", name, 5), ("/opt/mill", "mill.c", "main", 1)];
    for (base, new, expected) in [
        ("f.constprop.0", "f.constprop.1", Some(JoinDoubt::Name)),
        ("f.lto_priv.0", "f.lto_priv.1", Some(JoinDoubt::Name)),
        ("f.isra.0", "f.isra.1.cold", Some(JoinDoubt::Name)),
        ("f() [clone .constprop.0]", "f() [clone .constprop.1]", Some(JoinDoubt::Name)),
        ("f", "f.constprop.0", None),
        ("f.isra.0", "f.constprop.1", None),
        ("f.constprop.0", "f.constprop.0.isra.0", None),
        ("f.part.0", "f.part.1", None),
    ] {
        assert_eq!(doubt(&step(base), &step(new), new), Some(expected), "{base} {new}");
    }
    // One more copy than before.
    let more = [step("f.constprop.0"), step("f.constprop.1")].concat();
    assert_eq!(doubt(&step("f.constprop.0"), &more, "f.constprop.0"), Some(Some(JoinDoubt::Name)));
    // Copies whose numbers changed places.
    let calls = |p: &'static str, q: &'static str| [["main", "p"], ["main", "q"], ["p", p], ["q", q]];
    let (first, second) = ("f.constprop.0", "f.constprop.1");
    let swapped = doubts_by_calls(&calls(first, second), &calls(second, first));
    assert_eq!(swapped.iter().filter(|(_, doubt)| *doubt == JoinDoubt::Callers).count(), 2);
    assert_eq!(doubts_by_calls(&calls(first, second), &calls(first, second)), []);
}
