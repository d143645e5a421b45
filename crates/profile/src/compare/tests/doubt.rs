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
fn objects_of_other_names_may_have_other_functions() {
    const MAIN: Text<'_> = ("/opt/mill", "???", "main", 0);
    let plugin = |object| [MAIN, (object, "???", "decode", 0)];
    assert_eq!(
        doubt(&plugin("/opt/png.so"), &plugin("/opt/jpeg.so"), "decode"),
        Some(Some(JoinDoubt::Object))
    );
    // Another version of a library, and the program itself.
    assert_eq!(doubt(&plugin("/lib/libz-1.2.so"), &plugin("/lib/libz-1.3.so"), "decode"), Some(None));
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
    let (base, new) = (closure(5), closure(6));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let closure = comparison.functions().next().unwrap();
    assert_eq!(comparison.doubt(closure), Some(JoinDoubt::Lines));
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
