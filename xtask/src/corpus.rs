//! `cargo xtask corpus`: every file of the corpus is as the manifest says, and none is missing there.

use std::collections::BTreeSet;

use crate::failure::{Context as _, Failure};
use crate::manifest::{self, Row};

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Writes the sizes and checksums of the files into the manifest instead of checking them.
    #[arg(long)]
    bless: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut rows = manifest::read()?;
    let mut faults = Vec::new();
    unlisted(&rows, &mut faults)?;
    for row in &mut rows {
        match measure(row) {
            Err(failure) => faults.push(failure.to_string()),
            Ok((bytes, checksum)) if options.bless => (row.bytes, row.checksum) = (bytes, checksum),
            Ok((bytes, checksum)) => compare(row, bytes, checksum, &mut faults),
        }
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    if !faults.is_empty() {
        return Err(Failure::new(format!("corpus: {} faults", faults.len())));
    }
    if options.bless {
        manifest::write(&rows)?;
    }
    let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
    println!("corpus: {} files, {bytes} bytes, all as in the manifest", rows.len());
    Ok(())
}

fn unlisted(rows: &[Row], faults: &mut Vec<String>) -> Result<(), Failure> {
    let mut listed = BTreeSet::new();
    for row in rows {
        if !listed.insert(row.path.as_str()) {
            faults.push(format!("{}: two rows in the manifest", row.path));
        }
    }
    let files = manifest::files()?;
    let missing = files.iter().filter(|path| !listed.contains(path.as_str()));
    faults.extend(missing.map(|path| format!("{path}: no row in the manifest")));
    Ok(())
}

fn measure(row: &Row) -> Result<(u64, u32), Failure> {
    let path = manifest::corpus().join(&row.path);
    let bytes = std::fs::read(&path).context(|| format!("{}: cannot be read", row.path))?;
    Ok((bytes.len() as u64, crc32fast::hash(&bytes)))
}

fn compare(row: &Row, bytes: u64, checksum: u32, faults: &mut Vec<String>) {
    if bytes != row.bytes {
        faults.push(format!("{}: {bytes} bytes, but {} in the manifest", row.path, row.bytes));
    } else if checksum != row.checksum {
        faults.push(format!("{}: crc32 {checksum:08x}, but {:08x} in the manifest", row.path, row.checksum));
    }
    if row.exercises.is_empty() {
        faults.push(format!("{}: the manifest does not say what it exercises", row.path));
    }
}
