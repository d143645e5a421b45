//! Budgets of inclusive costs, where calls leave the functions and come back.

#![cfg(test)]

mod harness;

use std::process::Output;

use harness::*;

/// `main` calls `parse`, which calls `visit`, and that `parse_item`. `main` calls `visit` itself, too, if that has a cost.
fn profile(parse: u64, of_main: u64) -> String {
    let item = 700;
    let of_parser = item + 100;
    let of_visit = of_parser - of_main;
    let main = match of_main {
        0 => String::new(),
        _ => format!("cfn=visit\ncalls=1 5\n2 {of_main}\n"),
    };
    format!(
        "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\nfl=/build/mill.c\nfn=main\n1 5000\ncfn=parse\ncalls=1 3\n1 {}\n{main}\
         fn=parse\n3 {parse}\ncfn=visit\ncalls=1 5\n3 {of_visit}\nfn=visit\n5 100\ncfn=parse_item\ncalls=9 7\n5 {item}\n\
         fn=parse_item\n7 {item}\ntotals: {}\n",
        parse + of_visit,
        5000 + parse + 100 + item
    )
}

struct Gate(tempfile::TempDir);

impl Gate {
    fn new(budget: &str, profile: &str) -> Gate {
        let config = format!(
            "[gate]\nincrease = \"100%\"\n[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n[[benchmark.budget]]\n\
             name = \"parser\"\nfunction = \"^parse\"\ninclusive = true\n{budget}\n"
        );
        Gate(folder(&[("gristmill.toml", config.as_bytes()), ("parse.out", profile.as_bytes())]))
    }

    fn bless(&self) -> Output {
        let output = run_in(self.0.path(), &["gate", "bless"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output
    }

    fn run(&self, profile: &str, expected: i32, arguments: &[&str]) -> String {
        std::fs::write(self.0.path().join("parse.out"), profile).unwrap();
        let output = run_in(self.0.path(), &[&["gate", "run"], arguments].concat());
        assert_eq!(code(&output), expected, "{}{}", stdout(&output), stderr(&output));
        stdout(&output)
    }
}

#[test]
fn what_comes_back_below_the_functions_counts_once() {
    let gate = Gate::new("max = 1000\nincrease = 6", &profile(100, 0));
    gate.bless();
    let shown = gate.run(&profile(100, 0), 0, &[]);
    assert!(shown.contains("ok   Ir of parser 900, unchanged"), "{shown}");
    let shown = gate.run(&profile(105, 0), 0, &[]);
    assert!(shown.contains("ok   Ir of parser 900 → 905, +5 (+0.55%)"), "{shown}");
    gate.run(&profile(107, 0), 1, &[]);
}

/// `main` costs much more than before, but the functions of the budget do not call it.
#[test]
fn only_what_the_functions_call_is_responsible() {
    let gate = Gate::new("increase = 6", &profile(100, 0));
    gate.bless();
    let changed = profile(107, 0).replace("\n1 5000\n", "\n1 8000\n").replace("totals: 5907", "totals: 8907");
    let shown = gate.run(&changed, 1, &[]);
    assert!(shown.contains("OVER Ir of parser 900 → 907"), "{shown}");
    assert!(shown.contains("+7") && shown.contains(" parse ") && !shown.contains("+3,000"), "{shown}");
    let shown = gate.run(&changed, 1, &["--format", "github"]);
    assert!(shown.contains("parse") && !shown.contains(" main"), "{shown}");
}

#[test]
fn a_bound_alone_is_not_over() {
    let gate = Gate::new("max = 1400", &profile(100, 0));
    gate.bless();
    // 100 and 700 are of the parser, 700 of them perhaps below `visit` of `main`.
    let unknown = profile(100, 50);
    let shown = gate.run(&unknown, 2, &[]);
    let reason = "the cost is from 800 to 1,550, which does not tell: calls come back from `visit`, which others call, too; add it";
    assert!(shown.contains("?    Ir of parser 900 → at most 1,550, allowed at most 1,400\n"), "{shown}");
    assert!(shown.contains(reason), "{shown}");
    for (format, text) in [
        ("markdown", "| 900 | at most 1,550 |  | at most 1,400 |"),
        ("json", "\"base\":900,\"cost\":1550,\"cost_is_upper_bound\":true,\"limit\":1400"),
        ("junit", "Ir of parser 900 → at most 1,550; not determined; the cost is from 800"),
        ("sarif", "Ir of parser 900 → at most 1,550; not determined; the cost is from 800"),
        ("github", "Ir of parser 900 → at most 1,550; not determined; the cost is from 800"),
    ] {
        let shown = gate.run(&unknown, 2, &["--format", format]);
        assert!(shown.contains(text), "{format}: {shown}");
        if format == "json" {
            assert_valid(&schema("gate.schema.json"), &serde_json::from_str(&shown).unwrap(), "gate");
        }
    }
    // Self costs alone are over, or the bound is within.
    gate.run(&profile(701, 50), 1, &[]);
    let shown = gate.run(&profile(100, 200), 0, &[]);
    assert!(shown.contains("ok   Ir of parser 900 → at most 1,400, allowed at most 1,400\n"), "{shown}");
    // With `visit`, all of it is known.
    let config = std::fs::read_to_string(gate.0.path().join("gristmill.toml")).unwrap();
    let config = config.replace("^parse", "^(parse|visit)");
    std::fs::write(gate.0.path().join("gristmill.toml"), config).unwrap();
    std::fs::write(gate.0.path().join("parse.out"), &unknown).unwrap();
    gate.bless();
    let shown = gate.run(&unknown, 0, &[]);
    assert!(shown.contains("ok   Ir of parser 900, unchanged"), "{shown}");
}

#[test]
fn bounds_of_the_baseline_are_bounds() {
    let gate = Gate::new("increase = 10", &profile(100, 50));
    let output = gate.bless();
    assert!(
        stderr(&output).contains(
            "parse: note: the cost of `parser` counts some calls more than once: calls come back from `visit`"
        ),
        "{}",
        stderr(&output)
    );
    let shown = gate.run(&profile(105, 50), 0, &[]);
    assert!(shown.contains("ok   Ir of parser at most 1,550 → at most 1,555, allowed +10\n"), "{shown}");
    // That the bound grew does not tell that the cost did.
    let shown = gate.run(&profile(111, 50), 2, &[]);
    assert!(shown.contains("the cost is from 811 to 1,561, which does not tell"), "{shown}");
    // What is exact now may have become more expensive.
    let shown = gate.run(&profile(100, 0), 0, &[]);
    assert!(shown.contains("ok   Ir of parser at most 1,550 → 900, allowed +10\n"), "{shown}");
    assert!(shown.contains("the baseline is an upper bound; `gristmill gate bless`"), "{shown}");
    // Advice is no more than that.
    let advice = Gate::new("max = 1000\nadvise = true", &profile(100, 50));
    advice.bless();
    let shown = advice.run(&profile(100, 50), 0, &[]);
    assert!(shown.contains("look Ir of parser at most 1,550, unchanged"), "{shown}");
    assert!(shown.contains("the cost is from 800 to 1,550, which does not tell"), "{shown}");
}

/// Memory that is returned: `main` calls `map`, which calls a closure, and that `cut`, which frees; `main` calls `cut` itself, too.
/// `last` is what the closure keeps.
fn memory(last: i64) -> String {
    let closure = 50 + last - 500;
    format!(
        "version: 1\ncreator: xdebug 2.9.8\nevents: Time Memory\nfl=php:internal\nfn=php::cut\n1 5 -500\nfn=php::cut\n1 5 600\nfn=php::map\n3 7 100\n\
         cfl=/a.php\ncfn=closure\ncalls=1 0 0\n3 15 {closure}\nfl=/a.php\nfn=closure\n2 10 {}\ncfl=php:internal\ncfn=php::cut\n\
         calls=1 0 0\n2 5 -500\nfn={{main}}\n4 100 1000\ncfl=php:internal\ncfn=php::map\ncalls=1 0 0\n4 22 {}\n\
         cfn=php::cut\ncalls=1 0 0\n5 5 600\nsummary: 127 {}\n",
        50 + last,
        100 + closure,
        1000 + 100 + closure + 600
    )
}

#[test]
fn memory_that_is_memory_has_no_limits() {
    let gate = Gate::new("event = \"Memory\"\nmax = 100", &profile(100, 50));
    let config = std::fs::read_to_string(gate.0.path().join("gristmill.toml")).unwrap();
    let config = config.replace("[gate]", "[gate]\nevents = [\"Time\"]").replace("^parse", "^php::");
    std::fs::write(gate.0.path().join("gristmill.toml"), &config).unwrap();
    std::fs::write(gate.0.path().join("parse.out"), memory(0)).unwrap();
    gate.bless();
    // A sum of 0 does not tell that nothing was called, so no number is a limit.
    let shown = gate.run(&memory(0), 2, &[]);
    assert!(
        shown.contains("the cost is not known, as it can also be below 0: calls leave the functions"),
        "{shown}"
    );
    let groups =
        |event| stdout(&run_in(gate.0.path(), &["functions", "--group", "class", "-e", event, "parse.out"]));
    let shown = groups("Memory");
    assert!(shown.contains("\n  200  16.0       ~250   20.0      3  php\n~ estimate: "), "{shown}");
    let arguments =
        ["functions", "--group", "class", "--derive", "Twice = 2 Memory", "-e", "Twice", "parse.out"];
    let shown = stdout(&run_in(gate.0.path(), &arguments));
    assert!(shown.contains(" ~500 ") && !shown.contains('≤'), "{shown}");
    // Time is never below 0.
    let shown = groups("Time");
    assert!(shown.contains("\n  17  13.4         27   21.3      3  php\n"), "{shown}");
    let csv = run_in(
        gate.0.path(),
        &["functions", "--group", "class", "-e", "Memory", "--format", "csv", "parse.out"],
    );
    assert!(stdout(&csv).contains("250,200,3,,php,,,no,no,yes,no\n"), "{}", stdout(&csv));
    let config = config.replace("event = \"Memory\"", "event = \"Time\"").replace("max = 100", "max = 26");
    std::fs::write(gate.0.path().join("gristmill.toml"), &config).unwrap();
    gate.bless();
    let shown = gate.run(&memory(0), 1, &[]);
    assert!(shown.contains("OVER Time of parser 27, unchanged, allowed at most 26"), "{shown}");
}

#[test]
fn costs_below_0_that_no_budget_is_about_are_no_damage_of_a_baseline() {
    let freed = "version: 1\nevents: Ir Freed\nfl=a.c\nfn=main\n1 100 10\ncfn=parse\ncalls=1 3\n1 50 -60\nfn=parse\n3 50 -60\n\
                 totals: 150 -50\n";
    let gate = Gate::new("event = \"Ir\"\nincrease = \"0\"", freed);
    gate.bless();
    gate.run(freed, 0, &[]);
    // Also where such costs are less than what is listed.
    let little = "version: 1\nevents: Ir Time\nfl=a.c\nfn=main\n1 100 100000\ncfn=parse\ncalls=1 3\n1 50 5\nfn=parse\n3 50 5\n\
                  fn=clock\n7 1 -9\ntotals: 151 99996\n";
    let gate = Gate::new("event = \"Ir\"\nincrease = \"0\"", little);
    gate.bless();
    gate.run(little, 0, &[]);
}

#[test]
fn memory_that_is_freed_elsewhere_is_no_limit() {
    // Of two calls of `gc`, one frees memory: no sum is below 0, and all together cost less than `main` does.
    let text = "version: 1\ncreator: xdebug 3.1.0\nevents: Time Memory\nfl=php:internal\nfn=php::gc\n4 2 500\nfl=/a.php\nfn={main}\n\
                1 3 50\ncfl=php:internal\ncfn=php::gc\ncalls=1 0 0\n1 2 500\nfl=php:internal\nfn=php::gc\n4 1 -200\nsummary: 6 350\n";
    let folder = folder(&[("freed.out", text.as_bytes())]);
    for option in [&[][..], &["--no-cycles"]] {
        let shown =
            stdout(&run_in(folder.path(), &[&["functions", "-e", "Memory", "freed.out"], option].concat()));
        assert!(shown.contains(" 50  14.3        550  157.1 ") && !shown.contains('≤'), "{shown}");
    }
    let derived = [
        "functions",
        "--group",
        "file",
        "--derive",
        "X = 2 Memory",
        "--derive",
        "Y = 3 X",
        "-e",
        "Y",
        "freed.out",
    ];
    let shown = stdout(&run_in(folder.path(), &derived));
    assert!(shown.contains(" 3,300 ") && !shown.contains('≤'), "{shown}");
}

#[test]
fn memory_below_0_is_no_damage_of_a_baseline() {
    let gate = Gate::new("event = \"Memory\"\nincrease = \"20%\"", &profile(100, 50));
    let config = std::fs::read_to_string(gate.0.path().join("gristmill.toml")).unwrap();
    let config = config
        .replace("[gate]", "[gate]\nevents = [\"Time\"]\nadvise = [\"Memory\"]")
        .replace("^parse", "^closure$");
    std::fs::write(gate.0.path().join("gristmill.toml"), &config).unwrap();
    // The closure and what it calls cost less than 0, and so does the program.
    let freed =
        memory(0).replace("4 100 1000\n", "4 100 -1000\n").replace("summary: 127 1250", "summary: 127 -750");
    std::fs::write(gate.0.path().join("parse.out"), &freed).unwrap();
    gate.bless();
    gate.bless();
    let shown = gate.run(&freed, 0, &[]);
    assert!(shown.contains("ok   Memory of parser -450, unchanged, allowed +20%"), "{shown}");
    assert!(
        shown.contains("ok   Memory -750, unchanged") && shown.contains("ok   Time 127, unchanged"),
        "{shown}"
    );
    // What was blessed as an estimate is nothing to compare with.
    std::fs::write(gate.0.path().join("gristmill.toml"), config.replace("^closure$", "^php::")).unwrap();
    std::fs::write(gate.0.path().join("parse.out"), memory(0)).unwrap();
    gate.bless();
    let alone = "version: 1\ncreator: xdebug 2.9.8\nevents: Time Memory\nfl=php:internal\nfn=php::cut\n1 10 100\n\
                 fl=/a.php\nfn={main}\n4 117 1150\ncfl=php:internal\ncfn=php::cut\ncalls=1 0 0\n4 10 100\nsummary: 127 1250\n";
    let shown = gate.run(alone, 0, &["--allow-unlike"]);
    assert!(shown.contains("look Memory of parser") && shown.contains("1 worth a look"), "{shown}");
    assert!(shown.contains("the cost in the baseline is an estimate; `gristmill gate bless`"), "{shown}");
}

/// Code without a name is in all objects: `main` is called by some and calls some, which is no cycle.
#[test]
fn code_without_a_name_makes_no_cycles() {
    let text = "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\nob=ld.so\nfl=???\nfn=0x1ab70\n0 10\ncob=mill\ncfl=mill.c\n\
                cfn=parse\ncalls=1 1\n0 1100\nob=mill\nfl=mill.c\nfn=parse\n1 100\ncob=libc.so\ncfl=???\ncfn=0x486c368\n\
                calls=1 0\n2 1000\nob=libc.so\nfl=???\nfn=0x486c368\n0 1000\ntotals: 1110\n";
    let gate = Gate::new("max = 1200", text);
    gate.bless();
    let baseline = std::fs::read_to_string(gate.0.path().join("gristmill-baseline.toml")).unwrap();
    let row = baseline.lines().find(|line| line.contains("name = \"parse\", file")).unwrap();
    assert!(row.contains("inclusive = [1100]"), "{row}");
}

/// The row of a function in the baseline of a profile.
fn row_of(text: &str, name: &str) -> String {
    let gate = Gate::new("max = 100000", text);
    gate.bless();
    let baseline = std::fs::read_to_string(gate.0.path().join("gristmill-baseline.toml")).unwrap();
    let row = baseline.lines().find(|line| line.contains(&format!("name = \"{name}\", file")));
    row.unwrap_or_else(|| panic!("{baseline}")).to_owned()
}

/// Two closures of one function have one name in a baseline. One calls the other one by way of a function, which is no cycle.
#[test]
fn closures_make_no_cycles() {
    let text = "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\nob=mill\nfl=mill.rs\nfn=parse\n1 100\n\
                cfn=parse::{closure#1}\ncalls=1 20\n2 6600\nfn=parse::{closure#1}\n20 5000\n\
                cfn=apply\ncalls=10 40\n21 1600\nfn=apply\n40 600\ncfn=parse::{closure#0}\ncalls=10 10\n41 1000\n\
                fn=parse::{closure#0}\n10 1000\n";
    let alone = format!("{text}totals: 6700\n");
    let row = row_of(&alone, "apply");
    assert!(row.contains("self = [600], inclusive = [1600]"), "{row}");
    let row = row_of(&alone, "parse::{closure}");
    assert!(row.contains("self = [6000], inclusive = [6600]"), "{row}");
    // Another caller of `apply`: the calls of it do not tell which of them were those of a closure.
    let text = text.replace("\n2 6600\n", "\n2 6400\n").replace("\n21 1600\n", "\n21 1400\n");
    let shared = format!("{text}fn=main\n50 20\ncfn=apply\ncalls=2 40\n51 200\ntotals: 6720\n");
    let row = row_of(&shared, "parse::{closure}");
    assert!(row.contains("self = [6000], inclusive = [] }"), "{row}");
    let row = row_of(&shared, "apply");
    assert!(row.contains("self = [600], inclusive = [1600]"), "{row}");
}

/// No function is named by an inclusive cost that is not known.
#[test]
fn an_unknown_inclusive_cost_names_no_function() {
    let text = |own: u64| {
        let total = 120 + 1000 + own;
        format!(
            "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\nob=mill\nfl=mill.rs\nfn=main\n1 100\n\
             cfn=parse::{{closure#1}}\ncalls=1 20\n2 {}\ncfn=apply\ncalls=1 40\n3 20\n\
             fn=parse::{{closure#1}}\n20 {own}\ncfn=apply\ncalls=10 40\n21 1000\nfn=apply\n40 20\n\
             cfn=parse::{{closure#0}}\ncalls=10 10\n41 1000\nfn=parse::{{closure#0}}\n10 1000\ntotals: {total}\n",
            own + 1000
        )
    };
    let gate = Gate::new("increase = \"1%\"", &text(5000));
    gate.bless();
    let shown = gate.run(&text(9000), 1, &[]);
    assert!(!shown.contains("in parse::{closure}"), "{shown}");
}
