//! Any bytes are a program or an error: no panic, no endless loop, no memory out of proportion.
//!
//! Random bytes are rarely an object file, so an input is also put into a small one: an ELF file with code, whose sections of debug
//! information have the input as contents.
#![no_main]

use gristmill_code::{Architecture, Binary, Instructions, Syntax};
use libfuzzer_sys::fuzz_target;

include!("../sections/code.rs");

/// The address of the first section. The others follow it.
const BASE: u64 = 0x1000;

fuzz_target!(|data: &[u8]| {
    ask(data.to_vec());
    ask(elf(data));
    for architecture in [Architecture::X86, Architecture::X86_64, Architecture::Aarch64] {
        for syntax in [Syntax::Att, Syntax::Intel] {
            let code = &data[..data.len().min(1024)];
            let instructions =
                Instructions::new(architecture, code, BASE, syntax).expect("there is a decoder");
            let length: usize = instructions.map(|instruction| instruction.bytes().len()).sum();
            assert_eq!(length, code.len());
        }
    }
});

fn ask(bytes: Vec<u8>) {
    let Ok(binary) = Binary::from_bytes("fuzz", bytes) else { return };
    let functions = binary.functions();
    assert!(functions.is_sorted_by_key(|function| function.range().start));
    let starts = functions.iter().map(|function| function.range().start);
    let edges =
        binary.code_ranges().into_iter().flat_map(|range| [range.start, range.start + 1, range.end - 1]);
    let addresses: Vec<u64> = starts.take(16).chain(edges.take(16)).chain([0, u64::MAX]).collect();
    for address in addresses {
        if let Some(function) = binary.function(address) {
            assert!(function.range().contains(&address), "{function:?} {address:#x}");
            let _ = function.readable_name();
        }
        let _ = binary.line(address);
        if let Ok(frames) = binary.frames(address) {
            // Only the outermost function was not inlined.
            let outermost = frames.len().saturating_sub(1);
            assert!(
                frames.iter().enumerate().all(|(index, frame)| frame.is_inlined() == (index < outermost))
            );
            frames.iter().take(64).for_each(|frame| drop(frame.readable_function()));
        }
    }
    let _ = (binary.functions_named("main"), binary.build_id(), binary.debug_file(), binary.problems());
}

/// Makes an ELF file for x86-64 with these contents.
fn elf(data: &[u8]) -> Vec<u8> {
    let mut parts = data.split(|byte| *byte == MARK);
    let mut names = vec![0];
    let mut contents = vec![0; 64];
    // The first header is empty.
    let mut headers = vec![0; 64];
    for name in SECTIONS {
        let part = parts.next().unwrap_or_default();
        let name_offset = names.len() as u32;
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        // Code is loaded and runs.
        let (flags, address) = if name == ".text" {
            (6, BASE)
        } else if name == ".eh_frame" {
            (2, 0x8000)
        } else {
            (0, 0)
        };
        headers.extend(section_header(name_offset, 1, flags, address, contents.len(), part.len()));
        contents.extend_from_slice(part);
    }
    let name_offset = names.len() as u32;
    names.extend_from_slice(b".shstrtab\0");
    headers.extend(section_header(name_offset, 3, 0, 0, contents.len(), names.len()));
    contents.extend_from_slice(&names);
    let count = SECTIONS.len() as u16 + 2;
    let header_offset = contents.len() as u64;
    contents.extend(headers);

    let mut header = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // A shared library for x86-64, version 1, without segments.
    header.extend([3, 0, 62, 0, 1, 0, 0, 0]);
    header.extend([0; 16]);
    header.extend(header_offset.to_le_bytes());
    header.extend([0, 0, 0, 0, 64, 0, 56, 0, 0, 0, 64, 0]);
    header.extend(count.to_le_bytes());
    header.extend((count - 1).to_le_bytes());
    contents[..64].copy_from_slice(&header);
    contents
}

fn section_header(name: u32, kind: u32, flags: u64, address: u64, offset: usize, size: usize) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(name.to_le_bytes());
    header.extend(kind.to_le_bytes());
    for number in [flags, address, offset as u64, size as u64, 0, 1, 0] {
        header.extend(number.to_le_bytes());
    }
    header
}
