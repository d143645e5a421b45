//! `cargo xtask screenshots`: pictures of each view of the page, in both themes and two sizes, for people to look at.
//!
//! The scripts of `ui/tests` take them in a headless Chromium. Two of them are in the README.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::failure::{Context as _, Failure};
use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Browser
    #[arg(long, default_value = "/usr/bin/chromium")]
    browser: PathBuf,
    /// Program, instead of one that is built first
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Directory for the pictures
    #[arg(long, default_value = "target/screenshots")]
    out: PathBuf,
    /// Take only pictures with this text in their name
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// The pictures of the README: by name of a picture, the name there.
const OF_README: [(&str, &str); 2] =
    [("readme-source-1280-light", "view-source"), ("readme-changes-1280-light", "view-changes")];
/// The limit of a picture of the README, in bytes.
const MAX_BYTES: u64 = 150 * 1024;

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let root = workspace::root();
    let out = root.join(&options.out);
    std::fs::create_dir_all(&out).context(|| format!("cannot create {}", out.display()))?;
    let program = match &options.program {
        Some(program) => root.join(program),
        None => {
            workspace::run(workspace::cargo().args(["build", "--quiet", "--release", "-p", "gristmill"]))?;
            workspace::target().join("release/gristmill")
        }
    };
    let mut node = Command::new("node");
    node.args(["--test", "--test-concurrency=1", "tests/screenshots.mjs"])
        .current_dir(root.join("ui"))
        .env("GRISTMILL", program)
        .env("CHROMIUM", &options.browser)
        .env("GRISTMILL_SHOTS", &out)
        .env("GRISTMILL_SHOTS_ONLY", &options.only);
    workspace::run(&mut node)?;
    for (picture, name) in OF_README {
        let taken = out.join(format!("{picture}.png"));
        if taken.exists() {
            copy(&taken, &root.join(format!("docs/images/{name}.png")))?;
        }
    }
    Ok(())
}

/// Copies a picture that is small enough for the README.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let size = std::fs::metadata(from).context(|| format!("cannot read {}", from.display()))?.len();
    if size > MAX_BYTES {
        return Err(Failure::new(format!("{} has {size} bytes, the limit is {MAX_BYTES}", from.display())));
    }
    std::fs::copy(from, to).context(|| format!("cannot write {}", to.display()))?;
    Ok(())
}
