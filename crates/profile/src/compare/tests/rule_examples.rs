//! Each rule alone, on names and paths that it is for and on others that it leaves alone.

use crate::compare::names::normal_name;
use crate::compare::paths::normal_path;
use crate::compare::{Rule, RuleSet};

const ABOUT_PATHS: [Rule; 5] =
    [Rule::DotSegments, Rule::RustcHash, Rule::RustToolchain, Rule::CargoRegistry, Rule::CargoHash];

fn path(text: &str, rules: RuleSet) -> String {
    normal_path(text, rules, &[4711]).0
}

fn name(text: &str, rules: RuleSet) -> String {
    String::from_utf8(normal_name(text.as_bytes(), rules, &[4711]).text).unwrap()
}

#[test]
fn what_the_list_of_rules_says_is_true() {
    for rule in Rule::ALL {
        let description = rule.description();
        assert_eq!(Rule::named(description.name), Some(rule));
        let Some((before, after)) = description.example else { continue };
        let apply = |text: &str, rules| match ABOUT_PATHS.contains(&rule) || rule == Rule::Pid {
            true => path(text, rules),
            false => name(text, rules),
        };
        assert_eq!(apply(before, RuleSet::NONE.with(rule)), after, "{rule}");
        assert_eq!(apply(before, RuleSet::all()), after, "{rule} with all others");
        assert_ne!(apply(before, RuleSet::all().without(rule)), after, "all but {rule}");
        assert_eq!(apply(after, RuleSet::all()), after, "{rule} is done after once");
    }
}

#[test]
fn paths() {
    for (rule, before, after) in [
        (Rule::DotSegments, "/a/./b//c/../d.c", "/a/b/d.c"),
        (Rule::DotSegments, "../../a.c", "../../a.c"),
        (Rule::DotSegments, "./../a.c", "../a.c"),
        (Rule::DotSegments, "/../a.c", "/a.c"),
        (Rule::RustcHash, "/rustc/1234/library/core/src/lib.rs", "/rustc/1234/library/core/src/lib.rs"),
        (Rule::RustToolchain, "/usr/src/rustc-1.63.0/library/std/src/rt.rs", "/rustc/library/std/src/rt.rs"),
        (
            Rule::CargoRegistry,
            "/home/a/.cargo/git/checkouts/mill-0123456789abcdef/4f5c2d1/src/lib.rs",
            "git/mill/src/lib.rs",
        ),
        (Rule::CargoRegistry, "/srv/registry/source/a.php", "/srv/registry/source/a.php"),
        (
            Rule::CargoHash,
            "/target/release/build/mill-0123456789abcdef/out/bindings.rs",
            "/target/release/build/mill/out/bindings.rs",
        ),
        (Rule::CargoHash, "/lib/libmill-0123456789abcdef.so", "/lib/libmill.so"),
        (Rule::CargoHash, "/lib/libmill-2.31.so", "/lib/libmill-2.31.so"),
        (Rule::Pid, "/proc/4711/maps", "/proc/<pid>/maps"),
        (Rule::Pid, "/tmp/x4711/47110", "/tmp/x4711/47110"),
    ] {
        assert_eq!(path(before, RuleSet::NONE.with(rule)), after, "{rule} {before}");
    }
}

#[test]
fn names() {
    for (rule, before, after) in [
        (Rule::Mangling, "_Z5grindi", "grind(int)"),
        (Rule::Mangling, "main", "main"),
        (Rule::SymbolHash, "mill::grind::h0123", "mill::grind::h0123"),
        (Rule::SymbolHash, "mill[1a2b3c4d5e6f7081]::grind", "mill::grind"),
        (Rule::SymbolHash, "array[12345678]", "array"),
        (Rule::SymbolHash, "operator[](int)", "operator[](int)"),
        (Rule::SymbolVersion, "realpath@GLIBC_2.3", "realpath"),
        (Rule::SymbolVersion, "class@anonymous", "class@anonymous"),
        (Rule::SymbolVersion, "@foo", "@foo"),
        (Rule::LlvmSuffix, "mill::grind.llvm.123", "mill::grind"),
        (Rule::ColdPart, "grind.cold.7", "grind"),
        (Rule::ColdPart, "grind.coldest", "grind.coldest"),
        (Rule::ColdPart, ".cold", ".cold"),
        (Rule::SplitPart, "mill::grind(int) [clone .part.0]", "mill::grind(int)"),
        (Rule::Isra, "grind.isra.0.constprop.0", "grind.isra.0.constprop.0"),
        (
            Rule::ClosureNumber,
            "mill::run(int)::{lambda(int)#2}::operator()(int) const",
            "mill::run(int)::{lambda(int)}::operator()(int) const",
        ),
        (Rule::ClosureNumber, "run()::$_3::operator()", "run()::$_::operator()"),
        (Rule::ClosureNumber, "main.main.func1.2", "main.main.func"),
        (Rule::ClosureNumber, "main.function1", "main.function1"),
        (Rule::ClosureNumber, "App\\{closure:/srv/t.php:5-7}", "App\\{closure:/srv/t.php}"),
        (Rule::ClosureNumber, "main::__ANON__[mill.pl:12]", "main::__ANON__[mill.pl]"),
        (Rule::ClosureNumber, "class@anonymous\0/srv/t.php:12$0->run", "class@anonymous\0/srv/t.php->run"),
        (Rule::ClosureNumber, "std::vector<int>::at", "std::vector<int>::at"),
        (Rule::Address, "0x1ab (in ???)", "0x1ab (in ???)"),
        (Rule::Address, "stub at 0x7fff0010", "stub at 0x"),
        (Rule::Pid, "worker-4711", "worker-<pid>"),
    ] {
        assert_eq!(name(before, RuleSet::NONE.with(rule)), after, "{rule} {before}");
    }
}

#[test]
fn recursion_and_recorded_callers_stay() {
    let all = RuleSet::all();
    assert_eq!(name("_Z3fibi'2'main.cold", all), "fib(int)'2'main");
    assert_eq!(name("fib.isra.0.part.1'3", all), "fib'3");
}

#[test]
fn what_is_no_text_stays() {
    let normal = normal_name(b"\xff\xfe.cold", RuleSet::all(), &[]);
    assert_eq!((&normal.text[..], normal.used), (&b"\xff\xfe.cold"[..], RuleSet::NONE));
}
