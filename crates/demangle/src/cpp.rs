//! Names of C++ by the Itanium ABI, which all compilers but Microsoft's have.
//!
//! A name is read into a tree ([`parser`]) and written from it ([`printer`]).

mod ast;
mod expressions;
mod names;
mod operators;
mod packs;
mod parser;
mod printer;
mod types;
mod written_expressions;

use parser::Parser;
use printer::Printer;

/// Demangles a name.
pub(crate) fn demangle(symbol: &str) -> Option<String> {
    let mut parser = Parser::new(symbol);
    let root = parser.whole()?;
    let mut printer = Printer::new(&parser.tree, symbol);
    printer.print(root).ok()?;
    Some(printer.text.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_that_gnu_tools_do_not_tell() {
        for (name, readable) in [
            // They lose the parameter of a constructor with a tag.
            ("_ZN2TgB2xxC2B2yyIiEET_1A", "Tg[abi:xx]::Tg[abi:yy]<int>(int, A)"),
            ("_ZGRN1A1xE_", "reference temporary #0 for A::x"),
            // They do not know what newer compilers write.
            ("_Z2ccIiQ3BigIT_EEvS0_", "void cc<int, requires Big<int> >(int)"),
            ("_Z2ccIiEvT_Q3BigIS0_E", "void cc<int>(int) requires Big<int>"),
            ("_Z2vvITnDaLi5EEvv", "void vv<5>()"),
            ("_ZNH2B21fES_", "B2::f(this B2)"),
            (
                "_ZZ4workiENKUlTk3BigT_E_clIiEEDaS_",
                "auto work(int)::{lambda<Big $T0>($T0)#1}::operator()<int>(int) const",
            ),
            ("_Z2ipIXadsoiL_Z2gaEEEEvv", "void ip<&(ga.<int at offset 0>)>()"),
            // They write an element that is not there.
            ("_ZN1SC2IdJEEET_DpT0_c", "S::S<double>(double, char)"),
            // They name the constructor after the name that was read last.
            (
                "_ZN1N4callINS_1CENS_1DEZNS1_C4EvEUlvE_EEvPT_PT0_T1_",
                "void N::call<N::C, N::D, N::C::C()::{lambda()#1}>(N::C*, N::D*, N::C::C()::{lambda()#1})",
            ),
            (
                "_Z1fISaIcE1DZNS0_D4EvEUlvE_EvT_T0_T1_",
                "void f<std::allocator<char>, D, std::allocator<char>::~allocator()::{lambda()#1}>(std::allocator<char>, D, std::allocator<char>::~allocator()::{lambda()#1})",
            ),
            // They write the lambda of one function with the argument of another.
            (
                "_ZSt11__addressofIKZN1SC4IiEERT_1BiEUliE_EPS2_S3_",
                "S::S<int>(int&, B, int)::{lambda(int)#1} const* std::__addressof<S::S<int>(int&, B, int)::{lambda(int)#1} const>(S::S<int>(int&, B, int)::{lambda(int)#1} const&)",
            ),
            (
                "_ZN2TTIiEC1IiiEET_ilDTplfL0p_Li1EE",
                "TT<int>::TT<int, int>(int, int, long, decltype ({parm#1}+(1)))",
            ),
        ] {
            assert_eq!(demangle(name).as_deref(), Some(readable), "{name}");
        }
    }

    #[test]
    fn constraints_of_several_templates_are_not_read() {
        for name in
            ["_ZN1WIiE1mIlQ4WithIT_TL0__EEElS2_", "_ZN1WIiE1kEvQ3BigIT_E", "_ZN1WIiE1mIlEEvT_Q3BigIS2_E"]
        {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_that_grows_without_end_stays_mangled() {
        // Each type has the one before it twice.
        let mut name = String::from("_Z1f1aIiiE");
        for digit in "0123456789ABCDEFGHIJ".chars() {
            name.push_str(&format!("S_IS{digit}_S{digit}_E"));
        }
        assert_eq!(demangle(&name), None);
    }

    #[test]
    fn changed_names_do_no_harm() {
        let names = [
            "_ZNSt8functionIFiiEEaSIZ4mainEUliE_EENSt9enable_ifIXsrNS1_9_CallableIT_NS4_IXntsrSt7is_sameINSt9remove_cvINSt16remove_referenceIS6_E4typeEE4typeES1_E5valueESt5decayIS6_EE4type4typeESt15__invoke_resultIRSJ_JiEEEE5valueERS1_E4typeEOS6_",
            "_ZSt12construct_atIlJRKlEEDTgsnwcvPvLi0E_T_pispcl7declvalIT0_EEEEPS3_DpOS4_",
            "_ZN1AcvT_IiEEvM1SFvPA4_PFvDpOT_EEDv4_fDB8_U3fooIiEcTL0__on",
        ];
        let mut seed: u64 = 4_711;
        let mut random = |limit: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % limit
        };
        for round in 0..20_000 {
            let mut name = names[round % names.len()].as_bytes().to_vec();
            for _ in 0..=random(4) {
                let (from, to) = (2 + random(name.len() - 2), 2 + random(name.len() - 2));
                match random(4) {
                    0 => name[to] = name[from],
                    1 => name.truncate(to.max(3)),
                    2 => name.insert(to, name[from]),
                    _ => {
                        let part = name[from.min(to)..from.max(to)].to_vec();
                        name.extend(part);
                    }
                }
            }
            let name = String::from_utf8(name).unwrap();
            if let Some(text) = demangle(&name) {
                assert!(text.len() <= (1 << 10) + 32 * name.len(), "{name}");
            }
        }
    }

    #[test]
    fn names_that_nest_without_end_are_refused() {
        for part in [
            "P", "K", "1aI", "St4pairI", "N", "L", "F", "cv", "X", "T_I", "Ul", "Z1f", "sr", "Dp", "DT",
            "RS_", "J", "Tp", "A1_M1a", "XsrN", "fL",
        ] {
            let _ = demangle(&format!("_Z1f{}", part.repeat(16_000 / part.len())));
            let _ = demangle(&format!("_ZN1a{}Ev", part.repeat(16_000 / part.len())));
            let _ = demangle(&format!("_Z1fI{}i", part.repeat(16_000 / part.len())));
        }
    }
}
