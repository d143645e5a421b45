//! Inlined functions: sums stay exact, each line is found once, and names are those of the profile.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are tested as well.

#![cfg(test)]

use std::collections::BTreeMap;

use gristmill_format::Cost;
use gristmill_profile::inlining::{
    AskedFunction, AskedObject, AskedPosition, FrameSource, InlinedCall, InlinedFunction, ObjectFrames,
    PositionFrames, ProgramState,
};
use gristmill_profile::{BlockLine, EventId, FunctionId, Place, Profile, Selection};

// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;

use files::files_outside;

/// A chain in words: a caller's line and the callee for each inlined call, the outermost first.
type Words = &'static [(&'static str, u64, &'static str)];

/// A position: its address or line, the file of the line, and the chains with their counts of instructions.
type Row = (u64, &'static str, &'static [(Words, u64)]);

/// A source that is a table.
struct Table {
    rows: &'static [Row],
    /// The files of inlined functions.
    files_of: &'static [(&'static str, &'static str)],
}

impl FrameSource for Table {
    fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames {
        let state = if object.path == b"other" { ProgramState::OtherBuild } else { ProgramState::Usable };
        let mut frames = ObjectFrames { program: state, ..ObjectFrames::default() };
        for function in &object.functions {
            let mut answers = Vec::new();
            for position in &function.positions {
                let at = position.address.or(position.line);
                let Some((_, file, chains)) = self.rows.iter().find(|(row, ..)| Some(*row) == at) else {
                    answers.push(PositionFrames::Unknown);
                    continue;
                };
                let file = Some(index_of(&mut frames.files, file.as_bytes().to_vec()));
                let chains: Vec<(usize, u64)> = chains
                    .iter()
                    .map(|&(words, count)| {
                        let calls = words.iter().map(|&(file, line, callee)| {
                            let of_callee = self.files_of.iter().find(|(name, _)| *name == callee);
                            let of_callee = of_callee
                                .map(|(_, file)| index_of(&mut frames.files, file.as_bytes().to_vec()));
                            let function = InlinedFunction {
                                name: callee.as_bytes().to_vec(),
                                file: of_callee,
                                compiled: None,
                            };
                            let callee = index_of(&mut frames.functions, function);
                            let file = Some(index_of(&mut frames.files, file.as_bytes().to_vec()));
                            InlinedCall { callee, file, line: Some(line) }
                        });
                        let calls: Vec<InlinedCall> = calls.collect();
                        (index_of(&mut frames.chains, calls), count)
                    })
                    .collect();
                answers.push(match chains[..] {
                    [(chain, _)] => PositionFrames::Exact { chain, file },
                    _ => PositionFrames::Several { chains, file },
                });
            }
            frames.positions.push(answers);
        }
        frames
    }
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn index_of<T: PartialEq>(all: &mut Vec<T>, wanted: T) -> usize {
    all.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        all.push(wanted);
        all.len() - 1
    })
}

fn inlined(text: &str, source: &impl FrameSource) -> Profile {
    let inlined = Profile::from_bytes(text).with_inlined(source).unwrap();
    assert_eq!(inlined.check(), Ok(()), "{}", String::from_utf8_lossy(&inlined.save()));
    inlined
}

/// The costs of all event types.
fn row_of(profile: &Profile, costs: &BTreeMap<EventId, Cost>) -> Vec<Cost> {
    profile.events().map(|event| costs.get(&event).copied().unwrap_or(0)).collect()
}

/// Self costs by function, and arcs with their count, `*` if calls are inlined, and costs: in words, sorted.
fn in_words(profile: &Profile) -> Vec<String> {
    let graph = profile.call_graph(&Selection::default());
    let name = |id: FunctionId| {
        let function = profile.function(id);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        format!("{}:{}", text(profile.file(function.file)), text(function.name))
    };
    let mut words: Vec<String> = (profile.functions())
        .map(|id| format!("{} {:?}", name(id), graph.self_cost(graph.node_of(id))))
        .collect();
    words.extend(graph.arc_ids().map(|id| {
        let arc = graph.arc(id).map(|node| graph.function_of(node));
        let mark = if graph.is_inlined(id) { "*" } else { "" };
        format!("{} -> {} {}{mark} {:?}", name(arc.caller), name(arc.callee), arc.count, graph.arc_cost(id))
    }));
    words.sort();
    words
}

const MILL: &str = "positions: instr line\nevents: Ir Dr\nob=mill\nfl=mill.c\nfn=main\n0x10 16 4 1\n\
    fi=grain.h\n0x12 5 9 2\n0x14 7 20 3\nfe=mill.c\n0x16 18 6\n\
    cfi=stone.c\ncfn=crush\ncalls=3 0x40 50\n0x14 7 300 30\n\
    fn=turn\n0x30 5 11\nfl=stone.c\nfn=crush\n0x40 50 300 30\n";

const MILL_SOURCE: Table = Table {
    rows: &[
        (0x10, "/src/mill.c", &[(&[], 1)]),
        (0x12, "/src/grain.h", &[(&[("/src/mill.c", 17, "turn")], 1)]),
        (0x14, "/src/grain.h", &[(&[("/src/mill.c", 17, "turn"), ("/src/grain.h", 6, "push")], 1)]),
        (0x16, "/src/mill.c", &[(&[], 1)]),
        (0x30, "/src/mill.c", &[(&[], 1)]),
        (0x40, "stone.c", &[(&[], 1)]),
    ],
    files_of: &[("turn", "/src/grain.h"), ("push", "/src/grain.h")],
};

#[test]
fn lines_and_recorded_calls_go_to_the_innermost_function() {
    let profile = inlined(MILL, &MILL_SOURCE);
    // `turn` is called from line 17 of `main` with 9 + 20 + 300, and `push` from line 6 of `turn` with 20 + 300.
    assert_eq!(
        in_words(&profile),
        [
            "grain.h:push -> stone.c:crush 3 [300, 30]",
            "grain.h:push [20, 3]",
            "grain.h:turn -> grain.h:push 0* [320, 33]",
            "grain.h:turn [9, 2]",
            "mill.c:main -> grain.h:turn 0* [329, 35]",
            "mill.c:main [10, 1]",
            "mill.c:turn [11, 0]",
            "stone.c:crush [300, 30]",
        ]
    );
    let [object] = profile.inlined_objects() else { panic!("one object") };
    let row = |costs| row_of(&profile, costs);
    assert_eq!((row(&object.total), row(&object.moved)), (vec![350, 36], vec![29, 5]));
    assert_eq!((row(&object.estimated), row(&object.unknown)), (vec![0, 0], vec![0, 0]));

    // The line of the inlined call, and the first instruction below it.
    let find = |name: &[u8]| profile.functions().find(|&id| profile.function(id).name == name).unwrap();
    let calls = profile.lines(find(b"main"), &Selection::default()).calls;
    let [call] = calls[..] else { panic!("one call") };
    assert_eq!((call.place.line, call.place.address, call.is_inlined), (Some(17), Some(0x12), true));
    assert_eq!((profile.file(call.place.file), call.target.line), (&b"mill.c"[..], Some(5)));
    let calls = profile.lines(find(b"push"), &Selection::default()).calls;
    assert_eq!((calls[0].place.line, calls[0].count, calls[0].is_inlined), (Some(7), 3, false));
}

#[test]
fn an_inlined_function_is_its_compiled_code_if_object_name_and_file_are_equal() {
    let source = Table { files_of: &[("turn", "/src/mill.c"), ("push", "/src/grain.h")], ..MILL_SOURCE };
    let words = in_words(&inlined(MILL, &source));
    assert!(words.contains(&"mill.c:turn [20, 2]".to_owned()), "{words:#?}");
    // A mangled name tells the function without its file.
    let text = MILL.replace("fn=turn", "fn=Wheel::turn(unsigned long)");
    let mangled = |name: &'static str| -> &'static [Row] {
        let words: Words = Box::leak(vec![("/src/mill.c", 17, name)].into());
        let chains: &[(Words, u64)] = Box::leak(vec![(words, 1)].into());
        Box::leak(vec![(0x12, "/src/grain.h", chains)].into())
    };
    let source = Table { rows: mangled("_ZN5Wheel4turnEm"), files_of: &[] };
    let words = in_words(&inlined(&text, &source));
    assert!(words.contains(&"mill.c:Wheel::turn(unsigned long) [20, 2]".to_owned()), "{words:#?}");
    // Without compiled code the name is spelled like those of the object.
    let source = Table { rows: mangled("_ZN5Wheel4stopEv"), files_of: &[] };
    let words = in_words(&inlined(&text, &source));
    assert!(words.contains(&"???:Wheel::stop() [9, 2]".to_owned()), "{words:#?}");
    let words = in_words(&inlined(&text.replace("fn=main", "fn=_ZN4Mill4mainEv"), &source));
    assert!(words.contains(&"???:_ZN5Wheel4stopEv [9, 2]".to_owned()), "{words:#?}");
}

#[test]
fn an_object_without_a_program_stays_as_it_is() {
    let text = MILL.replace("ob=mill", "ob=other");
    let profile = inlined(&text, &MILL_SOURCE);
    assert_eq!(profile.save(), text.as_bytes());
    assert!(!profile.has_inlined_calls());
    let [object] = profile.inlined_objects() else { panic!("one object") };
    assert_eq!((object.program, object.moved.len()), (ProgramState::OtherBuild, 0));
    assert_eq!(row_of(&profile, &object.total), [350, 36]);
}

#[test]
fn a_line_of_several_chains_is_divided_by_instructions_and_is_an_estimate() {
    const SOURCE: Table = Table {
        rows: &[
            (1, "a.c", &[(&[], 1), (&[("a.c", 9, "f")], 2)]),
            (2, "a.c", &[(&[("a.c", 8, "f")], 1), (&[("a.c", 9, "f")], 2)]),
        ],
        files_of: &[("f", "a.c")],
    };
    let text = "events: Ir\nob=a\nfl=a.c\nfn=main\n1 10\n2 10\n3 5\ncfn=g\ncalls=1 4\n1 7\nfn=g\n4 7\n";
    let profile = inlined(text, &SOURCE);
    // Line 1: a third of 10 stays, two thirds and the call go to `f`. Line 2: all of it is of `f`, by one of two calls.
    let words = in_words(&profile);
    assert_eq!(
        words,
        ["a.c:f -> a.c:g 1 [7]", "a.c:f [17]", "a.c:g [7]", "a.c:main -> a.c:f 0* [24]", "a.c:main [8]",]
    );
    let [object] = profile.inlined_objects() else { panic!("one object") };
    let row = |costs| row_of(&profile, costs);
    assert_eq!((row(&object.estimated), row(&object.estimated_calls)), (vec![10], vec![10]));
    // Lines 3 and 4.
    assert_eq!((row(&object.unknown), row(&object.moved)), (vec![12], vec![17]));
    let main = profile.functions().find(|&id| profile.function(id).name == b"main").unwrap();
    let calls = profile.lines(main, &Selection::default());
    let costs: Vec<_> = calls.calls.iter().map(|call| call.place.line).zip(calls.call_costs.rows()).collect();
    assert_eq!(costs, [(Some(8), &[3][..]), (Some(9), &[21][..])]);
}

#[test]
fn levels_and_recorded_callers_go_on() {
    const SOURCE: Table = Table {
        rows: &[(0x10, "a.c", &[(&[("a.c", 9, "f"), ("a.c", 4, "g")], 1)])],
        files_of: &[("f", "a.c"), ("g", "a.c")],
    };
    let names = |function: &str| {
        let text = format!("positions: instr line\nevents: Ir\nob=a\nfl=a.c\nfn={function}\n0x10 3 5\n");
        let profile = inlined(&text, &SOURCE);
        let name = |id| String::from_utf8_lossy(profile.function(id).name).into_owned();
        let mut names: Vec<String> = profile.functions().map(name).collect();
        names.sort();
        names
    };
    assert_eq!(names("fib"), ["f", "fib", "g"]);
    assert_eq!(names("fib'2"), ["f'2", "fib'2", "g'2"]);
    // As many callers as the longest name of the profile has.
    assert_eq!(names("fib'main'start"), ["f'fib'main", "fib'main'start", "g'fib'main"]);
    assert_eq!(names("fib'2'main"), ["f'fib'2", "fib'2'main", "g'fib'2"]);
}

#[test]
fn recursion_in_a_chain_counts_each_call() {
    const SOURCE: Table = Table {
        rows: &[(0x10, "a.c", &[(&[("a.c", 9, "f"), ("a.c", 9, "f"), ("a.c", 2, "main")], 1)])],
        files_of: &[("f", "a.c"), ("main", "a.c")],
    };
    let text = "positions: instr line\nevents: Ir\nob=a\nfl=a.c\nfn=main\n0x10 3 5\n0x12 1 1\n";
    let words = in_words(&inlined(text, &SOURCE));
    assert_eq!(
        words,
        [
            "a.c:f -> a.c:f 0* [5]",
            "a.c:f -> a.c:main 0* [5]",
            "a.c:f [0]",
            "a.c:main -> a.c:f 0* [5]",
            "a.c:main [6]"
        ]
    );
}

#[test]
fn a_recorded_count_of_zero_is_not_an_inlined_call() {
    let text = MILL.replace("calls=3", "calls=0");
    let words = in_words(&inlined(&text, &MILL_SOURCE));
    assert!(words.contains(&"grain.h:push -> stone.c:crush 0 [300, 30]".to_owned()), "{words:#?}");
}

#[test]
fn inlined_and_recorded_calls_of_one_function_are_one_arc() {
    let text = MILL.replace(
        "cfn=crush\ncalls=3 0x40 50\n0x14 7 300 30",
        "cfi=grain.h\ncfn=turn\ncalls=2 0x30 5\n0x16 18 30",
    );
    let text = text.replace("\nfn=turn", "\nfl=grain.h\nfn=turn");
    let words = in_words(&inlined(&text, &MILL_SOURCE));
    assert!(words.contains(&"mill.c:main -> grain.h:turn 2* [59, 5]".to_owned()), "{words:#?}");
    assert!(words.contains(&"grain.h:turn [20, 2]".to_owned()), "{words:#?}");
}

#[test]
fn a_sum_that_a_line_cannot_hold_is_exact() {
    let greatest = u64::MAX;
    let text = format!(
        "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\nfi=grain.h\n0x12 5 {greatest}\n0x14 7 {greatest}\n"
    );
    let words = in_words(&inlined(&text, &MILL_SOURCE));
    let sum = 2 * Cost::from(greatest);
    assert!(words.contains(&format!("mill.c:main -> grain.h:turn 0* [{sum}]")), "{words:#?}");
}

#[test]
fn marks_are_of_the_selected_parts() {
    let second = "\npart: 2\nevents: Ir Dr\nob=mill\nfl=mill.c\nfn=main\n0x10 16 1\n\
        cfi=grain.h\ncfn=turn\ncalls=5 0x30 5\n0x10 16 2\nfl=grain.h\nfn=turn\n0x30 5 2\n";
    let text = format!("part: 1\n{MILL}{second}");
    let profile = inlined(&text, &MILL_SOURCE);
    let marks = |part: u64| {
        let selection = Selection { parts: vec![part..=part], ..Selection::default() };
        let graph = profile.call_graph(&selection);
        let is_inlined = |id| graph.is_inlined(id) && !graph.arc_cost(id).iter().all(|&cost| cost == 0);
        graph.arc_ids().filter(|&id| is_inlined(id)).count()
    };
    assert_eq!((marks(1), marks(2)), (2, 0));
}

/// A source whose chains are random.
struct Chance {
    seed: u64,
    /// Each function has inlined functions of its own.
    is_disjoint: bool,
}

impl Chance {
    fn number(&self, parts: &[&[u8]]) -> u64 {
        let mut hash = self.seed ^ 0x9e37_79b9_7f4a_7c15;
        for byte in parts.iter().flat_map(|part| part.iter().chain(b"/")) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            hash ^= hash >> 29;
        }
        hash
    }
}

impl FrameSource for Chance {
    fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames {
        let mut frames = ObjectFrames { program: ProgramState::Usable, ..ObjectFrames::default() };
        frames.files = vec![b"/src/inlined.h".to_vec(), b"mill.c".to_vec(), b"(1) odd\n".to_vec()];
        frames.chains.push(Vec::new());
        for (index, function) in object.functions.iter().enumerate() {
            let known: Vec<usize> = (0..4)
                .map(|callee| {
                    let name = match callee {
                        _ if self.is_disjoint => format!("inlined {index} {callee}").into_bytes(),
                        // A function of the profile, perhaps the function itself.
                        0 => object.functions[(index * 7) % object.functions.len()].name.to_vec(),
                        callee => format!("inlined {callee}").into_bytes(),
                    };
                    let compiled = (callee == 0 && !self.is_disjoint).then_some(function.id);
                    frames.functions.push(InlinedFunction { name, file: Some(callee % 3), compiled });
                    frames.functions.len() - 1
                })
                .collect();
            let answers = function
                .positions
                .iter()
                .map(|position| self.position(function, position, &known, &mut frames.chains));
            let answers = answers.collect();
            frames.positions.push(answers);
        }
        frames
    }
}

impl Chance {
    fn position(
        &self,
        function: &AskedFunction<'_>,
        position: &AskedPosition<'_>,
        known: &[usize],
        chains: &mut Vec<Vec<InlinedCall>>,
    ) -> PositionFrames {
        let text = format!("{:?} {:?}", position.address, position.line);
        let mut number = self.number(&[function.name, position.file, text.as_bytes()]);
        let mut next = |limit: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) % limit
        };
        let mut chain = |next: &mut dyn FnMut(u64) -> u64| {
            // Disjoint chains are without recursion.
            let mut callees: Vec<usize> = known.to_vec();
            let length = usize_of(next(4));
            let calls = (0..length).map(|_| {
                let at = usize_of(next(callees.len() as u64));
                let callee = if self.is_disjoint { callees.remove(at) } else { callees[at] };
                InlinedCall { callee, file: Some(usize_of(next(3))), line: Some(next(9)) }
            });
            let calls = calls.collect();
            chains.push(calls);
            chains.len() - 1
        };
        match next(5) {
            0 => PositionFrames::Unknown,
            1 => {
                let several = (0..1 + next(3)).map(|_| (chain(&mut next), 1 + next(4)));
                PositionFrames::Several { chains: several.collect(), file: None }
            }
            _ => PositionFrames::Exact { chain: chain(&mut next), file: Some(usize_of(next(3))) },
        }
    }
}

/// A line in words: its file, its position, and the object of its function.
fn line_key(profile: &Profile, function: FunctionId, place: &Place) -> String {
    let Place { file, line, address, basic_block } = *place;
    let object = profile.object(profile.function(function).object).escape_ascii();
    format!("{object} {} {line:?} {address:?} {basic_block:?}", profile.file(file).escape_ascii())
}

type Lines = BTreeMap<String, Vec<Cost>>;

/// The sums of self costs, of recorded calls and of jumps of a part, by line and target, whatever function they are of.
fn lines_of_part(profile: &Profile, part: usize) -> Lines {
    let part = profile.parts().nth(part).unwrap();
    let width = part.event_types().len();
    let add = |lines: &mut Lines, key: String, numbers: Vec<Cost>| {
        let sum = lines.entry(key).or_default();
        sum.resize(sum.len().max(numbers.len()), 0);
        sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    };
    let numbers = |costs: &gristmill_format::Costs<'_>| {
        costs.iter().take(width).map(|cost| cost.unwrap_or_else(|fault| fault.repaired)).collect::<Vec<_>>()
    };
    let of_runs = profile.fold_lines(&part, Lines::new, |lines, function, line| match line {
        BlockLine::SelfCost { place, costs } => {
            add(lines, line_key(profile, function, &place), numbers(&costs));
        }
        BlockLine::Calls { place, callee, count, target, costs } => {
            let target_line = (target.line, target.address, target.basic_block);
            let name = profile.function(callee).name.escape_ascii();
            let key = format!("{} calls {name} {target_line:?}", line_key(profile, function, &place));
            add(lines, key, std::iter::once(count).chain(numbers(&costs)).collect());
        }
        BlockLine::Jump { place, taken, executed, target, .. } => {
            let key = line_key(profile, function, &place);
            let key = format!("{key} jumps {}", line_key(profile, function, &target));
            add(lines, key, vec![taken, executed.unwrap_or(-1)]);
        }
    });
    let mut sums = Lines::new();
    of_runs.into_iter().flatten().for_each(|(key, numbers)| add(&mut sums, key, numbers));
    // A divided line may have a share of 0.
    sums.values_mut().for_each(|sum| {
        sum.truncate(sum.iter().rposition(|&cost| cost != 0).map_or(0, |last| last + 1));
    });
    sums
}

fn is_inlined_call(key: &str) -> bool {
    key.contains(" calls inlined ")
}

#[test]
fn each_line_of_each_recording_is_found_once_and_sums_stay() {
    for file in files_outside(&["src", "expected"]) {
        let profile = Profile::from_bytes(file.bytes.clone());
        for seed in 0..3 {
            let chance = Chance { seed, is_disjoint: true };
            let inlined =
                profile.with_inlined(&chance).unwrap_or_else(|error| panic!("{}: {error}", file.path));
            let other = &inlined;
            assert_eq!(other.check(), Ok(()), "{}", file.path);
            assert_eq!(profile.totals(&Selection::default()), other.totals(&Selection::default()));
            for (index, (part, of_other)) in profile.parts().zip(other.parts()).enumerate() {
                assert_eq!(part.totals(), of_other.totals(), "{} part {index}", file.path);
                assert_eq!(
                    (part.number(), part.thread(), part.pid(), part.command(), part.trigger()),
                    (
                        of_other.number(),
                        of_other.thread(),
                        of_other.pid(),
                        of_other.command(),
                        of_other.trigger()
                    )
                );
                assert_eq!(part.claimed_totals(), of_other.claimed_totals(), "{}", file.path);
                assert_eq!(part.claimed_summary(), of_other.claimed_summary(), "{}", file.path);
                let mut lines = lines_of_part(other, index);
                lines.retain(|key, _| !is_inlined_call(key));
                assert_eq!(lines_of_part(&profile, index), lines, "{} part {index}", file.path);
            }
            // What a function has lost, its inlined calls have.
            let [before, after] = [&profile, other].map(|profile| {
                let graph = profile.call_graph(&Selection::default());
                let mut sums: BTreeMap<_, Vec<Cost>> = BTreeMap::new();
                for id in profile.functions() {
                    let function = profile.function(id);
                    let mut sum = graph.self_cost(graph.node_of(id)).to_vec();
                    for arc in graph.outgoing(graph.node_of(id)) {
                        sum.iter_mut().zip(graph.arc_cost(arc)).for_each(|(sum, cost)| *sum += cost);
                    }
                    let names = [profile.object(function.object), profile.file(function.file), function.name];
                    sums.insert(names.map(<[u8]>::to_vec), sum);
                }
                sums
            });
            for (function, sum) in &before {
                let zeros = vec![0; sum.len()];
                let found = after.get(function).unwrap_or(&zeros);
                assert_eq!(found, sum, "{} {:?}", file.path, function[2].escape_ascii());
            }
            let mut total = vec![0; profile.event_count()];
            for object in other.inlined_objects() {
                total.iter_mut().zip(row_of(other, &object.total)).for_each(|(sum, cost)| *sum += cost);
            }
            assert_eq!(total, profile.totals(&Selection::default()), "{}", file.path);
        }
    }
}

#[test]
fn shared_and_recursive_chains_keep_all_sums() {
    for file in files_outside(&["src", "expected"]) {
        let profile = Profile::from_bytes(file.bytes.clone());
        let chance = Chance { seed: 7, is_disjoint: false };
        let other = profile.with_inlined(&chance).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        assert_eq!(other.check(), Ok(()), "{}", file.path);
        for (part, of_other) in profile.parts().zip(other.parts()) {
            assert_eq!(part.totals(), of_other.totals(), "{}", file.path);
        }
        // The same again, byte for byte.
        let again = profile.with_inlined(&chance).unwrap();
        assert_eq!(other.save(), again.save(), "{}", file.path);
    }
}
