//! Functions that are renamed where they stand, and others of the same file that are called in their place.

use crate::Profile;
use crate::compare::{CompareOptions, Comparison, JoinedId, Presence};

/// A function with its first line, and its cost on this line and the next.
type Text = (&'static str, u32, u32);

/// A profile of `run`, which calls one function, and of a function that both sides have.
fn profile(callee: Text, before: u32) -> Profile {
    let (name, line, cost) = callee;
    Profile::from_bytes(format!(
        "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nob=p\nfl=p.c\n\
        fn={name}\n{line} {cost}\n{} {cost}\n\
        fn=first\n{before} 10\n\
        fn=run\n50 200\ncfn={name}\ncalls=20 {line}\n51 {}\ncfn=first\ncalls=1 {before}\n51 10\n",
        line + 1,
        2 * cost,
    ))
}

/// Returns the counts of functions that both sides have, that vanished and that are new.
fn presence(base: &Profile, new: &Profile) -> [usize; 3] {
    let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
    let count = |wanted: Presence| {
        let has_it = |function: &JoinedId| comparison.presence(*function) == wanted;
        comparison.functions().filter(has_it).count()
    };
    [Presence::Both, Presence::Vanished, Presence::New].map(count)
}

#[test]
fn another_function_of_the_file_is_no_renamed_one() {
    let base = profile(("insert_left", 10, 500), 5);
    // In its place, also if all lines moved, or one line of it is gone.
    for (line, before) in [(10, 5), (17, 12), (11, 5), (9, 5)] {
        let new = profile(("insert_right", line, 500), before);
        assert_eq!(presence(&base, &new), [3, 0, 0], "{line} {before}");
    }
    // Below it, where the functions around have not moved.
    for (line, before) in [(20, 5), (13, 5), (20, 12)] {
        let new = profile(("insert_right", line, 500), before);
        assert_eq!(presence(&base, &new), [2, 1, 1], "{line} {before}");
    }
}

#[test]
fn lines_added_above_or_below_do_not_hide_a_renamed_function() {
    let base = profile(("insert_left", 10, 500), 5);
    // `first` has not moved, but `run` has, with the function above it.
    let moved = |line: u32| {
        Profile::from_bytes(format!(
            "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nob=p\nfl=p.c\n\
            fn=insert_right\n{line} 500\n{} 500\nfn=first\n5 10\n\
            fn=run\n65 200\ncfn=insert_right\ncalls=20 {line}\n66 1000\ncfn=first\ncalls=1 5\n66 10\n",
            line + 1
        ))
    };
    assert_eq!(presence(&base, &moved(25)), [3, 0, 0]);
    assert_eq!(presence(&base, &moved(10)), [3, 0, 0]);
    assert_eq!(presence(&base, &moved(18)), [2, 1, 1]);
}

/// A profile of a program with arguments, which calls one function: where this begins, and the name. Line 0 is none.
fn run_of(arguments: &str, name: &str, line: u32) -> Profile {
    let before = if line == 0 { 0 } else { 5 };
    Profile::from_bytes(format!(
        "# callgrind format\ncreator: callgrind-3.19.0\ncmd: ./mill {arguments}\nevents: Ir\nob=/opt/mill\nfl=p.c\n\
        fn={name}\n{line} 500\nfn=first\n{before} 10\n\
        fn=run\n{before} 200\ncfn={name}\ncalls=20 {line}\n{before} 500\ncfn=first\ncalls=1 {before}\n{before} 10\n",
    ))
}

#[test]
fn one_program_with_other_arguments_has_no_renamed_function() {
    for (before, after, from, to) in [
        ("insert_left", "insert_right", 0, 0),
        ("insert_left", "insert_right", 7, 7),
        ("Left::insert(int)", "Right::insert(int)", 20, 30),
        ("go(int)", "go(std::vector<int> const&)", 20, 30),
        ("long enc<int>(int)", "long enc<double>(double)", 20, 30),
        ("main::{lambda(long)#1}::operator()", "main::{lambda(long)#2}::operator()", 20, 30),
    ] {
        let base = run_of("left", before, from);
        assert_eq!(presence(&base, &run_of("right", after, to)), [2, 1, 1], "{before}");
    }
    // Of another build with these arguments, in which other functions moved, lines decide.
    let moved = Profile::from_bytes(
        "# callgrind format\ncreator: callgrind-3.19.0\ncmd: ./mill right\nevents: Ir\nob=/opt/mill\nfl=p.c\n\
        fn=insert_right\n17 500\nfn=first\n15 10\n\
        fn=run\n15 200\ncfn=insert_right\ncalls=20 17\n15 500\ncfn=first\ncalls=1 15\n15 10\n",
    );
    assert_eq!(presence(&run_of("left", "insert_left", 7), &moved), [3, 0, 0]);
}

#[test]
fn methods_of_one_name_that_stand_apart_are_two_functions() {
    let base = profile(("Left::insert", 10, 500), 5);
    assert_eq!(presence(&base, &profile(("Right::insert", 10, 500), 5)), [3, 0, 0]);
    assert_eq!(presence(&base, &profile(("Right::insert", 20, 500), 5)), [2, 1, 1]);
}

#[test]
fn overloads_that_stand_apart_are_two_functions() {
    let base = profile(("go(int)", 10, 300), 5);
    // Parameters that changed, with any cost.
    assert_eq!(presence(&base, &profile(("go(double)", 10, 900), 5)), [3, 0, 0]);
    assert_eq!(presence(&base, &profile(("go(double)", 20, 900), 5)), [2, 1, 1]);
    // Instances of a template have the same lines.
    let base = profile(("int go<int>(int)", 10, 300), 5);
    assert_eq!(presence(&base, &profile(("long go<long>(long)", 10, 900), 5)), [3, 0, 0]);
}
