//! The files that the gate reads, which no report and no profile that it keeps may overwrite.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gristmill_gate::{Config, ProfileSource};
use gristmill_output::printable_path;

use super::sources;
use crate::error::CliError;

/// The configuration, the baseline and the profiles, without links.
pub(super) struct Inputs(HashSet<PathBuf>);

impl Inputs {
    /// Lists the files as they are before a setup writes profiles.
    pub(super) fn new(config: &Config) -> Self {
        let profiles = config.benchmarks.iter().filter_map(|benchmark| match &benchmark.source {
            ProfileSource::Files(patterns) => sources::files(patterns, config).ok(),
            ProfileSource::Recording(_) | ProfileSource::Gungraun(_) => None,
        });
        let own = [config.path.clone(), config.baseline.clone()];
        Inputs(profiles.flatten().chain(own).map(|path| whole(&path)).collect())
    }

    /// Refuses outputs that are inputs, and two outputs of one path. Pipes and devices may be named again.
    pub(super) fn refuse(&self, outputs: impl IntoIterator<Item = PathBuf>) -> Result<(), CliError> {
        let mut taken = HashSet::new();
        for path in outputs {
            let whole = whole(&path);
            let fault = if self.0.contains(&whole) {
                "is one of the files that the gate reads, and was not changed"
            } else if whole.metadata().is_ok_and(|metadata| !metadata.is_file()) || taken.insert(whole) {
                continue;
            } else {
                "two outputs would be written to it"
            };
            return Err(CliError::Usage {
                message: format!("{}: {fault}", printable_path(&path)),
                hint: Some("name another file".to_owned()),
            });
        }
        Ok(())
    }
}

/// Returns a path that two names of one file have in common. The file need not exist.
fn whole(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    std::fs::canonicalize(path).unwrap_or_else(|_| absolute())
}
