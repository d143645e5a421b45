//! Compares names of C++ with those of the demangler of GNU tools.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use gristmill_demangle::Mangled;

/// Runs a tool. `None` if it is not there; in CI it is.
fn output_of(words: &[&str], input: &str) -> Option<String> {
    let started = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(_) => {
            assert!(std::env::var_os("GRISTMILL_CI").is_none(), "{} is missing", words[0]);
            eprintln!("skipped: {} is missing", words[0]);
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the names of a list as both demanglers write them, without differences that are known: the GNU tools write streams and
/// strings in full, and no space between `>>` behind a pack without elements.
fn compared(names: &[&str]) -> Option<Vec<(String, String)>> {
    let theirs = output_of(&["c++filt"], &(names.join("\n") + "\n"))?;
    let plain = |text: &str| {
        let text = text.replace("__cxx11::basic_", "__cxx11::");
        let text = text
            .replace("std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
        let streams = ["istream", "ostream", "iostream"];
        let text = streams.iter().fold(text, |text, stream| {
            text.replace(
                &format!("std::basic_{stream}<char, std::char_traits<char> >"),
                &format!("std::{stream}"),
            )
        });
        text.replace(" >", ">")
    };
    let ours = |name: &str| Mangled::of(name.as_bytes()).and_then(Mangled::demangle);
    Some(
        names
            .iter()
            .zip(theirs.lines())
            .map(|(&name, theirs)| (plain(&ours(name).unwrap_or_else(|| name.to_owned())), plain(theirs)))
            .collect(),
    )
}

fn assert_equal(names: &[&str]) {
    let pairs = compared(names).unwrap_or_default();
    let different: Vec<_> = pairs.iter().filter(|(ours, theirs)| ours != theirs).collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn names_of_the_standard_library_are_those_of_gnu_tools() {
    let Some(path) = output_of(&["g++", "-print-file-name=libstdc++.so.6"], "") else { return };
    let Some(symbols) = output_of(&["nm", "-D", "--no-demangle", path.trim()], "") else { return };
    let mut names: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(|name| name.split('@').next().unwrap_or(name))
        .filter(|name| name.starts_with("_Z"))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() > 3_000, "{} names in {path}", names.len());
    let Some(pairs) = compared(&names) else { return };
    let different: Vec<_> = pairs.iter().filter(|(ours, theirs)| ours != theirs).collect();
    assert!(
        different.is_empty(),
        "{} of {}: {:#?}",
        different.len(),
        pairs.len(),
        &different[..different.len().min(10)]
    );
    // Different names stay different.
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for (ours, theirs) in &pairs {
        assert_eq!(known.entry(ours).or_insert(theirs), theirs);
    }
}

#[test]
fn names_of_all_kinds_are_those_of_gnu_tools() {
    assert_equal(&[
        // Constructors that are templates, and those of a base.
        "_ZN1SC1IiEEiT_",
        "_ZN1SC2IJidEEEDpT_",
        "_ZN1DCI11BIlEIcEEiT_",
        "_ZN1DCI11BIlEIcEEPcT_",
        "_ZN4TaskC2IZL3runvEUlvE_EET_i",
        "_ZN3OrdC2ILSt12memory_order2EEEii",
        "_ZN1CC1IDv4_fEET_i",
        "_ZN1CC1IXadL_ZN2ns2nvEEEEEii",
        "_ZN5ScaleILd3ff8000000000000EEC1IdEET_",
        // Lambdas with parameters of any type, and references to them.
        "_ZZ4mainENKUlT_E_clIiEEDaS_",
        "_ZSt7forwardIOZ4mainEUlOT_E_EvS2_",
        "_ZZ4mainENKUlDpT_E_clIJidEEEDaS0_",
        "_ZZ4mainENKUlTyT_E_clIiEEDaS_",
        "_ZZ4mainENKUlTyTyT_T0_T1_E_clIiicEEDaS_S0_",
        "_ZZ4mainENKUlTniT_E_clILi5EEEDai",
        "_ZZ4mainENKUlTpTyDpT_E_clIJidEEEDaS0_",
        "_ZN1AUt_C1Ev",
        "_ZZ1fvENUt_1gEv",
        "_ZZN1A1fEiEd_NKUlvE_clEv",
        // Functions for an object, with exceptions.
        "_Z1fIM1SKDoFiiEEiT_P1AS4_",
        "_Z1fIM1SKDoFiiEEiT_P1AS5_",
        "_Z1fM1SVKFivREPDoFvvE",
        // Modules.
        "_ZGIW3fooW3bar",
        "_ZN1NW3fooW3bar1S1tIdEEiT_",
        "_ZN1NW3fooW3bar1fENS_S1_1SEPi",
        "_ZN1NW3fooW3bar1gIiEET_S3_NS_S1_1SE",
        "_ZW3fooW3bar6hiddenN1NS0_1SE",
        "_ZZN1NW3fooW3bar1hEvENKUlNS_S1_1SEE_clES2_",
        // Packs.
        "_Z1pIJidEEvDp1LIT_E",
        "_Z1pIJidEEv1LIJDpT_EE",
        "_Z1pIJidEEvDpRKT_",
        // References of references, pointers to functions, arrays and members.
        "_Z1fIRiEvOT_",
        "_Z1fIOiEvOT_",
        "_Z1fIRA4_iEvOT_",
        "_Z1gPFvPFivEEPA3_A2_i",
        "_Z1gM1SFvvEM1SiM1SKFvvE",
        "_Z1fIiEPFivET_",
        "_Z1hRKPKcVKPi",
        "_Z1hPFvvOERDoFvvE",
        // Operators, conversions, and what the compiler makes.
        "_ZlsIcERSoS0_T_",
        "_ZN1AcvT_IiEEv",
        "_ZN1AcvPKcEv",
        "_ZNK1AcvbEv",
        "_Zli2_mPKc",
        "_ZnwmSt11align_val_t",
        "_ZssRK1AS1_",
        "_ZThn16_N1A1fEv",
        "_ZTv0_n24_N1A1fEv",
        "_ZTch0_h8_N1A1fEv",
        "_ZTC1A8_1B",
        "_ZGVZ1fvE1x",
        "_ZTW1x",
        "_ZN12_GLOBAL__N_11fEv",
        "_ZN1AB5cxx111fB3abiEv",
        "_ZDC1a1bE",
        // Types of the language and of vendors.
        "_Z1fDnDiDsDuDhg",
        "_Z1fU8__vectorfCdz",
        "_Z1fDv4_fDF16_",
        // Expressions.
        "_Z1fIiEDTplfp_Li1EET_",
        "_Z1fIiEDTcl1gfp_EET_",
        "_Z1fIiEDTcldtfp_1gEET_",
        "_Z1fIiENSt9enable_ifIXsr3std9is_signedIT_EE5valueES1_E4typeES1_",
        "_Z1fIiENSt9enable_ifIXsrSt9is_signedIT_E5valueES1_E4typeES1_",
        "_Z1fILi5ELj5ELl5ELm5ELx5ELy5ELb1ELc65ELin5EEvv",
        "_Z1fIXgtLi5ELi4EEEvv",
        "_Z1fIJilEEvDpT_PAsZT__i",
        "_Z2uuIXtl1Udi1aLi1EEEEvv",
        "_Z2d8IiEDTgsnwLDnE_T_ilfp_EES0_",
        "_Z1fIiEDTawfp_ET_",
        "_Z1fIiEDTsc4LongfL_p_ET_",
        "_Z1fIiEvDTnw_T_pifp_EE",
        // Copies and parts.
        "_ZN1A1fEv.part.0",
        "_ZN1A1fEv.constprop.0.isra.1",
        "_ZN1A1fEv.llvm.123",
        "_ZN1A1fEv.cold",
        "_ZN1A1fEv.",
        "_ZZN1A1fEvENKUlvE_clEv.lto_priv.0",
        // No name.
        "_Z",
        "_ZN",
        "_ZEROS",
        "_ZN1A",
        "_Z1fS5_",
        "_Z1fT_",
    ]);
}
