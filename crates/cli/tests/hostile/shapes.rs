//! Profiles whose shape makes a careless program slow, or makes it take much memory.
//!
//! The test of all commands and the benchmark of growth share them.

use std::fmt::Write as _;

/// A kind of hostile profile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// Makes one with this many elements. Its size is proportional to their number.
    make: fn(usize, &mut String),
    /// Elements that take some 30 KB.
    pub(crate) count: usize,
}

impl Shape {
    pub(crate) fn text(&self, count: usize) -> String {
        let mut text = String::new();
        (self.make)(count, &mut text);
        text
    }
}

macro_rules! put {
    ($out:expr, $($argument:tt)*) => { writeln!($out, $($argument)*).expect("a string takes all") };
}

const HEADER: &str =
    "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\n";

/// All shapes.
pub(crate) const SHAPES: &[Shape] = &[
    Shape { name: "callees", make: callees, count: 700 },
    Shape { name: "callers", make: callers, count: 700 },
    Shape { name: "chain", make: |n, out| chain(n, false, out), count: 700 },
    Shape { name: "ring", make: |n, out| chain(n, true, out), count: 700 },
    Shape { name: "ring-of-leaves", make: ring_of_leaves, count: 350 },
    Shape { name: "callers-of-a-ring", make: callers_of_a_ring, count: 350 },
    Shape { name: "star-of-chains", make: star_of_chains, count: 800 },
    Shape { name: "pairs", make: pairs, count: 400 },
    Shape { name: "roots", make: roots, count: 800 },
    Shape { name: "diamonds", make: diamonds, count: 250 },
    Shape { name: "bipartite", make: bipartite, count: 900 },
    Shape { name: "events-by-functions", make: events_by_functions, count: 1000 },
    Shape { name: "events-by-lines", make: events_by_lines, count: 2000 },
    Shape { name: "events-by-blocks", make: events_by_blocks, count: 3000 },
    Shape { name: "derived-by-functions", make: derived_by_functions, count: 900 },
    Shape { name: "derived-chain", make: derived_chain, count: 1200 },
    Shape { name: "long-formula", make: |n, out| formula(n, "Ir", out), count: 6000 },
    Shape { name: "long-formula-of-unknown", make: |n, out| formula(n, "X", out), count: 6000 },
    Shape { name: "named-events", make: named_events, count: 1100 },
    Shape { name: "derived-of-missing", make: derived_of_missing, count: 1100 },
    Shape { name: "closure-of-files", make: closure_of_files, count: 2000 },
    Shape { name: "lines-of-last-event", make: lines_of_last_event, count: 750 },
    Shape { name: "parts-of-long-formula", make: parts_of_long_formula, count: 650 },
    Shape { name: "same-definitions", make: same_definitions, count: 1500 },
    Shape { name: "parts", make: parts, count: 500 },
    Shape { name: "parts-with-new-events", make: parts_with_new_events, count: 400 },
    Shape { name: "parts-with-other-events", make: |n, out| other_events(n, false, out), count: 800 },
    Shape { name: "threads-with-other-events", make: |n, out| other_events(n, true, out), count: 600 },
    Shape { name: "threads", make: threads, count: 500 },
    Shape { name: "processes", make: processes, count: 500 },
    Shape { name: "positions-change", make: positions_change, count: 400 },
    Shape { name: "long-path", make: |n, out| long_path(n, "fl", out), count: 1200 },
    Shape { name: "long-object", make: |n, out| long_path(n, "ob", out), count: 1200 },
    Shape { name: "long-inlined-path", make: long_inlined_path, count: 1000 },
    Shape { name: "parts-of-long-path", make: parts_of_long_path, count: 500 },
    Shape { name: "long-path-of-lines", make: long_path_of_lines, count: 1200 },
    Shape { name: "long-callee", make: long_callee, count: 600 },
    Shape { name: "start-up-callers", make: start_up_callers, count: 500 },
    Shape { name: "long-name", make: long_name, count: 30_000 },
    Shape { name: "open-brackets", make: |n, out| named(&format!("f{}", "<".repeat(n)), out), count: 30_000 },
    Shape {
        name: "open-parentheses",
        make: |n, out| named(&format!("f{}", "(".repeat(n)), out),
        count: 30_000,
    },
    Shape { name: "two-open-brackets", make: two_open_brackets, count: 15_000 },
    Shape {
        name: "operators",
        make: |n, out| named(&format!("f<{}", "operator ".repeat(n)), out),
        count: 3300,
    },
    Shape { name: "long-event-name", make: long_event_name, count: 30_000 },
    Shape { name: "long-number", make: long_number, count: 30_000 },
    Shape { name: "long-line-of-costs", make: long_line_of_costs, count: 10_000 },
    Shape { name: "caller-chains", make: caller_chains, count: 150 },
    Shape { name: "recorded-callers-of-one", make: recorded_callers_of_one, count: 450 },
    Shape { name: "callers-in-callers", make: callers_in_callers, count: 700 },
    Shape { name: "recursion-levels", make: recursion_levels, count: 900 },
    Shape { name: "same-levels-in-files", make: same_levels_in_files, count: 1500 },
    Shape { name: "files", make: files, count: 1000 },
    Shape { name: "objects", make: objects, count: 1000 },
    Shape { name: "same-name-in-files", make: same_name_in_files, count: 900 },
    Shape { name: "file-switches", make: file_switches, count: 1200 },
    Shape { name: "calls-of-a-line", make: calls_of_a_line, count: 1200 },
    Shape { name: "jumps-of-a-line", make: jumps_of_a_line, count: 1500 },
    Shape { name: "jumps", make: jumps, count: 1200 },
    Shape { name: "lines", make: lines, count: 4000 },
    Shape { name: "last-lines", make: last_lines, count: 1200 },
    Shape { name: "blank-lines", make: |n, out| repeated(n, "", out), count: 30_000 },
    Shape { name: "comments", make: |n, out| repeated(n, "#", out), count: 15_000 },
    Shape { name: "bad-lines", make: |n, out| repeated(n, "?", out), count: 10_000 },
    Shape { name: "bad-costs", make: |n, out| repeated(n, "1 x", out), count: 8000 },
    Shape { name: "headers", make: |n, out| repeated(n, "desc: a: b", out), count: 3000 },
    Shape { name: "totals", make: |n, out| repeated(n, "totals: 1", out), count: 3000 },
    Shape { name: "undefined-names", make: undefined_names, count: 1500 },
    Shape { name: "names-defined-again", make: names_defined_again, count: 1500 },
    Shape { name: "mangled-names", make: mangled_names, count: 300 },
    Shape { name: "qualifiers", make: qualifiers, count: 15_000 },
    Shape { name: "word-of-calls", make: word_of_calls, count: 5000 },
    Shape { name: "terminal-controls", make: terminal_controls, count: 300 },
    Shape { name: "log-commands", make: log_commands, count: 300 },
];

fn callees(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) hostile.c\nfn=(0) calls_all\n1 1");
    for callee in 1..=count {
        put!(out, "cfn=({callee}) callee_{callee}\ncalls=1 {callee}\n{callee} 2");
    }
    for callee in 1..=count {
        put!(out, "fn=({callee})\n{callee} 2");
    }
}

fn callers(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) hostile.c\nfn=(0) called\n1 {count}");
    for caller in 1..=count {
        put!(out, "fn=({caller}) caller_{caller}\n{caller} 2\ncfn=(0)\ncalls=1 1\n{caller} 1");
    }
}

fn chain(count: usize, is_ring: bool, out: &mut String) {
    put!(out, "{HEADER}fl=(1) hostile.c");
    for caller in 0..count {
        let (callee, cost) = (caller + 1, count - caller);
        put!(
            out,
            "fn=({caller}) link_{caller}\n{caller} 1\ncfn=({callee}) link_{callee}\ncalls=1 1\n1 {cost}"
        );
    }
    put!(out, "fn=({count})\n1 1");
    if is_ring {
        put!(out, "cfn=(0)\ncalls=1 0\n1 1");
    }
}

/// A cycle, each member of which calls a function of its own.
fn ring_of_leaves(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    for member in 0..count {
        let next = (member + 1) % count;
        put!(
            out,
            "fn=ring{member}\n1 2\ncfn=ring{next}\ncalls=1 1\n1 {count}\ncfn=leaf{member}\ncalls=1 1\n2 3"
        );
        put!(out, "fn=leaf{member}\n1 3");
    }
}

/// A cycle, each member of which has a caller of its own: in a call tree, the cycle is the one node below each of them.
fn callers_of_a_ring(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    for member in 0..count {
        let next = (member + 1) % count;
        put!(out, "fn=ring{member}\n1 2\ncfn=ring{next}\ncalls=1 1\n1 {count}");
        put!(out, "fn=caller{member}\n1 1\ncfn=ring{member}\ncalls=1 1\n1 2");
    }
}

/// A function that calls the first functions of chains, which are as long as there are many.
fn star_of_chains(count: usize, out: &mut String) {
    let side = count.isqrt().max(1);
    put!(out, "{HEADER}");
    for chain in 0..side {
        put!(out, "fn=main\n1 1\ncfn=f{chain}_0\ncalls=1 1\n{chain} {side}");
        for link in 0..side {
            put!(out, "fn=f{chain}_{link}\n1 1");
            if link + 1 < side {
                put!(out, "cfn=f{chain}_{}\ncalls=1 1\n1 {}", link + 1, side - link - 1);
            }
        }
    }
}

/// Many cycles of two functions.
fn pairs(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    for pair in 0..count {
        put!(
            out,
            "fn=a{pair}\n1 1\ncfn=b{pair}\ncalls=1 1\n1 5\nfn=b{pair}\n1 1\ncfn=a{pair}\ncalls=1 1\n1 3"
        );
    }
}

/// Nothing calls the half of the functions, and each of these calls one of the others.
fn roots(count: usize, out: &mut String) {
    put!(out, "event: Sum = A + B + C + D\nevents: A B C D");
    (0..count).for_each(|root| put!(out, "fn=a{root:x}\n1 1\ncfn=b{root:x}\ncalls=1 1\n1 1"));
}

/// Each function of a layer calls both of the next one: the paths double with each layer.
fn diamonds(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    for layer in 0..count {
        for side in ["l", "r"] {
            put!(out, "fn={side}{layer}\n1 1");
            for next in ["l", "r"] {
                put!(out, "cfn={next}{}\ncalls=1 1\n2 {}", layer + 1, 2 * (count - layer));
            }
        }
    }
    put!(out, "fn=l{count}\n1 1\nfn=r{count}\n1 1");
}

/// Each of some functions calls each of others.
fn bipartite(count: usize, out: &mut String) {
    let side = count.isqrt().max(1);
    put!(out, "{HEADER}");
    for caller in 0..side {
        put!(out, "fn=caller{caller}\n1 1");
        for callee in 0..side {
            put!(out, "cfn=callee{callee}\ncalls=1 1\n{callee} 1");
        }
    }
    for callee in 0..side {
        put!(out, "fn=callee{callee}\n1 {side}");
    }
}

/// The lines are in no order, so that they have to be sorted.
fn events_by_lines(count: usize, out: &mut String) {
    let events: String = (0..count).map(|event| format!(" Ir{event}")).collect();
    put!(out, "positions: line\nevents:{events}\nfn=f");
    (0..count).for_each(|line| put!(out, "{} 1", count - line));
}

/// Blocks as of invocations, the last of which calls the one before.
fn events_by_blocks(count: usize, out: &mut String) {
    let events: String = (0..count).map(|event| format!(" e{event}")).collect();
    put!(out, "positions: line\nevents:{events}");
    (0..count / 2).for_each(|_| put!(out, "fn=f\n1 1"));
    put!(out, "fn=main\n2 1\ncfn=f\ncalls=1 1\n2 1");
}

/// Each function is in an object of its own.
fn events_by_functions(count: usize, out: &mut String) {
    let events: String = (0..count).map(|event| format!(" e{event}")).collect();
    put!(out, "positions: line\nevents:{events}");
    (0..count).for_each(|function| put!(out, "ob=o{function}\nfn=f{function}\n1 1"));
}

fn derived_by_functions(count: usize, out: &mut String) {
    put!(out, "positions: line\nevents: Ir");
    (0..count).for_each(|event| put!(out, "event: d{event} = Ir"));
    (0..count).for_each(|function| put!(out, "fn=f{function}\n1 1"));
}

/// Each event type is derived from the one before.
fn derived_chain(count: usize, out: &mut String) {
    put!(out, "positions: line\nevents: d0");
    (0..count).for_each(|event| put!(out, "event: d{} = d{event} + d0", event + 1));
    put!(out, "fn=f\n1 1");
}

/// An event type that is the sum of very many.
fn formula(count: usize, term: &str, out: &mut String) {
    let terms = vec![term; count].join(" + ");
    put!(out, "positions: line\nevents: Ir\nevent: d = Ir + {terms}\nfn=f\n1 1");
}

/// Recorded event types with long names.
fn named_events(count: usize, out: &mut String) {
    let events: String = (0..count).map(|event| format!(" e{event}")).collect();
    put!(out, "positions: line\nevents:{events}");
    (0..count).for_each(|event| put!(out, "event: e{event} : name {event}"));
    put!(out, "fn=f\n1 1");
}

/// Event types that are derived, as far as they can be.
fn derived_of_missing(count: usize, out: &mut String) {
    let events: String = (0..count).map(|event| format!(" e{event}")).collect();
    put!(out, "positions: line\nevents:{events}");
    (0..count).for_each(|event| put!(out, "event: d{event} = e1 + missing"));
    put!(out, "fn=f\n1 1");
}

/// A closure with lines of many files, beside functions that do not change.
fn closure_of_files(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=main.rs");
    (0..40).for_each(|function| put!(out, "fn=g{function}\n{function} 1"));
    put!(out, "fn=main::{{closure#0}}\n1 1");
    (0..count).for_each(|file| put!(out, "fi=f{file}\n7 1"));
}

fn same_definitions(count: usize, out: &mut String) {
    put!(out, "positions: line\nevents: Ir");
    (0..count).for_each(|_| put!(out, "event: Twice = 2 Ir"));
    put!(out, "fn=f\n1 1");
}

fn parts(count: usize, out: &mut String) {
    put!(out, "version: 1\ncreator: callgrind-3.19.0\n");
    (1..=count)
        .for_each(|part| put!(out, "part: {part}\npositions: line\nevents: Ir\nfn=(1) f\n1 1\ntotals: 1\n"));
}

fn parts_with_new_events(count: usize, out: &mut String) {
    put!(out, "version: 1\n");
    (1..=count)
        .for_each(|part| put!(out, "part: {part}\npositions: line\nevents: e{part}\nfn=f{part}\n1 1\n"));
}

/// The same function in parts that have other event types each.
fn other_events(count: usize, are_threads: bool, out: &mut String) {
    put!(out, "version: 1");
    for part in 1..=count {
        if are_threads {
            put!(out, "thread: {part}");
        }
        put!(out, "part: {part}\nevents: e{part}\nfn=f\n1 1");
    }
}

/// Parts that name a file whose path is long, once.
fn parts_of_long_path(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) /{}\nfn=(1) f\n1 1", "p".repeat(20 * count));
    (2..=count).for_each(|part| put!(out, "part: {part}\nevents: Ir\nfl=(1)\nfn=(1)\n1 {part}"));
}

/// A part with very many event types, their sum, and a part whose lines and calls, with addresses, have costs of another event type only, which
/// is the last.
fn lines_of_last_event(count: usize, out: &mut String) {
    put!(out, "{}\nfn=main\n1 1", sum_of_events(count));
    put!(out, "part: 2\npositions: instr line\nevents: last\nfl=mill.rs\nfn=main::{{{{closure}}}}");
    (1..=count).for_each(|line| put!(out, "{line} {line} 1"));
    put!(out, "fn=run");
    (1..=count).for_each(|line| put!(out, "cfn=f\ncalls=1 1 1\n{line} {line} 1"));
    put!(out, "fn=other\n1 1 1\nfn=main\n1 1 1");
}

/// Parts with one of the event types of a long sum.
fn parts_of_long_formula(count: usize, out: &mut String) {
    put!(out, "{}\nfn=f\n1 1", sum_of_events(count));
    (2..count).for_each(|part| put!(out, "part: {part}\nevents: e0\nfn=f\n1 1"));
}

/// The head of a part with this many event types, and their sum.
fn sum_of_events(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|event| format!("e{event}")).collect();
    format!(
        "version: 1\npositions: line\nevent: Sum = {}\npart: 1\nevents: {}",
        names.join(" + "),
        names.join(" ")
    )
}

fn threads(count: usize, out: &mut String) {
    put!(out, "version: 1\n");
    (1..=count).for_each(|thread| put!(out, "part: 1\nthread: {thread}\nevents: Ir\nfn=f{thread}\n1 1\n"));
}

fn processes(count: usize, out: &mut String) {
    put!(out, "version: 1\n");
    (1..=count).for_each(|pid| put!(out, "pid: {pid}\npart: 1\nevents: Ir\nfn=f{pid}\n1 1\n"));
}

fn positions_change(count: usize, out: &mut String) {
    for part in 1..=count {
        let (positions, place) = if part % 2 == 0 { ("instr line", "0x10 1") } else { ("line", "1") };
        put!(out, "part: {part}\npositions: {positions}\nevents: Ir\nfn=f\n{place} 1\n");
    }
}

/// All functions are in one file or object, whose path is long.
fn long_path(count: usize, key: &str, out: &mut String) {
    put!(out, "{HEADER}{key}=(1) /{}", "p".repeat(10 * count));
    (0..count).for_each(|function| put!(out, "fn=f{function}\n1 1"));
}

fn long_inlined_path(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) a.c\nfn=f\nfi=(2) /{}\n1 1", "p".repeat(10 * count));
    (0..count).for_each(|function| put!(out, "fe=(1)\nfn=f{function}\n1 1\nfi=(2)\n2 1"));
}

/// All lines of a function are in one file, whose path is long.
fn long_path_of_lines(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) a.c\nfn=f\nfi=(2) /{}", "p".repeat(10 * count));
    (1..=count).for_each(|line| put!(out, "{line} 1"));
}

/// Each function calls one whose name is long.
fn long_callee(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) a.c\nfn=(1) {}\n1 1", "n".repeat(20 * count));
    (0..count).for_each(|function| put!(out, "fn=f{function}\n1 1\ncfn=(1)\ncalls=1 1\n1 1"));
}

/// Functions that look like start-up code call one in an object whose path is long.
fn start_up_callers(count: usize, out: &mut String) {
    put!(
        out,
        "{HEADER}ob=(1) a\nfl=a.c\nfn=(1) main\n1 1\nob=(2) /{}\nfn=(2) g\n1 1\nob=(1)",
        "o".repeat(20 * count)
    );
    (0..count).for_each(|caller| put!(out, "fn=0x{caller:x}\n1 1\ncob=(2)\ncfn=(2)\ncalls=1 1\n1 {count}"));
}

fn qualifiers(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f{} g()\n1 1", " &".repeat(count));
}

fn word_of_calls(count: usize, out: &mut String) {
    let header =
        "version: 1\ncreator: xdebug 3.1.2 (PHP 8.1)\ncmd: /a.php\npart: 1\npositions: line\nevents: Time";
    put!(out, "{header}\n\nfl=(1) /a.php\nfn=(1) {{main}}\n1 5\n\n#{}\nsummary: 5", "calls=".repeat(count));
}

fn long_name(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=main\n1 1\ncfn={}\ncalls=1 1\n1 1", "n".repeat(count));
}

/// Several functions match a pattern, so that names are compared without their arguments, too.
fn two_open_brackets(count: usize, out: &mut String) {
    let open = "(".repeat(count);
    put!(out, "{HEADER}fl=a.c\nfn={open}\n1 1\nfn=f{open}\n1 1");
}

/// A function with this name.
fn named(name: &str, out: &mut String) {
    put!(out, "{HEADER}fl=a.c\nfn={name}\n1 1");
}

fn long_event_name(count: usize, out: &mut String) {
    put!(out, "positions: line\nevents: Ir {}\nfn=f\n1 1 2", "E".repeat(count));
}

fn long_number(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f\n1 {}", "9".repeat(count));
}

fn long_line_of_costs(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f\n1{}", " 1".repeat(count));
}

/// Names that have their callers, each with one more.
fn caller_chains(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    // The names grow, so the square root of their number is as long as the text.
    let mut name = "main".to_owned();
    for level in 0..count.isqrt() * 10 {
        put!(out, "fn={name}\n1 1");
        name = format!("f{level}'{name}");
    }
}

/// A function with a name for each of its callers.
fn recorded_callers_of_one(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=hostile.c");
    for caller in 0..count {
        put!(out, "fn=c{caller}\n1 1\ncfn=f'c{caller}\ncalls=1 1\n1 5\nfn=f'c{caller}\n2 5");
    }
}

/// Names that are made of others, which have their callers: each is twice as long as the one before, as far as names may be.
fn callers_in_callers(count: usize, out: &mut String) {
    // Profiles of another count have other names.
    let letter = char::from(b'a' + u8::try_from(count % 26).unwrap_or(0));
    put!(out, "{HEADER}fn=(1) {}\n1 1", letter.to_string().repeat(30));
    (1..count).for_each(|id| put!(out, "fn=({}) ({id})'({id})\n1 1", id + 1));
}

fn recursion_levels(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f\n1 1\ncfn=f'2\ncalls=1 1\n1 {count}");
    for level in 2..count {
        put!(out, "fn=f'{level}\n1 1\ncfn=f'{}\ncalls=1 1\n1 {}", level + 1, count - level);
    }
}

/// A profile of three quarters of the size has the same levels, of other files.
fn same_levels_in_files(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(1) {count}.c");
    let levels = (count / 2).next_power_of_two();
    (2..levels + 2).for_each(|level| put!(out, "fn=f'{level}\n1 {}", level * count % 1009));
    (0..count).for_each(|line| put!(out, "{line} 1"));
}

fn files(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    (0..count).for_each(|file| put!(out, "fl=dir{file}/a.c\nfn=f{file}\n1 1"));
}

fn objects(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    (0..count).for_each(|object| put!(out, "ob=/lib/lib{object}.so\nfn=f{object}\n1 1"));
}

fn same_name_in_files(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    (0..count).for_each(|file| {
        // Files of some names, and costs that differ from those of a profile with another count.
        let (name, cost) = (file % 7, file * count % 1009);
        put!(out, "fl=dir{file}/{name}.c\nfn=f\n{file} {cost}\ncfn=f\ncalls=1 1\n1 1");
    });
}

fn file_switches(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=(0) a.c\nfn=f");
    (1..=count).for_each(|file| put!(out, "fi=({file}) h{file}.h\n{file} 1\nfe=(0)\n{file} 1"));
}

fn calls_of_a_line(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f\n1 1");
    (0..count).for_each(|_| put!(out, "cfn=(2) g\ncalls=1 7\n1 1"));
    put!(out, "fn=(2)\n7 {count}");
}

fn jumps_of_a_line(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f\n1 1");
    (1..=count).for_each(|target| put!(out, "jcnd=1/2 {target}\n1"));
}

fn jumps(count: usize, out: &mut String) {
    put!(out, "{HEADER}fn=f");
    (1..=count).for_each(|line| put!(out, "{line} 1\njump=1 {}\n{line}", count - line));
}

fn lines(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=a.c\nfn=f");
    (0..count).for_each(|line| put!(out, "{} 1", 1000 * (count - line)));
}

/// Lines whose numbers end where numbers end.
fn last_lines(count: usize, out: &mut String) {
    put!(out, "{HEADER}fl=a.c\nfn=f");
    (0..count).for_each(|line| put!(out, "{} 1", u64::MAX - line as u64));
    put!(out, "+1 1\n+18446744073709551615 1");
}

fn repeated(count: usize, line: &str, out: &mut String) {
    put!(out, "{HEADER}fl=a.c\nfn=f\n1 1");
    (0..count).for_each(|_| put!(out, "{line}"));
    put!(out, "2 1");
}

fn undefined_names(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    (1..=count).for_each(|id| put!(out, "fn=({id})\n1 1"));
}

fn names_defined_again(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    (1..=count).for_each(|name| put!(out, "fn=(1) f{name}\n1 1"));
}

/// Names of C++ and Rust that refer to parts of themselves again and again.
fn mangled_names(count: usize, out: &mut String) {
    put!(out, "{HEADER}");
    let levels = count.min(60);
    let pairs = "PFTS_S_E".repeat(levels);
    put!(out, "fn=_Z1fI{pairs}iE\n1 1");
    put!(out, "fn=_RNvC1a{}\n1 1", "INtB2_3Foo".repeat(levels));
    for name in 0..count {
        put!(out, "fn=_ZN3std6vectorIiSaIiEE9push_backE{name}\n1 1");
        put!(out, "fn=_ZSt4pairI{}E\n1 1", "S_".repeat(name % 20));
    }
}

/// Control characters of terminals wherever a text can be: sequences that set titles and colours, and characters that
/// reorder or hide text.
fn terminal_controls(count: usize, out: &mut String) {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}31m\u{85}\u{202e}\u{2066}\u{e0041}\u{7f}\u{8}";
    put!(out, "# {evil}\nversion: 1\ncreator: {evil}\ncmd: {evil}\ndesc: {evil}: {evil}\npositions: line");
    put!(out, "events: Ir E{evil}\nevent: E{evil} : {evil}\nob=/{evil}\nfl=/{evil}.c");
    (0..count).for_each(|function| put!(out, "fn=f{function}{evil}\n1 1\ncfn=g{evil}\ncalls=1 1\n1 1"));
    put!(out, "{evil}={evil}\n{evil}");
}

/// Commands of services that show logs, wherever a text can be.
fn log_commands(count: usize, out: &mut String) {
    put!(
        out,
        "# ##[add-mask]a\nversion: 1\ncreator: ##[add-mask]a\ncmd: ::add-mask::a\ndesc: ##vso[a: ::add-mask::a"
    );
    put!(
        out,
        "positions: line\nevents: Ir ::add-mask::a ##[add-mask]a\nevent: ##[add-mask]a : ::add-mask::a"
    );
    for name in 0..count {
        put!(
            out,
            "ob=::add-mask::{name}\nfl=##vso[a]{name}\nfn=::add-mask::{name}\n1 1 2 3\ncfn=##[add-mask]{name}\ncalls=1 1\n1 1"
        );
        put!(out, "ob=##[add-mask]{name}\nfl=::add-mask::{name}.c\nfn=##[add-mask]{name}\n1 1 5");
    }
    put!(out, "::add-mask::a\n##[add-mask]a");
}
