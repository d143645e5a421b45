//! `cargo xtask bench report`: measures what docs/performance.md shows, and writes its tables again.
//!
//! A table of the page is between two lines that Markdown does not show: `<!-- table: read -->` and `<!-- end of table -->`. Its
//! first line says how it was measured and on which machine. Text outside of the tables stays as it is.

use std::path::Path;

use super::{AnnotateOptions, CodeOptions, LoadOptions, ReadOptions, ReportOptions, ReportTable};
use super::{annotate, code, load, process, read};
use crate::failure::{Context as _, Failure};
use crate::workspace;

const END: &str = "<!-- end of table -->\n";

pub(super) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let page = workspace::root().join(&options.page);
    let mut text = std::fs::read_to_string(&page).context(|| format!("cannot read {}", page.display()))?;
    let wanted: Vec<ReportTable> = ReportTable::ALL
        .into_iter()
        .filter(|table| options.only.is_empty() || options.only.contains(table))
        .collect();
    // A page without the table is found out before the measurement, which takes minutes.
    for table in &wanted {
        with_table(&text, table.name(), "")?;
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => process::gristmill()?,
    };
    let machine = machine();
    for table in wanted {
        let measured = table.measure(options, &program)?;
        text = with_table(&text, table.name(), &format!("{machine}\n{measured}"))?;
        // What was measured is kept if a later table fails.
        workspace::write_whole(&page, |file| Ok(std::io::Write::write_all(file, text.as_bytes())?))?;
        print!("{measured}");
    }
    println!("{} has these tables, measured on {machine}", page.display());
    Ok(())
}

impl ReportTable {
    const ALL: [ReportTable; 4] =
        [ReportTable::Read, ReportTable::Load, ReportTable::Annotate, ReportTable::Code];

    fn name(self) -> &'static str {
        match self {
            ReportTable::Read => "read",
            ReportTable::Load => "load",
            ReportTable::Annotate => "annotate",
            ReportTable::Code => "code",
        }
    }

    /// Measures with the sizes and rounds that the page has.
    fn measure(self, options: &ReportOptions, program: &Path) -> Result<String, Failure> {
        let size = |size: u64| if options.quick { size / 100 } else { size };
        let rounds = |rounds: u32| if options.quick { 1 } else { rounds };
        match self {
            ReportTable::Read => read::table_of(&ReadOptions { size: size(100_000_000), rounds: rounds(5) }),
            ReportTable::Load => {
                let options = LoadOptions {
                    size: size(500_000_000),
                    rounds: rounds(3),
                    recording: options.recording.clone(),
                    // Only the large inputs are in the table.
                    step: 0,
                    calls: 0,
                };
                load::table_of_large(&options, program)
            }
            ReportTable::Annotate => {
                annotate::table_of(&AnnotateOptions { size: size(100_000_000), rounds: 1 }, program)
            }
            ReportTable::Code => {
                let options = CodeOptions {
                    recording: options.code_recording.clone(),
                    skips_whole: options.quick,
                    rounds: rounds(3),
                };
                code::table_of(&options, program)
            }
        }
    }
}

/// Returns a page with other lines in one of its tables.
pub(super) fn with_table(page: &str, name: &str, lines: &str) -> Result<String, Failure> {
    let missing =
        || Failure::new(format!("the page has no table `{name}`: add <!-- table: {name} --> and its end"));
    let mark = format!("<!-- table: {name} -->\n");
    let (before, rest) = page.split_once(&mark).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{mark}```\n{lines}```\n{END}{after}"))
}

/// Describes the machine in a line.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plural = if cores == 1 { "" } else { "s" };
    let description = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = description.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or_else(String::new, |(_, model)| format!(" of {}", model.trim()));
    let system = std::env::consts::OS;
    format!("{cores} core{plural}{model}, {system} on {}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_and_nothing_else() {
        let page = "# P\n\n<!-- table: read -->\n```\nold\n```\n<!-- end of table -->\n\ntext\n\
            <!-- table: load -->\n```\n1\n```\n<!-- end of table -->\n";
        let Ok(new) = with_table(page, "read", "a\nb\n") else { panic!("the page has it") };
        assert_eq!(new, page.replace("old\n", "a\nb\n"));
        assert!(with_table(page, "annotate", "").is_err());
    }

    #[test]
    fn the_page_has_all_tables() {
        let page = std::fs::read_to_string(workspace::root().join("docs/performance.md")).unwrap_or_default();
        for table in ReportTable::ALL {
            assert!(with_table(&page, table.name(), "").is_ok(), "{}", table.name());
        }
    }
}
