//! Programs that were built with a sanitizer. Its memory is at addresses where the engine has its own, or it stops the threads of the
//! program from outside.

use std::path::Path;

use gristmill_code::FileSystem;
use object::elf;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
use object::{Object as _, ObjectSymbol as _};

use crate::refusal::Refusal;

/// The libraries and the functions of sanitizers that the engine cannot run. That for undefined behavior needs none of this.
const LIBRARIES: [&[u8]; 4] = [b"libasan.so", b"libhwasan.so", b"liblsan.so", b"libtsan.so"];
const FUNCTIONS: [&[u8]; 5] =
    [b"__asan_init", b"__hwasan_init", b"__lsan_init", b"__msan_init", b"__tsan_init"];

/// Refuses a program that was built with one. All symbols are searched, so this is for the process that decides, and not repeated by the one
/// that runs the program.
pub(crate) fn refuse(program: &Path) -> Result<(), Refusal> {
    match find(program) {
        Some(sanitizer) => Err(Refusal::new(format!(
            "{} was built with a sanitizer ({sanitizer}), which needs the process for itself",
            program.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the library, or the function, of a sanitizer that a program is linked with.
fn find(program: &Path) -> Option<String> {
    let bytes = FileSystem.open_within(program, 0).ok()??;
    let file = ElfFile64::<object::Endianness>::parse(&bytes[..]).ok()?;
    let library =
        needed(&file).into_iter().find(|name| LIBRARIES.iter().any(|known| name.starts_with(known)));
    let function = || {
        let own = file.dynamic_symbols().chain(file.symbols()).filter(|symbol| !symbol.is_undefined());
        let mut names = own.filter_map(|symbol| symbol.name_bytes().ok());
        names.find(|name| FUNCTIONS.contains(name))
    };
    let found = library.or_else(function)?;
    Some(String::from_utf8_lossy(found).into_owned())
}

/// Returns the names of the libraries that a program needs.
fn needed<'data>(file: &ElfFile64<'data, object::Endianness>) -> Vec<&'data [u8]> {
    let (endian, data) = (file.endian(), file.data());
    let names = || {
        let sections = file.elf_header().sections(endian, data).ok()?;
        let (entries, index) = sections.dynamic(endian, data).ok()??;
        let strings = sections.strings(endian, data, index).ok()?;
        let needed = entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED);
        Some(needed.filter_map(|entry| entry.string(endian, strings).ok()).collect())
    };
    names().unwrap_or_default()
}
