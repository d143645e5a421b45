//! The names of functions in a program file.

use std::path::Path;

/// The type of the section of an ELF file that lists all symbols. A strip removes it.
const SYMBOL_TABLE: u64 = 2;

/// `true` if the program of a command is an ELF file with a function `main`. `config` is the path of the configuration, in whose
/// folder the command will run.
pub(super) fn has_main(command: &[String], config: &Path) -> bool {
    let Some(program) = command.first().filter(|program| program.contains('/')) else { return false };
    let path = config.parent().unwrap_or(Path::new("")).join(program);
    // Reading a pipe or a device might not end.
    let bytes = if path.is_file() { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    let names = symbol_names(&bytes).unwrap_or_default();
    names.split(|&byte| byte == 0).any(|name| name == b"main")
}

/// Returns the names of the symbols of an ELF file of 64 bits, each ended by a zero.
fn symbol_names(elf: &[u8]) -> Option<&[u8]> {
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = elf.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    let offset = |number: u64| usize::try_from(number).ok();
    let (start, size, count) = (offset(number(0x28, 8)?)?, offset(number(0x3a, 2)?)?, number(0x3c, 2)?);
    let section = |index: u64| start.checked_add(offset(index)?.checked_mul(size)?);
    let is_table =
        |index: &u64| section(*index).and_then(|at| number(at.checked_add(4)?, 4)) == Some(SYMBOL_TABLE);
    let table = section((0..count).find(is_table)?)?;
    let names = section(number(table.checked_add(0x28)?, 4)?)?;
    let begin = offset(number(names.checked_add(0x18)?, 8)?)?;
    let length = offset(number(names.checked_add(0x20)?, 8)?)?;
    elf.get(begin..begin.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_machine_and_broken_ones() {
        let own = std::env::current_exe().unwrap();
        let command = [own.to_str().unwrap().to_owned()];
        assert_eq!(has_main(&command, Path::new("gristmill.toml")), cfg!(target_os = "linux"));
        let bytes = std::fs::read(own).unwrap();
        // Cut anywhere: without the table, or as it is.
        for end in (0..bytes.len().min(4096)).chain([bytes.len() / 2, bytes.len() - 1]) {
            assert!(
                symbol_names(&bytes[..end]).is_none_or(|names| Some(names) == symbol_names(&bytes)),
                "{end}"
            );
        }
        assert_eq!(symbol_names(b"#!/bin/sh\0main\0"), None);
        assert!(!has_main(&["true".to_owned()], Path::new("gristmill.toml")));
    }
}
