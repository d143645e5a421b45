//! Damaged and hostile files are errors: no panic, no endless loop, no memory out of proportion.
#![cfg(target_os = "linux")]
// Tests may panic and print. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use gristmill_code::{Binary, ErrorKind, FileSource as _, FileSystem, Locator, Syntax};
use harness::{compile, directory, has_tools, is_thorough, open, run};

/// Asks a program everything. Errors are fine.
fn ask(bytes: Vec<u8>) {
    let Ok(binary) = Binary::from_bytes("mill", bytes) else { return };
    let functions = binary.functions();
    let starts = functions.iter().map(|function| function.range().start);
    let edges =
        binary.code_ranges().into_iter().flat_map(|range| [range.start, range.start + 4, range.end - 1]);
    let addresses: Vec<u64> = starts.take(40).chain(edges.take(40)).chain([0, 1, u64::MAX]).collect();
    for address in addresses {
        let _ = binary.function(address);
        let _ = binary.aliases(address);
        let _ = binary.line(address);
        let _ = binary.frames(address);
        if let Ok(instructions) = binary.instructions(address..address.saturating_add(64), Syntax::Intel) {
            instructions.for_each(drop);
        }
    }
    let _ = binary.functions_named("main");
    let _ = (binary.build_id(), binary.debug_file(), binary.problems());
}

#[test]
fn truncated_and_changed_programs_are_no_danger() {
    if !has_tools(&["gcc"]) {
        return;
    }
    let directory = directory("truncated");
    let path = directory.join("mill");
    compile("gcc", "-g -O2", "mill.c", &path);
    let whole = fs::read(&path).unwrap();
    ask(whole.clone());
    let step = if is_thorough() { 31 } else { 997 };
    for length in (0..whole.len()).step_by(step) {
        ask(whole[..length].to_vec());
    }
    // A xorshift generator: the same changes in each run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..if is_thorough() { 3000 } else { 60 } {
        let mut bytes = whole.clone();
        for _ in 0..random() % 40 + 1 {
            let at = usize::try_from(random() % bytes.len() as u64).unwrap();
            bytes[at] = u8::try_from(random() & 0xff).unwrap();
        }
        ask(bytes);
    }
}

/// Links a library from assembler text that has its own debug information.
fn assemble(directory: &Path, text: &str) -> Binary {
    fs::write(directory.join("x.s"), text).unwrap();
    let arguments = ["-shared", "-nostdlib", "x.s", "-o", "x.so"];
    run(Command::new("gcc").args(arguments).current_dir(directory));
    open(&directory.join("x.so"))
}

/// The start of assembler text: code of 64 bytes, and abbreviations 1 (unit), 2 (function with a name), 3 (inlined function that
/// refers to another entry).
const HEAD: &str = "
    .text
    .globl grind
    .type grind, @function
grind:
    .fill 64, 1, 0x90
    .size grind, 64
    .section .debug_abbrev,\"\",@progbits
    .uleb128 1; .uleb128 0x11; .byte 1; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 6; .byte 0, 0
    .uleb128 2; .uleb128 0x2e; .byte 1; .uleb128 3; .uleb128 8; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 6; .byte 0, 0
    .uleb128 3; .uleb128 0x1d; .byte 1; .uleb128 0x31; .uleb128 0x13; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 6; .byte 0, 0
    .byte 0
    .section .debug_info,\"\",@progbits
start:
    .long end - after
after:
    .short 4
    .long 0
    .byte 8
    .uleb128 1; .quad grind; .long 64
    .uleb128 2; .asciz \"grind\"; .quad grind; .long 64
";

#[test]
fn inlined_functions_can_be_nested_deeper_than_the_stack() {
    if !has_tools(&["gcc"]) {
        return;
    }
    const DEPTH: usize = 100_000;
    let directory = directory("nested");
    let text = format!(
        "{HEAD}
    .rept {DEPTH}
    .uleb128 3; .long 0; .quad grind; .long 64
    .endr
    .fill {DEPTH} + 2, 1, 0
end:
"
    );
    let binary = assemble(&directory, &text);
    let small_stack = std::thread::Builder::new().stack_size(128 << 10);
    let thread = small_stack.spawn(move || {
        let start = binary.functions_named("grind")[0].range().start;
        binary.frames(start).unwrap().len()
    });
    // Of the chain, the outermost ones are taken.
    assert_eq!(thread.unwrap().join().unwrap(), 129);
}

#[test]
fn entries_that_refer_to_each_other_have_no_name() {
    if !has_tools(&["gcc"]) {
        return;
    }
    let directory = directory("references");
    let text = format!(
        "{HEAD}
first:
    .uleb128 3; .long second - start; .quad grind; .long 32
    .byte 0
second:
    .uleb128 3; .long first - start; .quad grind + 32; .long 32
    .byte 0, 0, 0
end:
"
    );
    let binary = assemble(&directory, &text);
    let start = binary.functions_named("grind")[0].range().start;
    for address in [start, start + 32] {
        let chain = binary.frames(address).unwrap();
        let names: Vec<_> = chain.iter().map(|frame| frame.function()).collect();
        assert_eq!(names, [None, Some("grind")]);
    }
}

#[test]
fn a_section_that_expands_out_of_proportion_is_an_error() {
    if !has_tools(&["gcc", "objdump"]) {
        return;
    }
    let directory = directory("bomb");
    let path = directory.join("mill");
    compile("gcc", "-g -O2 -gz=zlib", "mill.c", &path);
    let headers = run(Command::new("objdump").arg("-h").arg(&path));
    let line = headers.lines().find(|line| line.contains(" .debug_info ")).unwrap();
    let offset = usize::from_str_radix(line.split_whitespace().nth(5).unwrap(), 16).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // The header is type, padding, size, alignment. The limit is 1 MB and 128 times the compressed size.
    bytes[offset + 8..offset + 16].copy_from_slice(&(8_u64 << 30).to_le_bytes());
    let binary = Binary::from_bytes("mill", bytes).unwrap();
    let main = binary.functions_named("main")[0].range().start;
    let error = binary.frames(main).unwrap_err();
    let ErrorKind::TooLarge { part, bytes, limit } = error.kind() else { panic!("{error}") };
    assert_eq!((part.as_str(), *bytes), (".debug_info", 8 << 30));
    assert!(*limit < 2 << 20, "{limit}");
}

#[test]
fn a_sparse_file_is_read_where_it_has_something() {
    if !has_tools(&["gcc"]) {
        return;
    }
    let directory = directory("sparse");
    let path = directory.join("mill");
    compile("gcc", "-g -O2", "mill.c", &path);
    let expected = harness::chains(&open(&path));
    File::options().write(true).open(&path).unwrap().set_len(10 << 30).unwrap();
    assert_eq!(harness::chains(&open(&path)), expected);

    let empty = directory.join("empty");
    File::create(&empty).unwrap().set_len(10 << 30).unwrap();
    let error = Binary::open(&empty, &Locator::new(FileSystem)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotAnObject(_)), "{error}");
}

#[test]
fn only_regular_files_are_opened() {
    let directory = directory("pipe");
    let pipe = directory.join("pipe");
    run(Command::new("mkfifo").arg(&pipe));
    for path in
        [pipe.as_path(), Path::new("/dev/zero"), &directory, &directory.join("none"), &pipe.join("none")]
    {
        assert!(FileSystem.open(path).unwrap().is_none(), "{}", path.display());
    }
}

/// Reading `/proc/kmsg` waits for a message of the system, and `/proc/self/pagemap` goes on for terabytes.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_the_system_counts_as_empty() {
    for path in ["/proc/self/status", "/proc/self/pagemap", "/proc/self/mem"] {
        assert_eq!(FileSystem.open(Path::new(path)).unwrap().unwrap().len(), 0, "{path}");
        let error = Binary::open(path, &Locator::new(FileSystem)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotAnObject(_)), "{error}");
    }
}

/// A mapped file shows later writes; one that was read does not.
#[cfg(unix)]
#[test]
fn files_above_the_limit_are_mapped() {
    let path = directory("limit").join("file");
    std::fs::write(&path, [b'a'; 5000]).unwrap();
    let open = |limit| FileSystem.open_within(&path, limit).unwrap().unwrap();
    let (read, mapped) = (open(5000), open(4999));
    assert_eq!(read[..], mapped[..]);
    File::options().write(true).open(&path).unwrap().write_all(b"b").unwrap();
    assert_eq!((read[0], mapped[0]), (b'a', b'b'));
}

#[test]
fn what_is_not_linked_has_no_lines() {
    if !has_tools(&["gcc"]) {
        return;
    }
    let path = directory("unlinked").join("mill.o");
    compile("gcc", "-g -c", "mill.c", &path);
    let error = open(&path).frames(0).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::NotLinked);
}
