//! Small files with numbers calculated by hand, which check the model itself.

use super::judge;
use super::model::{Cycle, Model, Row};

/// `name: self, inclusive, called` by function, then by cycle.
fn shown(file: &str, active: &[usize], with_cycles: bool) -> Vec<String> {
    assert_eq!(judge(file, &[file.as_bytes()]), Ok(()));
    let model = Model::of(&[file.as_bytes()]);
    let cycles = if with_cycles { model.cycles() } else { Vec::new() };
    let (rows, of_cycles) = model.rows(active, &cycles);
    let show = |name: &str, row: &Row| {
        let costs = |costs: &[i128]| costs.iter().map(i128::to_string).collect::<Vec<_>>().join("+");
        format!("{name}: {}, {}, {}", costs(&row.self_cost), costs(&row.inclusive), row.called)
    };
    let functions = rows.iter().map(|(id, row)| show(&model.functions[id].name, row));
    functions.chain(of_cycles.iter().map(|row| show("cycle", row))).collect()
}

fn whole(file: &str) -> Vec<String> {
    shown(file, &[0], true)
}

#[test]
fn callers_decide() {
    // The caller says 100, the function itself 500: KCachegrind shows 500 and 100.
    let file = "events: Ir\nfn=main\n1 20\ncfn=grind\ncalls=1 1\n2 100\nfn=grind\n5 500\n";
    assert_eq!(whole(file), ["main: 20, 120, 0", "grind: 500, 100, 1"]);
    // Above the total, too: 20 of its own, and 600 of which only 5 are there.
    let file = "events: Ir\nfn=main\n1 20\ncfn=grind\ncalls=3 1\n2 600\nfn=grind\n5 5\n";
    assert_eq!(whole(file), ["main: 20, 620, 0", "grind: 5, 600, 3"]);
}

#[test]
fn a_count_of_nothing_is_no_call() {
    // Entered before the profile began: 3 and what it calls itself, not the 90 of its caller.
    let file =
        "events: Ir\nfn=main\n1 1\ncfn=f\ncalls=0 1\n2 90\nfn=f\n5 3\ncfn=g\ncalls=2 9\n6 80\nfn=g\n9 80\n";
    assert_eq!(whole(file), ["main: 1, 91, 0", "f: 3, 83, 0", "g: 80, 80, 2"]);
}

#[test]
fn calls_to_itself_count_but_cost_nothing() {
    let file = "events: Ir\nfn=main\n1 1\ncfn=f\ncalls=1 5\n2 60\nfn=f\n5 60\ncfn=f\ncalls=9 5\n6 500\n";
    assert_eq!(whole(file), ["main: 1, 61, 0", "f: 60, 60, 10"]);
    // Only by itself: called, but by nobody who could say at what cost.
    let file = "events: Ir\nfn=f\n5 60\ncfn=f\ncalls=9 5\n6 500\n";
    assert_eq!(whole(file), ["f: 60, 0, 9"]);
}

#[test]
fn each_part_by_its_own_rule() {
    // In the first part `f` is called, in the second it goes on: 40 + (7 + 2).
    let file = "events: Ir Dr\nfn=(1) main\n1 1\ncfn=(2) f\ncalls=1 5\n2 40 4\nfn=(2)\n5 40 4\n\npart: 2\nevents: Dr Ir\n\
                fn=(2)\n5 1 7\ncfn=(3) g\ncalls=1 1\n6 0 2\nfn=(3)\n1 0 2\n";
    assert_eq!(shown(file, &[0, 1], true), ["main: 1+0, 41+4, 0", "f: 47+5, 49+5, 1", "g: 2+0, 2+0, 1"]);
    assert_eq!(shown(file, &[1], true), ["main: 0+0, 0+0, 0", "f: 7+1, 9+1, 0", "g: 2+0, 2+0, 1"]);
}

/// `a` calls `b`, `b` calls `c`, `c` calls both of them again.
const RING: &str = "events: Ir\nfn=a\n1 10\ncfn=b\ncalls=1 1\n1 30\nfn=b\n2 20\ncfn=c\ncalls=4 1\n2 25\ncfn=leaf\ncalls=1 1\n3 5\n\
                    fn=c\n3 3\ncfn=b\ncalls=2 1\n3 7\ncfn=a\ncalls=1 1\n3 9\ncfn=c\ncalls=5 1\n4 1000\n\
                    fn=leaf\n9 5\nfn=main\n1 2\ncfn=a\ncalls=1 1\n2 38\n";

#[test]
fn cycles_are_one() {
    // The ring comes back to `a`, where a search by name begins: it is found all the same.
    let with =
        ["a: 10, 10, 2", "b: 20, 25, 3", "c: 3, 3, 9", "leaf: 5, 5, 1", "main: 2, 40, 0", "cycle: 33, 38, 1"];
    assert_eq!(whole(RING), with);
    let without = ["a: 10, 47, 2", "b: 20, 37, 3", "c: 3, 25, 9", "leaf: 5, 5, 1", "main: 2, 40, 0"];
    assert_eq!(shown(RING, &[0], false), without);
}

#[test]
fn cycles_are_those_of_all_parts() {
    let file = "events: Ir\nfn=a\n1 1\ncfn=b\ncalls=1 1\n1 6\n\npart: 2\nevents: Ir\nfn=b\n1 2\ncfn=a\ncalls=1 1\n1 7\n";
    assert_eq!(shown(file, &[0], true), ["a: 1, 1, 0", "b: 0, 0, 1", "cycle: 1, 1, 0"]);
    assert_eq!(shown(file, &[0, 1], true), ["a: 1, 1, 1", "b: 2, 2, 1", "cycle: 3, 3, 0"]);
}

#[test]
fn only_what_reaches_each_other_is_a_cycle() {
    // Two rings, one after the other, with a way between them and a dead end.
    let calls =
        [("a", "b"), ("b", "a"), ("b", "m"), ("m", "x"), ("x", "y"), ("y", "z"), ("z", "x"), ("z", "end")];
    let lines = calls.map(|(caller, callee)| format!("fn={caller}\n1 1\ncfn={callee}\ncalls=1 1\n1 1\n"));
    let model = Model::of(&[format!("events: Ir\n{}", lines.concat()).as_bytes()]);
    let names = |cycle: &Cycle| {
        let names: Vec<&str> = cycle.iter().map(|id| model.functions[id].name.as_str()).collect();
        names.join(" ")
    };
    assert_eq!(model.cycles().iter().map(names).collect::<Vec<_>>(), ["a b", "x y z"]);
}

/// `object|file|name` of all functions.
fn functions(file: &str) -> Vec<String> {
    assert_eq!(judge(file, &[file.as_bytes()]), Ok(()));
    let model = Model::of(&[file.as_bytes()]);
    model.functions.values().map(|f| format!("{}|{}|{}", f.object, f.file, f.name)).collect()
}

#[test]
fn names_hold_as_long_as_they_should() {
    // `cob=` and `cfi=` for one call; without them the current file, also that of inlined code.
    let file = "events: Ir\nob=(1) mill\nfl=(1) m.c\nfn=(1) main\n1 1\ncob=(2) lib\ncfi=(2) l.c\ncfn=(2) f\ncalls=1 1\n1 1\n\
                cfn=(3) g\ncalls=1 1\n1 1\nfi=(3) i.h\n2 1\ncfn=(4) h\ncalls=1 1\n2 1\nfn=(5) k\n1 1\n\
                ob=(2)\nfl=(2)\nfn=(2)\n1 1\n";
    let expected = ["mill|m.c|main", "lib|l.c|f", "mill|m.c|g", "mill|i.h|h", "mill|m.c|k"];
    assert_eq!(functions(file), expected);
}

#[test]
fn a_callee_of_which_too_little_is_said() {
    let file = "events: Ir\nob=a\nfl=x.c\nfn=main\n1 1\ncfn=f\ncalls=1 1\n1 1\ncfi=z.c\ncfn=g\ncalls=1 1\n1 1\n\
                cfi=d/e.c\ncfn=h\ncalls=1 1\n1 1\ncob=c\ncfi=y.c\ncfn=f\ncalls=1 1\n1 1\n\
                fl=y.c\nfn=f\n1 1\nob=b\nfl=z.c\nfn=g\n1 1\nfl=/s/d/e.c\nfn=h\n1 1\n";
    let expected = ["a|x.c|main", "c|y.c|f", "a|y.c|f", "b|z.c|g", "b|/s/d/e.c|h"];
    assert_eq!(functions(file), expected);
}

#[test]
fn what_is_odd_is_said() {
    for (line, what) in [
        ("1 2.5", "line 3: a cost like 2.5"),
        ("1 2 3", "line 3: more costs than event types"),
        ("x 1", "line 3: no key"),
        ("calls=1 1", "line 3: nobody is called"),
    ] {
        assert_eq!(Model::of(&[format!("events: Ir\nfn=f\n{line}\n").as_bytes()]).odd, [what]);
    }
}

#[test]
fn files_add_up() {
    // Names are compared by text; name context and name ids end with their file.
    let first = "pid: 7\nevents: Ir\nob=a\nfl=x\nfn=(1) f\n1 1\ncfn=(2) g\ncalls=1 1\n1 9\n";
    let second = "events: Dr Ir\nfn=(1) g\n1 5 7\nob=a\nfl=x\nfn=g\n1 6 2\n";
    let files = [first.as_bytes(), second.as_bytes()];
    assert_eq!(judge("two files", &files), Ok(()));
    let model = Model::of(&files);
    let (rows, _) = model.rows(&[0, 1], &model.cycles());
    let rows: Vec<_> =
        rows.values().map(|row| (&row.self_cost[..], &row.inclusive[..], row.called)).collect();
    // In the second file nobody calls `g`.
    let expected = [(&[1, 0][..], &[10, 0][..], 0), (&[2, 6], &[11, 6], 1), (&[7, 5], &[7, 5], 0)];
    assert_eq!((rows, model.events), (expected.to_vec(), vec!["Ir".to_owned(), "Dr".to_owned()]));
}
