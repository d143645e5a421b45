//! Debug information that refers to the same tables, lists and texts again and again takes memory and work in proportion to the
//! file. No compiler is needed: the programs are made byte by byte.
#![cfg(target_os = "linux")]
// Tests may panic. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "proportion/made.rs"]
mod made;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use gristmill_code::{Binary, FileSystem, Locator, Matching, ProfileLine};
use peak_alloc::PeakAlloc;

use made::{Made, START, abbreviation, line_program, unit};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory is measured for the whole process, so one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const COUNT: usize = 2000;

const COMPILE_UNIT: u8 = 0x11;
const SUBPROGRAM: u8 = 0x2e;
const INLINED_SUBROUTINE: u8 = 0x1d;
const NAME: (u8, u8) = (0x03, 0x0e);
const LOW: (u8, u8) = (0x11, 0x01);
const SIZE: (u8, u8) = (0x12, 0x07);
const RANGES: (u8, u8) = (0x55, 0x17);
const LINES: (u8, u8) = (0x10, 0x17);
const FLAG: (u8, u8) = (0x3f, 0x19);
const CALL_LINE: (u8, u8) = (0x59, 0x0b);
const DWO_NAME: (u8, u8) = (0x03, 0x08);

const TOO_LARGE: &str = "its tables are larger than the file can hold";

/// Asks for the frames of addresses. Returns the last answer, and checks the memory that all take.
fn ask(made: &Made, addresses: impl Iterator<Item = u64>) -> Result<Vec<String>, String> {
    let bytes = made.bytes();
    let allowed = 64 * bytes.len() + (4 << 20);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let binary = Binary::from_bytes("mill", bytes).unwrap();
    let mut last = Ok(Vec::new());
    for address in addresses {
        last = binary.frames(address).map_err(|error| error.to_string());
    }
    let used = MEMORY.peak_usage() - before;
    assert!(used <= allowed, "{used} bytes, {allowed} are allowed");
    Ok(last?.iter().map(|frame| frame.function().unwrap_or("?").to_owned()).collect())
}

fn assert_too_large(answer: Result<Vec<String>, String>) {
    assert!(answer.as_ref().is_err_and(|error| error.contains(TOO_LARGE)), "{answer:?}");
}

#[test]
fn units_share_their_abbreviations() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut table = abbreviation(1, COMPILE_UNIT, false, &[]);
    (2..COUNT).for_each(|code| table.extend(abbreviation(code, 0x34, false, &[])));
    let mut made = Made::default();
    made.section(".debug_abbrev", table);
    made.section(".debug_info", unit(0, &[1]).repeat(COUNT));
    assert_eq!(ask(&made, [START].into_iter()), Ok(vec!["main".to_owned()]));
}

/// Each unit begins its table one entry later than the one before.
#[test]
fn tables_that_overlap_are_too_large() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let table: Vec<u8> = (1..COUNT).flat_map(|code| abbreviation(code, 0x34, false, &[])).collect();
    let starts = (1..COUNT).scan(0, |start, code| {
        let this = *start;
        *start += abbreviation(code, 0x34, false, &[]).len();
        Some(this)
    });
    let mut made = Made::default();
    made.section(".debug_info", starts.flat_map(|start| unit(start, &[1])).collect());
    made.section(".debug_abbrev", table);
    // The units have no code, so the address has the name of its symbol.
    assert_eq!(ask(&made, [START].into_iter()), Ok(vec!["main".to_owned()]));
}

#[test]
fn entries_have_a_limit_of_attributes() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = |count: usize| {
        let mut made = Made::default();
        let table = [
            abbreviation(1, COMPILE_UNIT, true, &[LOW, SIZE]),
            abbreviation(2, SUBPROGRAM, false, &vec![FLAG; count]),
        ];
        made.section(".debug_abbrev", table.concat());
        made.section(".debug_aranges", made::address_ranges(4096));
        made.section(".debug_info", unit(0, &[&made::unit_entry(4096)[..], &vec![2; COUNT], &[0]].concat()));
        ask(&made, [START].into_iter())
    };
    assert_eq!(answer(200), Ok(vec!["main".to_owned()]));
    assert_too_large(answer(300));
}

/// The lists have entries that are no range: they select a base.
#[test]
fn functions_cannot_share_a_long_list_of_ranges() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut made = Made::default();
    let table =
        [abbreviation(1, COMPILE_UNIT, true, &[LOW, SIZE]), abbreviation(2, SUBPROGRAM, false, &[RANGES])];
    made.section(".debug_abbrev", table.concat());
    made.section(".debug_ranges", [[0xff; 8], [0; 8]].concat().repeat(COUNT));
    let functions = [2, 0, 0, 0, 0].repeat(COUNT);
    made.section(".debug_info", unit(0, &[&made::unit_entry(4096)[..], &functions, &[0]].concat()));
    assert_too_large(ask(&made, [START].into_iter()));
}

#[test]
fn units_cannot_share_a_long_line_program() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let table = abbreviation(1, COMPILE_UNIT, false, &[LINES]);
    let directories = vec![b"a".to_vec(); 20 * COUNT];
    // Instructions that make no row.
    for program in [line_program(&directories, &[]), line_program(&[], &vec![6; 100 * COUNT])] {
        let mut made = Made::default();
        made.section(".debug_abbrev", table.clone());
        made.section(".debug_line", program);
        made.section(".debug_info", unit(0, &[1, 0, 0, 0, 0]).repeat(COUNT));
        made.section(".debug_aranges", made::address_ranges(4096));
        // The unit that has the address is read first or last, or not at all; the name is that of the symbol, or there is an error.
        let answer = ask(&made, [START].into_iter());
        assert!(
            answer.as_ref().is_err_and(|error| error.contains(TOO_LARGE)) || answer.is_ok(),
            "{answer:?}"
        );
    }
}

/// Each inlined function has its own part of one long text as its name, and each line its own file below one long directory.
#[test]
fn names_cannot_share_a_long_text() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let count = 20_000;
    let inlined = (0..count).flat_map(|nth: u32| {
        let low = START + u64::from(nth);
        [&[3][..], &(nth / 2).to_le_bytes(), &low.to_le_bytes(), &1_u64.to_le_bytes(), &[1]].concat()
    });
    let inlined: Vec<u8> = inlined.collect();
    let mut made = Made::default();
    let table = [
        abbreviation(1, COMPILE_UNIT, true, &[LOW, SIZE]),
        abbreviation(2, SUBPROGRAM, true, &[LOW, SIZE]),
        abbreviation(3, INLINED_SUBROUTINE, false, &[NAME, LOW, SIZE, CALL_LINE]),
    ];
    made.section(".debug_abbrev", table.concat());
    made.section(".debug_str", [&[b'a'; 60_000][..], &[0]].concat());
    let size = u64::from(count);
    let function = [&[2][..], &START.to_le_bytes(), &size.to_le_bytes()].concat();
    let entries = [&made::unit_entry(size)[..], &function, &inlined, &[0, 0]].concat();
    made.section(".debug_info", unit(0, &entries));
    assert_too_large(ask(&made, START..START + size));
}

#[test]
fn inlined_functions_have_a_limit_of_depth() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let depth = 10_000;
    let entry =
        [&[3, 0, 0, 0, 0][..], &START.to_le_bytes(), &4096_u64.to_le_bytes(), &[1]].concat().repeat(depth);
    let mut made = Made::default();
    let table = [
        abbreviation(1, COMPILE_UNIT, true, &[LOW, SIZE]),
        abbreviation(2, SUBPROGRAM, true, &[LOW, SIZE]),
        abbreviation(3, INLINED_SUBROUTINE, true, &[NAME, LOW, SIZE, CALL_LINE]),
    ];
    made.section(".debug_abbrev", table.concat());
    made.section(".debug_str", b"inner\0".to_vec());
    let function = [&[2][..], &START.to_le_bytes(), &4096_u64.to_le_bytes()].concat();
    let entries = [&made::unit_entry(4096)[..], &function, &entry, &vec![0; depth + 2]].concat();
    made.section(".debug_info", unit(0, &entries));
    let frames = ask(&made, [START].into_iter()).unwrap();
    assert_eq!((frames.len(), frames[0].as_str(), frames[128].as_str()), (129, "inner", "main"));
}

/// Every unit names one large file, in its own way.
#[test]
fn a_file_of_many_units_is_opened_once() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units");
    std::fs::create_dir_all(&folder).unwrap();
    let mut large = Made::default();
    large.section(".debug_info.dwo", vec![0; 4 << 20]);
    std::fs::write(folder.join("large.dwo"), large.bytes()).unwrap();
    let mut made = Made::default();
    made.section(".debug_abbrev", abbreviation(1, COMPILE_UNIT, false, &[LOW, SIZE, DWO_ID, GNU_DWO_NAME]));
    let units = (0..64_u64).flat_map(|nth| {
        let name = format!("{}/{}large.dwo\0", folder.display(), "./".repeat(usize::try_from(nth).unwrap()));
        let low = (START + nth).to_le_bytes();
        unit(0, &[&[1][..], &low, &1_u64.to_le_bytes(), &7_u64.to_le_bytes(), name.as_bytes()].concat())
    });
    made.section(".debug_info", units.collect());
    let path = folder.join("mill");
    std::fs::write(&path, made.bytes()).unwrap();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let binary = Binary::open(&path, &Locator::new(FileSystem)).unwrap();
    for address in START..START + 64 {
        let _ = binary.frames(address);
    }
    let used = MEMORY.peak_usage() - before;
    std::fs::remove_dir_all(Path::new(&folder)).unwrap();
    assert!(used < 3 * (4 << 20), "{used} bytes");
}

const DWO_ID: (u8, u8) = (0x31, 0x07);
const GNU_DWO_NAME: (u8, u8) = (0x30, DWO_NAME.1);

/// Each symbol has the rest of one long text as its name.
#[test]
fn symbols_cannot_share_a_long_name() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut made = Made::default();
    made.names = [&[0][..], &[b'a'; 100_000], &[0]].concat();
    made.symbols = (0..5000).map(|nth| (nth + 1, START + u64::from(nth % 4096), 1)).collect();
    let bytes = made.bytes();
    let allowed = 16 * bytes.len() + (4 << 20);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let binary = Binary::from_bytes("mill", bytes).unwrap();
    let line = ProfileLine { address: START + 9, function: b"main", line: None };
    let matching = Matching::new(&binary, &[line]).unwrap();
    assert!(!matching.agreement().is_same_build());
    let used = MEMORY.peak_usage() - before;
    assert!(used <= allowed, "{used} bytes, {allowed} are allowed");
    let problems: Vec<String> = binary.problems().iter().map(ToString::to_string).collect();
    let problem = "mill: symbol table is damaged: the names of its symbols are longer than the file can hold";
    assert_eq!(problems, [problem]);
}

/// A symbol around all others is found from the end of the file as from its start.
#[test]
fn functions_are_found_in_each_other() {
    let mut made = Made::default();
    let inner = (0..1000).map(|nth: u32| (0, START + 1 + 2 * u64::from(nth), 1));
    made.symbols =
        [(1, START, 4096)].into_iter().chain(inner.map(|(_, start, size)| (6, start, size))).collect();
    made.names = b"\0main\0inner\0".to_vec();
    let binary = Binary::from_bytes("mill", made.bytes()).unwrap();
    let name = |address: u64| binary.function(address).and_then(|function| function.readable_name());
    assert_eq!(name(START).as_deref(), Some("main"));
    assert_eq!(name(START + 1).as_deref(), Some("inner"));
    assert_eq!(name(START + 2).as_deref(), Some("main"));
    assert_eq!(name(START + 1999).as_deref(), Some("inner"));
    assert_eq!(name(START + 4095).as_deref(), Some("main"));
    assert_eq!(name(START + 4096), None);
}
