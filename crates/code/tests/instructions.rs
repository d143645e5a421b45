//! Instructions are those of `objdump -d`.
#![cfg(target_os = "linux")]
// Tests may panic and print. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gristmill_code::{ControlFlow, Instruction, Syntax};
use harness::{builds, directory, has_tools, installed, is_thorough, open, run};

/// Words that `objdump` writes before a mnemonic.
const PREFIXES: [&str; 19] = [
    "data16", "addr32", "cs", "ds", "es", "fs", "gs", "ss", "lock", "rep", "repz", "repnz", "bnd", "notrack",
    "rex.W", "rex", "repe", "xacquire", "xrelease",
];

/// The last letters of string instructions.
const SIZES: [char; 4] = ['b', 'w', 'd', 'q'];

/// The answer of `objdump -d` for each address: length and mnemonic.
fn objdump(path: &Path, syntax: Syntax) -> BTreeMap<u64, (usize, String)> {
    let mut command = Command::new("objdump");
    command.args(["-d", "-w"]).arg(path);
    if syntax == Syntax::Intel {
        command.args(["-M", "intel"]);
    }
    let text = run(&mut command);
    let mut instructions = BTreeMap::new();
    for line in text.lines() {
        let mut columns = line.trim_start().split('\t');
        let (Some(address), Some(bytes)) = (columns.next(), columns.next()) else { continue };
        let Some(address) = address.strip_suffix(':').and_then(|text| u64::from_str_radix(text, 16).ok())
        else {
            continue;
        };
        let words = columns.next().unwrap_or_default().split_whitespace();
        let mnemonic = words.clone().find(|word| !PREFIXES.contains(word) && !word.starts_with("rex"));
        let length = bytes.split_whitespace().count();
        instructions.insert(address, (length, mnemonic.unwrap_or_default().to_owned()));
    }
    instructions
}

/// Compares every `step`th function.
fn compare(path: &Path, syntax: Syntax, step: usize) {
    let expected = objdump(path, syntax);
    let binary = open(path);
    let mut differences: BTreeMap<String, (usize, Instruction)> = BTreeMap::new();
    let mut count = 0;
    for function in binary.functions().iter().step_by(step) {
        let range = function.range();
        for instruction in binary.instructions(range.clone(), syntax).unwrap() {
            let known = expected.get(&instruction.address());
            count += 1;
            let found = (instruction.bytes().len(), instruction.mnemonic().to_owned());
            // In this syntax, objdump mixes in names of the other one: `movabs rcx,1` and `rep movs`.
            let is_mixed = |known: &(usize, String)| {
                syntax == Syntax::Intel
                    && known.0 == found.0
                    && (known.1 == "movabs" && found.1 == "mov"
                        || found.1.strip_suffix(SIZES) == Some(&known.1))
            };
            if known.is_none_or(|known| *known != found) && !known.is_some_and(is_mixed) {
                let difference = format!("objdump {known:?}, here {found:?}");
                differences.entry(difference).or_insert_with(|| (0, instruction.clone())).0 += 1;
            }
        }
    }
    for (difference, (count, first)) in &differences {
        println!("{count} times {difference}, first {:#x} {first} {:x?}", first.address(), first.bytes());
    }
    assert!(count > 0, "{}", path.display());
    assert!(differences.is_empty(), "{}: {} kinds of differences", path.display(), differences.len());
}

#[test]
fn instructions_of_compiled_programs_are_those_of_objdump() {
    if !has_tools(&["objdump"]) {
        return;
    }
    let directory = directory("instructions");
    for build in builds() {
        let path = build.compile(&directory);
        let step = if is_thorough() { 1 } else { 7 };
        compare(&path, Syntax::Att, step);
        compare(&path, Syntax::Intel, step * 3);
    }
}

#[test]
fn instructions_of_installed_programs_are_those_of_objdump() {
    if !has_tools(&["objdump"]) {
        return;
    }
    for path in installed() {
        compare(&path, Syntax::Att, if is_thorough() { 1 } else { 97 });
    }
}

#[test]
fn instructions_for_aarch64_are_those_of_llvm() {
    if !has_tools(&["llvm-mc", "llvm-objdump"]) {
        return;
    }
    let path = directory("aarch64").join("mill.o");
    let mut assembler = Command::new("llvm-mc");
    assembler.args(["-triple=aarch64", "-mattr=+lse", "-filetype=obj", "-o"]).arg(&path);
    run(assembler.arg(harness::source("mill.aarch64.s")));
    let text =
        run(Command::new("llvm-objdump").args(["-d", "--mattr=+lse", "--no-show-raw-insn"]).arg(&path));
    let binary = open(&path);
    let function = &binary.functions_named("grind")[0];
    let mut instructions = binary.instructions(function.range(), Syntax::Att).unwrap();
    for line in text.lines() {
        let Some((address, text)) = line.trim_start().split_once(':') else { continue };
        let Ok(address) = u64::from_str_radix(address, 16) else { continue };
        let mut words = text.split_whitespace();
        // LLVM has its own names for two conditions; binutils has those of the manual.
        let mnemonic = match words.next().unwrap() {
            "b.hs" => "b.cs",
            "b.lo" => "b.cc",
            mnemonic => mnemonic,
        };
        let instruction = instructions.next().unwrap();
        assert_eq!((instruction.address(), instruction.mnemonic()), (address, mnemonic), "{instruction}");
        let is_direct = mnemonic == "b"
            || mnemonic == "bl"
            || mnemonic.starts_with("b.")
            || mnemonic.starts_with(['c', 't']);
        let target = text.split("0x").nth(1).filter(|_| is_direct && text.contains(" <"));
        let target =
            target.map(|text| u64::from_str_radix(text.split_whitespace().next().unwrap(), 16).unwrap());
        assert_eq!(instruction.target(), target, "{instruction} {text}");
        let flow = match mnemonic {
            "b" | "br" => ControlFlow::Jump,
            "bl" | "blr" => ControlFlow::Call,
            "ret" => ControlFlow::Return,
            "svc" | "brk" => ControlFlow::Interrupt,
            _ if target.is_some() => ControlFlow::Branch,
            _ => ControlFlow::Next,
        };
        assert_eq!(instruction.flow(), flow, "{instruction}");
    }
    assert!(instructions.next().is_none());
}
