//! Names as compilers and profilers of many languages write them.
#![cfg(test)]

use std::collections::BTreeSet;

use gristmill_format::{FunctionName, Line, NameSpace, Reader};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use super::*;
use crate::analysis::tests::corpus::files;

#[test]
fn scopes_and_own_names() {
    let cases: &[(&str, Option<&str>, &str)] = &[
        // C, and text that is not a name.
        ("main", None, "main"),
        ("(below main)", None, "(below main)"),
        ("???", None, "???"),
        ("0x00000000000011a0", None, "0x00000000000011a0"),
        ("", None, ""),
        ("memcpy@@GLIBC_2.14", None, "memcpy@@GLIBC_2.14"),
        ("crush.isra.0", None, "crush.isra.0"),
        ("crush.constprop.0.cold", None, "crush.constprop.0.cold"),
        ("crush.part.3.llvm.1234", None, "crush.part.3.llvm.1234"),
        ("crush.part.0'2", None, "crush.part.0'2"),
        ("Mill.crush'2", Some("Mill"), "crush'2"),
        ("_dl_relocate_object", None, "_dl_relocate_object"),
        // C++
        ("f(int)", None, "f"),
        ("A::f(int)", Some("A"), "f"),
        ("a::B<c::D>::f(e::G)", Some("a::B<c::D>"), "f"),
        (
            "void std::__introsort_loop<A*, long, __ops::_Iter>(A*, A*, long)",
            Some("std"),
            "__introsort_loop<A*, long, __ops::_Iter>",
        ),
        ("std::vector<int, std::allocator<int> > A::f<int>(int) const", Some("A"), "f<int>"),
        ("unsigned long const& A::f() const &", Some("A"), "f"),
        ("(anonymous namespace)::f(int)", Some("(anonymous namespace)"), "f"),
        ("A::(anonymous namespace)::B::f()", Some("A::(anonymous namespace)::B"), "f"),
        ("std::ostream& std::operator<< <char>(std::ostream&, char)", Some("std"), "operator<< <char>"),
        ("A::operator()(int) const", Some("A"), "operator()"),
        ("A::operator[](int)", Some("A"), "operator[]"),
        ("A::operator->()", Some("A"), "operator->"),
        ("A::operator bool() const", Some("A"), "operator bool"),
        ("A::operator std::string() const", Some("A"), "operator std::string"),
        ("operator new(unsigned long)", None, "operator new"),
        ("bool operator< <int>(A<int>, A<int>)", None, "operator< <int>"),
        ("A::operator<(A const&) const", Some("A"), "operator<"),
        ("A::operators(int)", Some("A"), "operators"),
        ("A::~A()", Some("A"), "~A"),
        (
            "bool gnu::operator!=<int*, std::vector<int> >(gnu::B<int*> const&)",
            Some("gnu"),
            "operator!=<int*, std::vector<int> >",
        ),
        ("A<B<C> >::operator-(long) const", Some("A<B<C> >"), "operator-"),
        ("std::function<void (int)>::operator()(int) const", Some("std::function<void (int)>"), "operator()"),
        ("main::{lambda(int)#1}::operator()(int) const", None, "main::{lambda(int)#1}::operator()"),
        (
            "A::f(int) const::{lambda()#2}::operator()() const",
            Some("A"),
            "f(int) const::{lambda()#2}::operator()",
        ),
        ("f(int)::Local::g(int)", Some("f(int)::Local"), "g"),
        ("A::f(int) [clone .isra.0]", Some("A"), "f"),
        ("crush [clone .cold]", None, "crush"),
        ("non-virtual thunk to A::f(int)", Some("A"), "f"),
        ("decltype(auto) A::f(int)", Some("A"), "f"),
        // Rust
        ("core::fmt::write", Some("core::fmt"), "write"),
        ("core::fmt::write::h0123456789abcdef", Some("core::fmt"), "write"),
        ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", Some("alloc::vec::Vec<T>"), "drop"),
        ("<Pass<'a> as Lint>::check", Some("Pass<'a>"), "check"),
        ("<str>::len", Some("str"), "len"),
        ("core::fmt::<impl core::fmt::Display for mill::Stone>::fmt", Some("mill::Stone"), "fmt"),
        ("alloc::slice::<impl [T]>::join", Some("[T]"), "join"),
        ("mill::{impl#0}::grind", Some("mill::{impl#0}"), "grind"),
        ("mill::main::{{closure}}", Some("mill"), "main::{{closure}}"),
        ("mill::run::{closure#0}::{closure#1}", Some("mill"), "run::{closure#0}::{closure#1}"),
        (
            "core::ptr::drop_in_place::<alloc::string::String>",
            Some("core::ptr"),
            "drop_in_place::<alloc::string::String>",
        ),
        (
            "core::ops::function::FnOnce::call_once{{vtable.shim}}",
            Some("core::ops::function::FnOnce"),
            "call_once{{vtable.shim}}",
        ),
        ("<dyn Fn() -> u8 as a::B>::f", Some("dyn Fn() -> u8"), "f"),
        // PHP
        ("{main}", None, "{main}"),
        ("php::strlen", Some("php"), "strlen"),
        ("A->f", Some("A"), "f"),
        ("App\\Model\\Base->__construct", Some("App\\Model\\Base"), "__construct"),
        ("App\\Model::find", Some("App\\Model"), "find"),
        ("App\\Util\\helper", Some("App\\Util"), "helper"),
        ("App\\{closure:/srv/t.php:5-5}", Some("App"), "{closure:/srv/t.php:5-5}"),
        ("{closure:/srv/main.php:18-18}", None, "{closure:/srv/main.php:18-18}"),
        ("require_once::/srv/lib.inc.php", None, "require_once::/srv/lib.inc.php"),
        ("class@anonymous\0/srv/x.php:3$0->run", Some("class@anonymous\0/srv/x.php:3$0"), "run"),
        // Java, C#, Python
        ("a.b.C.m(int, java.lang.String)", Some("a.b.C"), "m"),
        ("void a.b.C.m(int)", Some("a.b.C"), "m"),
        ("java.util.ArrayList.<init>", Some("java.util.ArrayList"), "<init>"),
        ("mod.Class.method", Some("mod.Class"), "method"),
        ("<module>", None, "<module>"),
        ("<built-in method builtins.print>", None, "<built-in method builtins.print>"),
        ("Class.method:12", Some("Class"), "method:12"),
        ("__init__ bzrlib.chk_map:1428", Some("bzrlib.chk_map"), "__init__"),
        ("<genexpr> bzrlib.graph:751", Some("bzrlib.graph"), "<genexpr>"),
        ("pull <<string>>:1", Some("<<string>>"), "pull"),
        ("main t.py:8", Some("t.py"), "main"),
        (
            "A::B::m(int)::{default arg#1}::{lambda()#1}::operator()() const",
            Some("A::B"),
            "m(int)::{default arg#1}::{lambda()#1}::operator()",
        ),
        (
            "foo(int)::{default arg#1}::{lambda()#1}::operator()() const",
            None,
            "foo(int)::{default arg#1}::{lambda()#1}::operator()",
        ),
        ("_GLOBAL__sub_I_main.cpp", None, "_GLOBAL__sub_I_main.cpp"),
        // Go
        ("runtime.mallocgc", Some("runtime"), "mallocgc"),
        ("main.(*Mill).Grind", Some("main.(*Mill)"), "Grind"),
        ("main.(*Mill).(main.grind)-fm", Some("main.(*Mill)"), "(main.grind)-fm"),
        ("github.com/a.b/c.(*D).f.func1", Some("github.com/a.b/c.(*D)"), "f.func1"),
        ("main.main.func1.2", Some("main"), "main.func1.2"),
        // Ruby
        ("A::B#f", Some("A::B"), "f"),
        ("Integer::==", Some("Integer"), "=="),
        ("Integer::<=>", Some("Integer"), "<=>"),
        ("Array#<<", Some("Array"), "<<"),
        // Perl, Objective-C, Erlang
        ("Pod::Man::__ANON__[Man.pm:12]", Some("Pod::Man"), "__ANON__[Man.pm:12]"),
        ("-[OS_xpc_object _dispose]", Some("OS_xpc_object"), "_dispose"),
        ("+[A(Extra) f:g:]", Some("A"), "f:g:"),
        ("{erl_eval,expr,5}", Some("erl_eval"), "expr,5"),
    ];
    for (name, expected_scope, expected_own) in cases {
        assert_eq!((scope(name), own_name(name)), (*expected_scope, *expected_own), "{name}");
    }
}

#[test]
fn mangled_names() {
    let cases: &[(&str, Option<&str>)] = &[
        ("_ZlsRSoRKSt4pairIKiiE", Some("operator<<(std::ostream&, std::pair<int const, int> const&)")),
        ("__ZN4Mill5grindEi", Some("Mill::grind(int)")),
        ("_ZN4core3ptr13drop_in_place17h27fb839db0e3832cE", Some("core::ptr::drop_in_place")),
        ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.99", Some("core::fmt::write")),
        ("_RNvMs_Cs1234_4millNtB4_5Stone5crush", Some("<mill::Stone>::crush")),
        // Demangled as C++ by a tool.
        ("core::mem::replace::h79a6efa01dd30640", Some("core::mem::replace")),
        (
            "_$LT$std..ptr..Shared$LT$T$GT$$u20$as$u20$std..ops..Deref$GT$::deref::hb3edae114b2ce247",
            Some("<std::ptr::Shared<T> as std::ops::Deref>::deref"),
        ),
        (
            "collections::slice::_$LT$impl$u20$$u5b$T$u5d$$GT$::as_mut_ptr::hc88ddf6da74260e0",
            Some("collections::slice::<impl [T]>::as_mut_ptr"),
        ),
        (
            "core::ptr::_$LT$impl$u20$$BP$const$u20$T$GT$::offset::ha1088b7ce73dbcc4",
            Some("core::ptr::<impl *const T>::offset"),
        ),
        (
            "std..rt..lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
            Some("std::rt::lang_start::{{closure}}"),
        ),
        ("a::$u110000$$uZZ$$LT::h0123456789abcdef", Some("a::$u110000$$uZZ$$LT")),
        ("a::b::h0123456789abcdeg", None),
        ("h0123456789abcdef", None),
        // Names of C that begin like mangled ones.
        ("_ZEROS", None),
        ("_Zs", None),
        ("_RpcHelper", None),
        ("_RulesSearcher", None),
        ("_RSAobj", None),
        ("_Z", None),
        ("_R", None),
        ("main", None),
        ("", None),
    ];
    for (name, expected) in cases {
        assert_eq!(demangle(name.as_bytes()).as_deref(), *expected, "{name}");
    }
}

#[test]
fn demangled_names_are_limited() {
    // Each level contains the one before it twice: 2^40 names in full.
    let mut name = "_Z1f".to_owned();
    name.push_str("St4pairIiiE");
    for level in 0..40 {
        let reference = match level {
            0 => "S_".to_owned(),
            _ => format!("S{}_", char::from_digit(level - 1, 36).unwrap_or('z').to_ascii_uppercase()),
        };
        name.push_str(&format!("St4pairI{reference}{reference}E"));
    }
    if let Some(text) = demangle(name.as_bytes()) {
        assert!(text.len() <= 1 << 16);
    }
    for nested in ["P", "K", "1aI", "St4pairI"] {
        let _ = demangle(format!("_Z1f{}", nested.repeat(4000 / nested.len())).as_bytes());
    }
    let _ = demangle(format!("_RNvC{}", "I".repeat(8000)).as_bytes());
}

#[test]
fn folding() {
    type Case<'a> = (&'a [u8], &'a [u8], &'a [u8]);
    let cases: &[Case<'_>] = &[
        (b"main", b"main", b"main"),
        (b"fib'2", b"fib", b"fib'2"),
        (b"fib'2'main'(below main)", b"fib'main'(below main)", b"fib'2"),
        (b"f'main'(below main)", b"f'main'(below main)", b"f"),
        (b"f'a'2'main", b"f'a'main", b"f"),
        (b"f'07'a", b"f'a", b"f'07"),
        (b"LateLintPass<'a> + 'a", b"LateLintPass<'a> + 'a", b"LateLintPass<'a> + 'a"),
        (b"", b"", b""),
    ];
    for (name, recursion, callers) in cases {
        assert_eq!(fold_recursion(name), *recursion, "{}", name.escape_ascii());
        assert_eq!(fold_callers(name), *callers, "{}", name.escape_ascii());
    }
}

#[test]
fn callers_are_demangled_as_well() {
    let symbol = Symbol::parse(b"_ZN1A1fEv'2'_ZN1B1gEv'main");
    assert_eq!(symbol.shown(), "A::f()'2'B::g()'main");
    assert_eq!((symbol.scope(), symbol.own_name()), (Some("A"), "f"));
    let symbol = Symbol::parse(b"caf\xe9");
    assert_eq!(symbol.shown(), "caf\u{fffd}");
}

#[test]
fn shortened_names() {
    let cases: &[(&str, usize, &str)] = &[
        ("main", 4, "main"),
        // The own name stays.
        ("main", 3, "main"),
        ("main", 0, "main"),
        ("<alloc::vec::Vec<mill::Stone> as core::ops::Drop>::drop", 34, "alloc::vec::Vec<mill::Stone>::drop"),
        ("<alloc::vec::Vec<mill::Stone> as core::ops::Drop>::drop", 24, "alloc::vec::Vec<…>::drop"),
        ("<alloc::vec::Vec<mill::Stone> as core::ops::Drop>::drop", 14, "…Vec<…>::drop"),
        ("<alloc::vec::Vec<mill::Stone> as core::ops::Drop>::drop", 10, "…drop"),
        ("core::iter::map::Map<I,F>::next::{{closure}}", 22, "…next::{{closure}}"),
        ("std::ostream& std::operator<< <char>(std::ostream&, char)", 26, "std::operator<< <char>(…)"),
        ("<built-in method builtins.print>", 16, "<built-in method builtins.print>"),
        ("{closure:/srv/main.php:18-18}", 12, "{closure:/srv/main.php:18-18}"),
        ("<genexpr> bzrlib.graph:751", 12, "<genexpr>"),
        ("a::b::c::d::own_name", 14, "…d::own_name"),
        ("a::very_long_own_name_of_it", 12, "…very_long_own_name_of_it"),
        ("com.example.mill.Stone.crush(int)", 16, "…Stone.crush"),
        ("main.(*Sieve).Run.func1", 14, "…Run.func1"),
        ("App\\Http\\Kernel->handle", 20, "…Http\\Kernel->handle"),
        ("int f(int) [clone .part.0]", 20, "f(…) [clone .part.0]"),
        ("int f(int) [clone .part.0]", 3, "f [clone .part.0]"),
        ("grind.constprop.0", 5, "grind.constprop.0"),
        ("T::operator()(int) const", 20, "T::operator()(…)"),
        ("a::{lambda(std::vector<int>)#1}::operator()(int) const", 33, "a::{lambda(…)#1}::operator()(…)"),
        ("void (anonymous namespace)::f(int)", 24, "(…)::f(…)"),
        // Levels and recorded callers are set apart.
        ("gen::collatz'2'gen::main", 40, "gen::collatz'2 ← gen::main"),
        ("f'a'2'(below main)", 40, "f ← a'2 ← (below main)"),
        ("gen::collatz'2'gen::main", 24, "gen::collatz'2 ← …main"),
        ("gen::collatz'2'gen::main", 19, "gen::collatz'2 ← …"),
        ("gen::collatz'2'gen::main", 10, "…collatz'2 ← …"),
        ("f'a'b'c", 12, "f ← a ← …"),
        ("A::'lambda'(int)", 40, "A::'lambda'(int)"),
        // Wide characters take two columns.
        ("磨::石::碾", 6, "…碾"),
    ];
    for (name, width, expected) in cases {
        assert_eq!(shorten(name, *width), *expected, "{name} in {width}");
    }
}

#[test]
fn rows_of_a_table_differ() {
    let fitted = |columns: usize, rows: &[(&str, &str, &str)]| -> Vec<String> {
        let label = |(id, &(name, file, object))| Label {
            name,
            file,
            object,
            place: PlaceForm::Path,
            columns,
            left_out: "",
            id,
        };
        let labels: Vec<_> = rows.iter().enumerate().map(label).collect();
        fit_labels(&labels).iter().map(ToString::to_string).collect()
    };
    let names = |columns, names: &[&'static str]| {
        fitted(columns, &names.iter().map(|name| (*name, "", "")).collect::<Vec<_>>())
    };
    // In template arguments, at any depth; in arguments, qualifiers and return types; in the scope; in callers.
    assert_eq!(
        names(20, &["f<A<long, B<int> > >(x)", "f<A<long, B<char> > >(x)"]),
        ["f<A<…, B<int> > >(…)", "f<A<…, B<char> > >"]
    );
    assert_eq!(names(8, &["ns::f(int, long)", "ns::f(int, char)"]), ["…f(…, long)", "…f(…, char)"]);
    assert_eq!(names(8, &["ns::T::f() const", "ns::T::f()"]), ["…f const", "ns::T::f"]);
    assert_eq!(names(6, &["int a::f<T>()", "long a::f<T>()"]), ["int a::f", "long a::f"]);
    assert_eq!(names(8, &["a::x::y::f", "b::x::y::f"]), ["a::x::y::f", "b::x::y::f"]);
    assert_eq!(
        names(8, &["f'aaaa'bbbbb'main", "f'aaaa'ccccc'main"]),
        ["f ← … ← bbbbb ← …", "f ← … ← ccccc ← …"]
    );
    assert_eq!(names(8, &["<A as X>::f", "<A as Y>::f"]), ["<A as X>::f", "<A as Y>::f"]);
    // Where names are equal, the place tells.
    let helpers = [("helper", "src/a.c", "mill"), ("helper", "src/b.c", "mill")];
    assert_eq!(fitted(6, &helpers), ["helper (a.c)", "helper (b.c)"]);
    let helpers = [("helper", "a/x.c", "mill"), ("helper", "b/x.c", "mill")];
    assert_eq!(fitted(6, &helpers), ["helper (a/x.c)", "helper (b/x.c)"]);
    let helpers = [("helper", "x.c", "/a/mill"), ("helper", "x.c", "/b/mill")];
    assert_eq!(fitted(6, &helpers), ["helper (x.c in /a/mill)", "helper (x.c in /b/mill)"]);
    let helpers = [("helper", "x.c", ""), ("helper", "", "")];
    assert_eq!(fitted(6, &helpers), ["helper (x.c)", "helper"]);
    let label = |id, file| Label {
        name: "helper",
        file,
        object: "",
        place: PlaceForm::None,
        columns: 80,
        left_out: "",
        id,
    };
    let names = |labels: &[Label<'_>]| fit_labels(labels).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&[label(0, "a.c")]), ["helper"]);
    assert_eq!(names(&[label(0, "a.c"), label(1, "b.c")]), ["helper (a.c)", "helper (b.c)"]);
    // Rows of the same function may read the same.
    let label = Label {
        name: "a::b::c",
        file: "",
        object: "",
        place: PlaceForm::Path,
        columns: 3,
        left_out: "",
        id: 7,
    };
    assert_eq!(
        fit_labels(&[label.clone(), label]).iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["…c", "…c"]
    );
}

/// Functions of one name and file show as many digits of their hashes as differ.
#[test]
fn hashes_set_apart() {
    let names = |hashes: &[&str], columns| {
        let label = |(id, left_out)| Label {
            name: "<core::option::Option<T>>::map",
            file: "src/option.rs",
            object: "",
            place: PlaceForm::Path,
            columns,
            left_out,
            id,
        };
        let labels: Vec<Label<'_>> = hashes.iter().copied().enumerate().map(label).collect();
        fit_labels(&labels).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let [one, two, three] = ["0123456789abcdef", "0123459999abcdef", "ff23456789abcdef"];
    assert_eq!(names(&[one], 80), ["<core::option::Option<T>>::map (src/option.rs)"]);
    assert_eq!(
        names(&[one, two, three], 80),
        [
            "<core::option::Option<T>>::map [h0123456] (src/option.rs)",
            "<core::option::Option<T>>::map [h0123459] (src/option.rs)",
            "<core::option::Option<T>>::map [hff23] (src/option.rs)",
        ]
    );
    assert_eq!(names(&[one, three], usize::MAX)[1], "<core::option::Option<T>>::map [hff23] (src/option.rs)");
    for columns in 0..80 {
        let shown = names(&[one, two, three], columns);
        assert!(shown.iter().all(|name| name.contains("map [h")), "{shown:?}");
        assert!(shown[0] != shown[1] && shown[1] != shown[2], "{shown:?}");
    }
    let copies = names(
        &[
            one,
            "0123456789abcdefE.llvm.A8832F56",
            "0123456789abcdefE.llvm.EA6B0160",
            "ff23456789abcdefE.llvm.EA6B0160",
        ],
        80,
    );
    assert_eq!(
        copies,
        [
            "<core::option::Option<T>>::map (src/option.rs)",
            "<core::option::Option<T>>::map [.llvm.A883] (src/option.rs)",
            "<core::option::Option<T>>::map [h0123.llvm.EA6B] (src/option.rs)",
            "<core::option::Option<T>>::map [hff23] (src/option.rs)",
        ]
    );
}

#[test]
fn more_columns_never_show_less() {
    let name = "void std::vector<std::pair<int, Mill>, std::allocator<Mill> >::push_back<A<B>>(Mill const&)'2'a::main'f";
    let mut before = String::new();
    for columns in 0..200 {
        let label = Label {
            name,
            file: "/usr/include/stl_vector.h",
            object: "/bin/mill",
            place: PlaceForm::Path,
            columns,
            left_out: "",
            id: 0,
        };
        let shown = fit_labels(&[label])[0].to_string();
        // All letters of the shorter one are in the longer one, in order.
        let mut rest = shown.chars();
        let is_part = before.chars().filter(|it| *it != '…').all(|it| rest.any(|other| other == it));
        assert!(is_part, "{before}\n{shown}");
        before = shown;
    }
    assert!(before.ends_with("'2 ← a::main ← f (/usr/include/stl_vector.h in mill)"), "{before}");
}

#[test]
fn names_of_the_corpus() {
    let mut names: BTreeSet<Vec<u8>> = BTreeSet::new();
    for file in files() {
        for record in Reader::new(&file.bytes).flatten() {
            if let Line::Name(key, name) = record.line
                && key.space() == NameSpace::Function
                && name.bytes().len() < 2000
            {
                names.insert(name.bytes().to_vec());
            }
        }
    }
    assert!(names.len() > 500);
    let (mut scopes, mut with_scope) = (BTreeSet::new(), 0);
    for name in &names {
        let symbol = Symbol::parse(name);
        let (text, own) = (symbol.text(), symbol.own_name());
        if let Some(scope) = symbol.scope() {
            assert!(text.contains(scope) && text.contains(own), "{text}");
            with_scope += 1;
            scopes.insert(scope.to_owned());
        }
        // The own name without its template arguments is always there.
        let bare = own.split(['<', '(', '{', '[']).next().unwrap().trim_end_matches(':');
        for width in [0, 20, 40, 60] {
            let short = shorten(text, width);
            assert!(own.starts_with("operator") || short.contains(bare), "{short} for {text}");
            assert!(shorten(text, width + 1).chars().count() >= short.chars().count(), "{short}");
        }
        assert_eq!(FunctionName::parse(fold_callers(name)).base(), symbol.parts().base());
        assert_eq!(FunctionName::parse(&fold_recursion(name)).base(), symbol.parts().base());
    }
    assert!(scopes.len() > 20 && with_scope > scopes.len());
    for scope in ["App\\Mill", "Mill", "mill::Blend<int, short>", "main.(*Sieve)"] {
        assert!(scopes.contains(scope), "{scope} is not among {scopes:?}");
    }
}

/// Names made of random parts of real names.
fn names() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "main",
        "::",
        "<",
        ">",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        " ",
        "->",
        "\\",
        ".",
        "#",
        "'",
        "2",
        "operator",
        "operator()",
        "const",
        " const",
        "&",
        "é",
        "…",
        "@",
        "/",
        ":",
        ",",
        "-",
        "=",
        "{{closure}}",
        "impl ",
        " for ",
        " as ",
        "17h",
        "h0123456789abcdef",
        "func1",
        "-[",
        "+[",
        "\"",
        " [clone",
        "lambda",
        "{lambda()#1}",
        "eval::",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

#[test]
fn types_with_letters_beyond_ascii_have_a_scope() {
    assert_eq!(scope("<é>::f"), Some("é"));
    assert_eq!(scope("<impl Größe for é>::f"), Some("é"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_name_is_parsed(name in names(), width in 0usize..30) {
        let own = own_name(&name);
        prop_assert!(name.contains(own));
        if let Some(scope) = scope(&name) {
            prop_assert!(name.contains(scope) && !scope.is_empty());
        }
        // The least is an end of the order: it is shown if nothing fits.
        let least = shorten(&name, 0);
        let short = shorten(&name, width);
        prop_assert!(short.width() <= width.max(least.width()), "{short:?} in {width}");
        let symbol = Symbol::parse(name.as_bytes());
        prop_assert!(!symbol.shown().is_empty() || name.is_empty());
    }

    #[test]
    fn folding_twice_is_folding_once(name in names()) {
        let name = name.as_bytes();
        let folded = fold_callers(name);
        prop_assert_eq!(fold_callers(folded), folded);
        prop_assert_eq!(FunctionName::parse(folded).base(), FunctionName::parse(name).base());
    }

    #[test]
    fn any_bytes_can_be_demangled(bytes in "_(Z|R|ZN|ZNK|ZSt|RNv|RIN)[A-Za-z0-9_]{0,60}") {
        let _ = demangle(bytes.as_bytes());
    }
}
