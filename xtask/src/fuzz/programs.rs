//! Programs as inputs of the fuzz target `code`.

use std::path::Path;
use std::process::Command;

use crate::failure::{Context as _, Failure};

/// A program with an inlined function.
const SOURCE: &str = "
static inline int weigh(int grain) { return grain * 7 ^ 13; }
int sieve(const int *grains, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) if (weigh(grains[i]) > 4) kept += weigh(grains[i] + i);
    return kept;
}
";

include!("../../../fuzz/sections/code.rs");

/// Writes a small library in several formats of debug information, and the sections of each. Without a C compiler or objcopy there
/// are fewer inputs.
pub(super) fn seed(inputs: &Path) -> Result<(), Failure> {
    let source = inputs.join("seed-program.c");
    std::fs::write(&source, SOURCE).context(|| format!("cannot write {}", source.display()))?;
    for version in ["2", "4", "5"] {
        let program = inputs.join(format!("seed-program-{version}"));
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-nostdlib", "-fPIC", "-O2", &format!("-gdwarf-{version}")]);
        compiler.arg(&source).arg("-o").arg(&program);
        if !compiler.status().is_ok_and(|status| status.success()) {
            println!("no C compiler: without programs as inputs");
            break;
        }
        let mut joined = Vec::new();
        for (index, section) in SECTIONS.iter().enumerate() {
            if index > 0 {
                joined.push(MARK);
            }
            joined.extend(contents(&program, section, inputs).unwrap_or_default());
        }
        let sections = inputs.join(format!("seed-sections-{version}"));
        std::fs::write(&sections, joined).context(|| format!("cannot write {}", sections.display()))?;
    }
    Ok(())
}

/// Returns the contents of a section; `None` if there is no such section, or no objcopy.
fn contents(program: &Path, section: &str, inputs: &Path) -> Option<Vec<u8>> {
    let dump = inputs.join("seed-section");
    let mut objcopy = Command::new("objcopy");
    // It also writes the program again. Not to /dev/null: some versions would replace that.
    let copy = inputs.join("seed-copy");
    objcopy.arg(format!("--dump-section={section}={}", dump.display())).arg(program).arg(&copy);
    let is_dumped = objcopy.output().is_ok_and(|output| output.status.success());
    let contents = std::fs::read(&dump).ok().filter(|_| is_dumped);
    for file in [&dump, &copy] {
        let _ = std::fs::remove_file(file);
    }
    contents
}
