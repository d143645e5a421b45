//! `cargo xtask record FOLDER`: runs the commands of the manifest again.
//!
//! The programs are built and run in `/srv/demo`, so that the paths in the recordings are the same on every machine. The
//! corpus itself is not touched: what is to replace a file of it is copied by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context as _, Failure};
use crate::manifest::{self, Row};
use crate::workspace;

const DEMO: &str = "/srv/demo";
/// The profilers of Python that the manifest's commands run, at the versions it names.
const PYTHON_PACKAGES: [&str; 3] = ["pyprof2calltree==1.4.5", "yappi==1.7.6", "pprofile==2.2.0"];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder for the recordings, created if missing.
    folder: PathBuf,
    /// Record only files whose path contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err(Failure::new("valgrind is not installed"));
    }
    let folder = std::path::absolute(&options.folder)
        .context(|| format!("cannot use {}", options.folder.display()))?;
    let rows: Vec<Row> = manifest::read()?
        .into_iter()
        .filter(|row| row.is_recorded())
        .filter(|row| options.only.as_ref().is_none_or(|only| row.path.contains(only)))
        .collect();
    build()?;
    if rows.iter().any(|row| row.command.contains("PYTHONPATH=pylib")) {
        install_python_packages()?;
    }
    let mut last = "";
    for row in &rows {
        let path = folder.join(&row.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).context(|| format!("cannot create {}", parent.display()))?;
        }
        // Several rows in a row may come from one run.
        if row.command != last {
            println!("{}", row.command);
            let mut shell = Command::new("sh");
            workspace::run(shell.arg("-c").arg(&row.command).env("OUT", &folder).current_dir(DEMO))?;
            last = &row.command;
        }
        let bytes = std::fs::metadata(&path).context(|| format!("{} was not written", path.display()))?.len();
        println!("  {}: {bytes} bytes (in the corpus {})", row.path, row.bytes);
    }
    Ok(())
}

fn build() -> Result<(), Failure> {
    let sources = Path::new(DEMO).join("src");
    std::fs::create_dir_all(&sources).context(|| format!("cannot create {}", sources.display()))?;
    for row in manifest::read()?.iter().filter(|row| row.path.starts_with("src/")) {
        let to = Path::new(DEMO).join(&row.path);
        std::fs::copy(manifest::corpus().join(&row.path), &to)
            .context(|| format!("cannot write {}", to.display()))?;
    }
    workspace::run(Command::new("sh").arg("src/build.sh").current_dir(DEMO))
}

fn install_python_packages() -> Result<(), Failure> {
    if Path::new(DEMO).join("pylib").exists() {
        return Ok(());
    }
    let mut pip = Command::new("/usr/bin/python3");
    pip.args(["-m", "pip", "install", "--quiet", "--target", "pylib"])
        .args(PYTHON_PACKAGES)
        .current_dir(DEMO);
    workspace::run(&mut pip)
}
