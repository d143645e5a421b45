//! Each rule alone, on names and paths that it is for and on others that it leaves alone.

use crate::compare::names::normal_name;
use crate::compare::paths::normal_path;
use crate::compare::{JoinRule, JoinRules};

const ABOUT_PATHS: [JoinRule; 5] = [
    JoinRule::DotSegments,
    JoinRule::RustcHash,
    JoinRule::RustToolchain,
    JoinRule::CargoRegistry,
    JoinRule::CargoHash,
];

fn path(text: &str, rules: JoinRules) -> String {
    normal_path(text, rules, &[4711]).0
}

fn name(text: &str, rules: JoinRules) -> String {
    String::from_utf8(normal_name(text.as_bytes(), rules, &[4711]).text).unwrap()
}

#[test]
fn what_the_list_of_rules_says_is_true() {
    for rule in JoinRule::ALL {
        let description = rule.description();
        assert_eq!(JoinRule::from_name(description.name), Some(rule));
        let Some((before, after)) = description.example else { continue };
        let apply = |text: &str, rules| match ABOUT_PATHS.contains(&rule) || rule == JoinRule::Pid {
            true => path(text, rules),
            false => name(text, rules),
        };
        assert_eq!(apply(before, JoinRules::NONE.with(rule)), after, "{rule}");
        assert_eq!(apply(before, JoinRules::all()), after, "{rule} with all others");
        assert_ne!(apply(before, JoinRules::all().without(rule)), after, "all except {rule}");
        assert_eq!(apply(after, JoinRules::all()), after, "{rule} is done after once");
    }
}

#[test]
fn paths() {
    for (rule, before, after) in [
        (JoinRule::DotSegments, "/a/./b//c/../d.c", "/a/b/d.c"),
        (JoinRule::DotSegments, "../../a.c", "../../a.c"),
        (JoinRule::DotSegments, "./../a.c", "../a.c"),
        (JoinRule::DotSegments, "/../a.c", "/a.c"),
        (JoinRule::RustcHash, "/rustc/1234/library/core/src/lib.rs", "/rustc/1234/library/core/src/lib.rs"),
        (
            JoinRule::RustToolchain,
            "/usr/src/rustc-1.63.0/library/std/src/rt.rs",
            "/rustc/library/std/src/rt.rs",
        ),
        (
            JoinRule::CargoRegistry,
            "/home/a/.cargo/git/checkouts/mill-0123456789abcdef/4f5c2d1/src/lib.rs",
            "git/mill/src/lib.rs",
        ),
        (JoinRule::CargoRegistry, "/srv/registry/source/a.php", "/srv/registry/source/a.php"),
        (
            JoinRule::CargoHash,
            "/target/release/build/mill-0123456789abcdef/out/bindings.rs",
            "/target/release/build/mill/out/bindings.rs",
        ),
        (JoinRule::CargoHash, "/lib/libmill-0123456789abcdef.so", "/lib/libmill.so"),
        (JoinRule::CargoHash, "/lib/libmill-2.31.so", "/lib/libmill-2.31.so"),
        (JoinRule::Pid, "/proc/4711/maps", "/proc/<pid>/maps"),
        (JoinRule::Pid, "/tmp/x4711/47110", "/tmp/x4711/47110"),
    ] {
        assert_eq!(path(before, JoinRules::NONE.with(rule)), after, "{rule} {before}");
    }
}

#[test]
fn names() {
    for (rule, before, after) in [
        (JoinRule::Mangling, "_Z5grindi", "grind(int)"),
        (JoinRule::Mangling, "main", "main"),
        (JoinRule::SymbolHash, "mill::grind::h0123", "mill::grind::h0123"),
        (JoinRule::SymbolHash, "mill[1a2b3c4d5e6f7081]::grind", "mill::grind"),
        (JoinRule::SymbolHash, "array[12345678]", "array"),
        (JoinRule::SymbolHash, "operator[](int)", "operator[](int)"),
        (JoinRule::SymbolVersion, "realpath@GLIBC_2.3", "realpath"),
        (JoinRule::SymbolVersion, "class@anonymous", "class@anonymous"),
        (JoinRule::SymbolVersion, "@foo", "@foo"),
        (JoinRule::LlvmSuffix, "mill::grind.llvm.123", "mill::grind"),
        (JoinRule::ColdPart, "grind.cold.7", "grind"),
        (JoinRule::ColdPart, "grind.coldest", "grind.coldest"),
        (JoinRule::ColdPart, ".cold", ".cold"),
        (JoinRule::SplitPart, "mill::grind(int) [clone .part.0]", "mill::grind(int)"),
        (JoinRule::Isra, "grind.isra.0.constprop.0", "grind.isra.0.constprop.0"),
        (
            JoinRule::ClosureNumber,
            "mill::run(int)::{lambda(int)#2}::operator()(int) const",
            "mill::run(int)::{lambda(int)}::operator()(int) const",
        ),
        (JoinRule::ClosureNumber, "run()::$_3::operator()", "run()::$_::operator()"),
        (JoinRule::ClosureNumber, "main.main.func1.2", "main.main.func"),
        (JoinRule::ClosureNumber, "main.function1", "main.function1"),
        (JoinRule::ClosureNumber, "App\\{closure:/srv/t.php:5-7}", "App\\{closure:/srv/t.php}"),
        (JoinRule::ClosureNumber, "main::__ANON__[mill.pl:12]", "main::__ANON__[mill.pl]"),
        (
            JoinRule::ClosureNumber,
            "class@anonymous\0/srv/t.php:12$0->run",
            "class@anonymous\0/srv/t.php->run",
        ),
        (JoinRule::ClosureNumber, "std::vector<int>::at", "std::vector<int>::at"),
        (JoinRule::Address, "0x1ab (in ???)", "0x1ab (in ???)"),
        (JoinRule::Address, "stub at 0x7fff0010", "stub at 0x"),
        (JoinRule::Pid, "worker-4711", "worker-<pid>"),
    ] {
        assert_eq!(name(before, JoinRules::NONE.with(rule)), after, "{rule} {before}");
    }
}

#[test]
fn recursion_and_recorded_callers_stay() {
    let all = JoinRules::all();
    assert_eq!(name("_Z3fibi'2'main.cold", all), "fib(int)'2'main");
    assert_eq!(name("fib.isra.0.part.1'3", all), "fib'3");
}

#[test]
fn what_is_no_text_stays() {
    let normal = normal_name(b"\xff\xfe.cold", JoinRules::all(), &[]);
    assert_eq!((&normal.text[..], normal.used), (&b"\xff\xfe.cold"[..], JoinRules::NONE));
}
