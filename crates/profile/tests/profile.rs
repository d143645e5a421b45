//! Profiles of small files, with results calculated by hand.

#![cfg(test)]

use gristmill_format::{ErrorKind, NameSpace};
use gristmill_profile::{Builder, FunctionId, Input, Loader, Place, Profile, Selection};

/// Returns the function that a profile mentions as the one with this index.
fn nth_function(profile: &Profile, index: usize) -> FunctionId {
    profile.functions().nth(index).expect("a function with this index")
}

fn inputs(texts: &[&[u8]]) -> Vec<Input> {
    let input =
        |(index, text): (usize, &&[u8])| Input { name: index.to_string(), bytes: text.to_vec().into() };
    texts.iter().enumerate().map(input).collect()
}

/// Functions as `object|file|name`, `*` before those without lines.
fn functions(profile: &Profile) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    profile
        .functions()
        .map(|id| {
            let function = profile.function(id);
            let mark = if function.is_defined { "" } else { "*" };
            let (object, file) = (text(profile.object(function.object)), text(profile.file(function.file)));
            format!("{mark}{object}|{file}|{}", text(function.name))
        })
        .collect()
}

/// Self costs by function, and arcs, for all parts.
type Graph = (Vec<Vec<i128>>, Vec<(usize, usize, i128, Vec<i128>)>);

fn graph(profile: &Profile, selection: &Selection) -> Graph {
    let graph = profile.call_graph(selection);
    let selves = profile.functions().map(|id| graph.self_costs().row(id.index()).to_vec()).collect();
    let arcs = graph.arcs().enumerate().map(|(place, arc)| {
        (arc.caller.index(), arc.callee.index(), arc.count, graph.arc_costs().row(place).to_vec())
    });
    (selves, arcs.collect())
}

#[test]
fn calls_and_inlined_code() {
    let profile = Profile::from_bytes(
        b"events: Ir\nob=(1) mill\nfl=(1) mill.c\nfn=(1) main\n10 5\nfi=(2) stone.h\n3 7\ncfn=(2) turn\n\
          calls=2 8\n4 60\nfe=(1)\n11 1\ncob=(2) libc\ncfi=(3) io.c\ncfn=(3) read\ncalls=1 9\n12 30\n\
          fl=(2)\nfn=(2)\n8 60\nob=(2)\nfl=(3)\nfn=(3)\n9 30\ncfn=(3)\ncalls=4 9\n9 12\n",
    );
    assert_eq!(functions(&profile), ["mill|mill.c|main", "mill|stone.h|turn", "libc|io.c|read"]);
    let expected = (
        vec![vec![13], vec![60], vec![30]],
        vec![(0, 1, 2, vec![60]), (0, 2, 1, vec![30]), (2, 2, 4, vec![12])],
    );
    assert_eq!(graph(&profile, &Selection::default()), expected);
    let mut by_file = Vec::new();
    let part = profile.parts().next().unwrap();
    profile.each_self_cost(&part, |function, file, costs| {
        let file = String::from_utf8_lossy(profile.file(file)).into_owned();
        by_file.push((function.index(), file, costs.to_vec()));
    });
    let expected = [(0, "mill.c", 6), (0, "stone.h", 7), (1, "stone.h", 60), (2, "io.c", 30)];
    assert_eq!(by_file, expected.map(|(function, file, cost)| (function, file.to_owned(), vec![cost])));
    assert!(profile.findings().is_empty());
    profile.check().unwrap();
}

#[test]
fn the_same_name_elsewhere_is_another_function() {
    let profile = Profile::from_bytes(
        b"events: Ir\nob=a\nfl=x.c\nfn=f\n1 1\nfl=y.c\nfn=f\n1 2\nfl=x.c\nfn=f\n2 4\nob=b\nfl=x.c\nfn=f\n1 8\n",
    );
    assert_eq!(functions(&profile), ["a|x.c|f", "a|y.c|f", "b|x.c|f"]);
    assert_eq!(graph(&profile, &Selection::default()).0, [[5], [2], [8]]);
}

#[test]
fn one_file_by_two_numbers_is_one_file() {
    let profile = Profile::from_bytes(
        b"events: Ir\nfl=(1) x.c\nfn=(1) f\n1 1\nfl=(2) x.c\nfn=(1)\n1 2\nfn=(2) f\n1 4\n",
    );
    assert_eq!(functions(&profile), ["|x.c|f"]);
    assert_eq!(graph(&profile, &Selection::default()).0, [[7]]);
}

#[test]
fn a_callee_of_which_too_little_is_said_is_found() {
    // Without a file: the one of that name in the same object. `h` is there twice, so it stands alone.
    let profile = Profile::from_bytes(
        b"events: Ir\nob=a\nfl=x.c\nfn=main\n1 1\ncfn=f\ncalls=1 1\n1 2\ncfn=h\ncalls=1 1\n1 4\n\
          fl=y.c\nfn=f\n1 2\nfn=h\n1 1\nfl=z.c\nfn=h\n1 1\nob=b\nfn=f\n1 1\n",
    );
    let expected = ["a|x.c|main", "*a|x.c|h", "a|y.c|f", "a|y.c|h", "a|z.c|h", "b|z.c|f"];
    assert_eq!(functions(&profile), expected);
    assert_eq!(graph(&profile, &Selection::default()).1, [(0, 1, 1, vec![4]), (0, 2, 1, vec![2])]);
    profile.check().unwrap();

    // Without an object: the one in the same file. A file that is given must fit, at least its end.
    let profile = Profile::from_bytes(
        b"events: Ir\nob=a\nfl=x.c\nfn=main\n1 1\ncfi=y.c\ncfn=f\ncalls=1 1\n1 2\n\
          cfi=mk/Makefile\ncfn=all\ncalls=1 1\n1 4\ncfi=other\ncfn=g\ncalls=1 1\n1 8\n\
          ob=b\nfl=y.c\nfn=f\n1 2\nfl=/src/mk/Makefile\nfn=all\n1 1\nfn=g\n1 1\n",
    );
    let expected = ["a|x.c|main", "*a|other|g", "b|y.c|f", "b|/src/mk/Makefile|all", "b|/src/mk/Makefile|g"];
    assert_eq!(functions(&profile), expected);
    let lines = profile.lines(nth_function(&profile, 0), &Selection::default());
    assert_eq!(lines.calls.iter().map(|call| call.callee.index()).collect::<Vec<_>>(), [1, 2, 3]);
    profile.check().unwrap();

    // Of several of one name the one whose file ends alike; of several of those none.
    let profile = Profile::from_bytes(
        b"events: Ir\nfl=a/x\nfn=f\n1 1\nfn=g\n1 1\nfl=d\\x\nfn=g\n1 1\nfl=bx\nfn=f\n1 1\n\
          fn=main\n1 1\ncfi=x\ncfn=f\ncalls=1 1\n1 2\ncfi=x\ncfn=g\ncalls=1 1\n1 4\n",
    );
    let expected = ["|a/x|f", "|a/x|g", "|d\\x|g", "|bx|f", "|bx|main", "*|x|g"];
    assert_eq!(functions(&profile), expected);
    assert_eq!(graph(&profile, &Selection::default()).1, [(4, 0, 1, vec![2]), (4, 5, 1, vec![4])]);
    profile.check().unwrap();
}

#[test]
fn parts_are_selected() {
    let profile = Profile::from_bytes(
        b"creator: x\ncmd: ./mill\npid: 7\npart: 1\nthread: 1\nevents: Ir Dr\nfn=f\n1 1 2\ntotals: 1 2\n\n\
          part: 1\nthread: 2\nevents: Dr Ir Bc\nfn=f\n1 10 20 40\nfn=g\n1 3\n\
          part: 2\ndesc: Trigger: dump now\ndesc: Timerange: Basic block 1 - 2\ndesc: I1 cache: none\n\
          events: Ir\nfn=g\n1 100\n",
    );
    let names: Vec<_> = profile.events().map(|event| profile.event(event).name).collect();
    assert_eq!(names, [&b"Ir"[..], b"Dr", b"Bc"]);
    assert_eq!(profile.totals(&Selection::default()), [121, 15, 40]);
    let threads = |thread| Selection { threads: vec![thread..=thread], ..Selection::default() };
    assert_eq!(profile.totals(&threads(2)), [20, 13, 40]);
    assert_eq!(profile.totals(&Selection { parts: vec![1..=1], ..Selection::default() }), [21, 15, 40]);
    assert_eq!(profile.totals(&Selection { pids: vec![7..=7], ..threads(1) }), [1, 2, 0]);
    assert_eq!(profile.totals(&Selection { pids: vec![8..=8], ..threads(1) }), [0, 0, 0]);
    assert_eq!(graph(&profile, &threads(2)).0, [[20, 10, 40], [0, 3, 0]]);
    let last = profile.parts().last().unwrap();
    assert_eq!((last.pid(), last.number(), last.thread()), (Some(7), Some(2), None));
    assert_eq!(
        (last.trigger(), last.time_range()),
        (Some(&b"dump now"[..]), Some(&b"Basic block 1 - 2"[..]))
    );
    assert_eq!((last.command(), last.creator()), (Some(&b"./mill"[..]), Some(&b"x"[..])));
    assert_eq!(last.descriptions().collect::<Vec<_>>(), [(&b"I1 cache"[..], &b"none"[..])]);
    let first = profile.parts().next().unwrap();
    assert_eq!((first.claimed_totals(), first.claimed_summary()), (Some(&[1, 2][..]), None));
}

#[test]
fn several_files_are_one_profile() {
    let texts: [&[u8]; 2] = [
        b"pid: 7\nevents: Ir\nfl=a.c\nfn=(1) f\n1 1\n",
        b"pid: 8\nevents: Dr Ir\nfl=a.c\nfn=(1) g\n2 10 20\ncfn=(2) f\ncalls=1 1\n2 3 4\n",
    ];
    let profile = Profile::load(inputs(&texts));
    assert_eq!(functions(&profile), ["|a.c|f", "|a.c|g"]);
    assert_eq!(profile.totals(&Selection::default()), [21, 10]);
    assert_eq!(graph(&profile, &Selection::default()).1, [(1, 0, 1, vec![4, 3])]);
    assert_eq!(profile.parts().map(|part| part.input()).collect::<Vec<_>>(), [0, 1]);
    profile.check().unwrap();
    // Saved, they are parts of one file, and say the same.
    let saved = Profile::from_bytes(profile.save());
    assert_eq!(graph(&saved, &Selection::default()), graph(&profile, &Selection::default()));
    assert_eq!(saved.totals(&Selection { pids: vec![8..=8], ..Selection::default() }), [20, 10]);
}

/// Without `fn=`, the lines of a block are decoded with the files that the loader saw.
#[test]
fn files_of_lines_without_a_function_are_found_again() {
    for body in ["calls=1 1\nfl=a.c\ncalls=1 1\n1 5\n1 7\n", "fl=a.c\nfi=b.c\ncob=c\ncalls=1 1\n1 5\n1 7\n"] {
        let profile = Profile::from_bytes(format!("creator: callgrind-3.19.0\nevents: Ir\n{body}"));
        profile.check().unwrap();
        assert_eq!(profile.totals(&Selection::default()), [7]);
    }
}

#[test]
fn what_is_saved_is_what_was_loaded() {
    let bytes = b"# a comment\nevents: Ir\nfn=f\n1   1\n\n";
    assert_eq!(Profile::from_bytes(&bytes[..]).save(), bytes);
    // Two costs of -61 that Xdebug wrote without their sign, in one line.
    let wrapped = "creator: xdebug 3.1.2\nevents: Time_(10ns) Memory_(bytes)\nfn=f\n\
        3 1844674407370955100 1844674407370955100\nfn=g\n5 70 80\n";
    let profile = Profile::from_bytes(wrapped);
    assert_eq!(profile.totals(&Selection::default()), [9, 19]);
    assert_eq!(profile.save(), wrapped.as_bytes());
}

#[test]
fn lines_are_found_again() {
    let profile = Profile::from_bytes(
        b"creator: callgrind-3.19.0\npositions: instr line\nevents: Ir Dr\nfl=(1) a.c\nfn=(1) f\n0x10 1 5\n+4 +1 1 1\n\
          jcnd=3/8 0x20 9\n+8 *\njump=2 +0 *\n* *\nfi=(2) b.h\n+0 7 2\nfe=(1)\ncfn=(2) g\ncalls=6 0x100 50\n\
          +4 +1 60 6\n* 1 3\nfn=(2)\n0x100 50 60 6\n\npart: 2\nevents: Dr\nfn=(1)\n0x10 1 7\n",
    );
    let lines = profile.lines(nth_function(&profile, 0), &Selection::default());
    let file = |name: &[u8]| profile.files().find(|&id| profile.file(id) == name);
    let place = |name: &[u8], line, address| Place {
        file: file(name).unwrap(),
        line: Some(line),
        address: Some(address),
        basic_block: None,
    };
    assert_eq!(
        lines.places,
        [place(b"a.c", 1, 0x10), place(b"a.c", 2, 0x14), place(b"b.h", 1, 0x14), place(b"b.h", 7, 0x14)]
    );
    let costs: Vec<_> = (0..4).map(|row| lines.costs.row(row).to_vec()).collect();
    // Zeros at the end of a row are left out.
    assert_eq!(costs, [vec![5, 7], vec![1, 1], vec![3], vec![2]]);
    assert_eq!(lines.calls.len(), 1);
    let call = lines.calls[0];
    assert_eq!((call.place, call.target), (place(b"a.c", 8, 0x18), place(b"b.h", 50, 0x100)));
    assert_eq!(
        (call.callee, call.count, lines.call_costs.row(0)),
        (nth_function(&profile, 1), 6, &[60, 6][..])
    );
    let jumps: Vec<_> =
        lines.jumps.iter().map(|jump| (jump.taken, jump.executed, jump.target.address)).collect();
    assert_eq!(jumps, [(2, None, Some(0x14)), (3, Some(8), Some(0x20))]);
    profile.check().unwrap();
}

#[test]
fn relative_blocks_are_found_again() {
    // As Go's pprof writes: one absolute address, and differences from there on.
    let mut text = String::from("positions: instr line\nevents: cpu\n");
    for function in 0..3000 {
        let position = if function == 0 { "0x1000 5" } else { "+2 +1" };
        text.push_str(&format!("fl=(1) a.go\nfn=({function}) f{function}\n{position} 1\n+1 * 2\n"));
    }
    for threads in [1, 2] {
        let profile = Loader::new().threads(threads).load(inputs(&[text.as_bytes()]));
        profile.check().unwrap();
        assert!(profile.findings().is_empty());
        for function in [0, 1, 1000, 2999] {
            let lines = profile
                .lines(nth_function(&profile, usize::try_from(function).unwrap()), &Selection::default());
            let addresses: Vec<_> = lines.places.iter().map(|place| (place.address, place.line)).collect();
            let first = 0x1000 + 3 * function;
            assert_eq!(addresses, [(Some(first), Some(5 + function)), (Some(first + 1), Some(5 + function))]);
        }
    }
}

#[test]
fn blocks_come_in_the_order_of_the_file() {
    let profile = Profile::from_bytes(
        b"events: Time\nfl=(1) a.php\nfn=(1) f\n3 5\n\nfn=(1)\n3 7\n\nfn=(2) {main}\n1 20\ncfn=(1)\ncalls=1 0 0\n2 5\n\
          cfn=(1)\ncalls=1 0 0\n4 7\n",
    );
    let part = profile.parts().next().unwrap().id();
    let mut invocations = profile.invocations(part);
    let mut seen = Vec::new();
    while let Some(block) = invocations.next_block() {
        let (selves, calls, costs) =
            (block.self_costs.to_vec(), block.calls.to_vec(), block.call_costs.to_vec());
        seen.push((block.function.index(), selves, calls, costs));
    }
    let f = nth_function(&profile, 0);
    assert_eq!(
        seen,
        [
            (0, vec![5], vec![], vec![]),
            (0, vec![7], vec![], vec![]),
            (1, vec![20], vec![(f, 1), (f, 1)], vec![5, 7])
        ]
    );
}

#[test]
fn nothing_is_dropped_silently() {
    let profile =
        Profile::from_bytes(b"events: Ir\nfn=(3)\n1 2\nwhat is this\n2 x\nfn=(3)\n1 1\ncalls=1 1\n1 1\n");
    let kinds: Vec<_> =
        profile.findings().iter().map(|finding| (finding.location.line, finding.kind)).collect();
    assert_eq!(
        kinds,
        [
            (2, ErrorKind::UndefinedName(NameSpace::Function, 3)),
            (4, ErrorKind::UnknownLine),
            (5, ErrorKind::BadCost),
            (8, ErrorKind::CallWithoutCallee),
        ]
    );
    // A number that nothing defines counts once, however often it is used.
    assert_eq!(profile.finding_count(), 4);
    // A number without a name stands for itself.
    assert_eq!(functions(&profile), ["||(3)", "*||"]);
    assert_eq!(profile.totals(&Selection::default()), [3]);
}

#[test]
fn a_file_of_another_kind_is_reported_as_no_profile() {
    for bytes in [&b""[..], b"\n", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", b"{\"a\": 1}"] {
        let profile = Profile::from_bytes(bytes);
        assert_eq!(profile.function_count(), 0);
        assert_eq!(profile.findings().is_empty(), bytes.len() < 2);
        assert!(profile.call_graph(&Selection::default()).arcs().len() == 0);
        profile.check().unwrap();
    }
}

#[test]
fn sums_do_not_wrap() {
    let most = u64::MAX;
    let text = format!("events: Ir\nfn=f\n1 {most}\n2 {most}\n3 -9223372036854775808\n4 {most}\n");
    let profile = Profile::from_bytes(text.as_bytes());
    assert_eq!(profile.totals(&Selection::default()), [3 * i128::from(most) - (1 << 63)]);
}

#[test]
fn event_types_of_one_name_stay_apart() {
    let profile =
        Profile::from_bytes(b"events: Ir Ir Dr\nfn=f\n1 1 2 4\n\npart: 2\nevents: Dr Ir\nfn=f\n1 8 16\n");
    assert_eq!(profile.totals(&Selection::default()), [17, 2, 12]);
    let events: Vec<_> = profile.events().map(|event| profile.event(event).repetition).collect();
    assert_eq!(events, [0, 1, 0]);
}

#[test]
fn what_is_said_of_event_types_is_kept_once() {
    let text = b"event: Sum = Ir + Dr : all\nevent: Ir : instructions\nevents: Ir Dr\nfn=f\n1 1\n\npart: 2\n\
                 event: Ir : instructions\nevent: Ir : others\nevents: Ir Dr\nfn=f\n1 1\n";
    let profile = Profile::from_bytes(&text[..]);
    let said: Vec<_> =
        profile.event_definitions().map(|event| (event.name, event.formula, event.long_name)).collect();
    assert_eq!(
        said,
        [
            (&b"Sum"[..], Some(&b"Ir + Dr"[..]), Some(&b"all"[..])),
            (b"Ir", None, Some(b"instructions")),
            (b"Ir", None, Some(b"others"))
        ]
    );
}

#[test]
fn names_made_of_names_are_put_together() {
    let profile = Profile::from_bytes(
        b"events: Ir\nfn=(6) main\nfn=(4) fib\nfn=(9) (4)'2'(6)\n1 1\ncfn=(10) (4)'(6)\ncalls=1 1\n1 1\n",
    );
    assert_eq!(functions(&profile), ["||fib'2'main", "*||fib'main"]);
    profile.check().unwrap();
}

#[test]
fn built_profiles_are_like_loaded_ones() {
    let mut builder = Builder::new(&["Ir", "Dr"]);
    builder.header("cmd", b"./mill").header("pid", b"7");
    let main = builder.function(b"mill", b"mill.c", b"main");
    let turn = builder.function(b"mill", b"stone.h", b"(2) turn");
    let again = builder.function(b"mill", b"mill.c", b"main");
    builder.cost(main, 10, &[5, 1]).inlined(main, b"stone.h", 3, &[7]).call(main, 4, turn, 2, &[60]);
    builder.cost(turn, 8, &[60]).cost(again, 10, &[1]);
    let profile = builder.build().unwrap();
    assert_eq!(functions(&profile), ["mill|mill.c|main", "mill|stone.h|(2) turn"]);
    let expected = (vec![vec![13, 1], vec![60, 0]], vec![(0, 1, 2, vec![60, 0])]);
    assert_eq!(graph(&profile, &Selection::default()), expected);
    assert_eq!(profile.parts().next().unwrap().pid(), Some(7));
    assert!(profile.findings().is_empty());
    let mut builder = Builder::new(&["Ir"]);
    let bad = builder.function(b"", b"", b"two\nlines");
    assert!(builder.cost(bad, 1, &[1]).build().is_err());
}

#[test]
fn progress_ends_with_all_bytes() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let last = AtomicU64::new(0);
    let tell = |bytes| last.store(bytes, Ordering::Relaxed);
    let text = b"events: Ir\nfn=f\n1 1\n";
    Loader::new().progress(&tell).load(inputs(&[text, text]));
    assert_eq!(last.load(Ordering::Relaxed), 2 * text.len() as u64);
}
