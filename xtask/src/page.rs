//! The page of `gristmill view`: checks its sources, builds it, and tests it in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context as _, Failure};
use crate::workspace;

fn sources() -> PathBuf {
    workspace::root().join("ui")
}

fn npm(arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(arguments).current_dir(sources());
    npm
}

/// Checks that the committed page is what its sources give, and runs its tests.
pub(crate) fn check() -> Result<(), Failure> {
    install()?;
    workspace::run(&mut npm(&["run", "check"]))?;
    let committed = built()?;
    workspace::run(&mut npm(&["run", "build"]))?;
    if built()? != committed {
        return Err(Failure::new("ui/dist was not what its sources give: it is now, commit it"));
    }
    workspace::run(&mut npm(&["run", "unit"]))?;
    workspace::run(workspace::cargo().args(["build", "--quiet", "-p", "gristmill"]))?;
    // Served, in one file, and on web space.
    for tests in ["test", "test:export", "test:site"] {
        let program = workspace::target().join("debug/gristmill");
        workspace::run(npm(&["run", tests]).env("GRISTMILL", program))?;
    }
    Ok(())
}

/// Installs the pinned tools, if those of the lock file are not there.
fn install() -> Result<(), Failure> {
    let changed = |path: &str| fs::metadata(sources().join(path)).and_then(|metadata| metadata.modified());
    let lock = changed("package-lock.json").context(|| "cannot read ui/package-lock.json".to_owned())?;
    match changed("node_modules/.package-lock.json") {
        Ok(installed) if installed >= lock => Ok(()),
        _ => workspace::run(&mut npm(&["ci"])),
    }
}

/// The files of the built page, by name.
fn built() -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let folder = sources().join("dist");
    let name = |path: &Path| format!("cannot read {}", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).context(|| name(&folder))? {
        let path = entry.context(|| name(&folder))?.path();
        let bytes = fs::read(&path).context(|| name(&path))?;
        files.push((path, bytes));
    }
    files.sort();
    Ok(files)
}
