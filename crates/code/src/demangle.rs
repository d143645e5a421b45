//! Demangling of C++ and Rust.

use gristmill_demangle::Mangled;

/// Demangles a name of C++ or Rust. `None` if the name is not mangled.
///
/// ```
/// assert_eq!(gristmill_code::demangle(b"_ZN4mill5grindEv").as_deref(), Some("mill::grind()"));
/// assert_eq!(gristmill_code::demangle(b"main"), None);
/// ```
pub fn demangle(name: &[u8]) -> Option<String> {
    let mangled = Mangled::of(name)?;
    let Mangled::Cpp(symbol) = mangled else { return mangled.demangle() };
    // The version of a symbol stays as it is.
    let (mangled, version) = symbol.split_at(symbol.find('@').unwrap_or(symbol.len()));
    Mangled::Cpp(mangled).demangle().map(|text| text + version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_and_rust_are_demangled() {
        for (name, readable) in [
            ("_ZN5stone5crushEv", "stone::crush()"),
            ("_ZN5stone5crushEv.part.0", "stone::crush() [clone .part.0]"),
            ("_Z3genPZ3geniE13_Z3geni.Frame.actor", "gen(gen(int)::_Z3geni.Frame*) [clone .actor]"),
            ("_ZN5stone5crushEv@@GLIBCXX_3.4", "stone::crush()@@GLIBCXX_3.4"),
            ("__ZN5stone5crushEv", "stone::crush()"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvC4mill4main", "mill::main"),
            ("_ZN1SC1IiEEiT_", "S::S<int>(int, int)"),
            ("_ZZN1SC1IiEEiT_ENKUlvE_clEv", "S::S<int>(int, int)::{lambda()#1}::operator()() const"),
            ("_ZN1SC2IiEEiT_.cold", "S::S<int>(int, int) [clone .cold]"),
            (
                "_ZNSt10unique_ptrI1WSt14default_deleteIS0_EEC2IS2_vEEPS0_",
                "std::unique_ptr<W, std::default_delete<W> >::unique_ptr<std::default_delete<W>, void>(W*)",
            ),
            (
                "_Z4callIZN3LamC4IiEEPT_1AEUlvE_EvS2_",
                "void call<Lam::Lam<int>(int*, A)::{lambda()#1}>(Lam::Lam<int>(int*, A)::{lambda()#1})",
            ),
            ("_ZN2TgB2xxC2B2yyIiEET_1A", "Tg[abi:xx]::Tg[abi:yy]<int>(int, A)"),
            // A lambda of a static function, constants, vectors, arrays and addresses as arguments.
            ("_ZN4TaskC2IZL3runvEUlvE_EET_i", "Task::Task<run()::{lambda()#1}>(run()::{lambda()#1}, int)"),
            ("_ZN3OrdC2ILSt12memory_order2EEEii", "Ord::Ord<(std::memory_order)2>(int, int)"),
            ("_ZN1CC1IDv4_fEET_i", "C::C<float __vector(4)>(float __vector(4), int)"),
            ("_ZN1CC1I1WIA_iEEET_i", "C::C<W<int []> >(W<int []>, int)"),
            ("_ZN1CC1IXadL_ZN2ns2nvEEEEEii", "C::C<&ns::nv>(int, int)"),
            // Classes and functions whose names look like that of a constructor.
            ("_ZN3C1IC1Ei", "C1I::C1I(int)"),
            ("_ZN3C1I3fooEi", "C1I::foo(int)"),
            ("_ZN3C1I3fooIiEEiT_", "int C1I::foo<int>(int)"),
        ] {
            assert_eq!(demangle(name.as_bytes()).as_deref(), Some(readable), "{name}");
        }
        for name in ["main", "_start", "_Z", "_R", "", "_ZN", "puts@plt"] {
            assert_eq!(demangle(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn a_name_that_grows_without_end_stays_mangled() {
        // Each substitution doubles the one before it.
        let mut name = String::from("_Z1fISt4pairIiiE");
        for id in 0..24 {
            let seq = if id == 0 {
                "S0_".to_owned()
            } else {
                format!("S{}_", char::from_digit(id, 36).unwrap().to_uppercase())
            };
            name.push_str(&format!("St4pairI{seq}{seq}E"));
        }
        name.push_str("Evv");
        // 1,024 bytes and 32 for each of the name's.
        assert!(demangle(name.as_bytes()).is_none_or(|text| text.len() <= 1024 + 32 * name.len()));
    }
}
