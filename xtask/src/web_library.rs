//! `cargo xtask web-library`: the library in WebAssembly, for the page without a server.
//!
//! It is committed, so that `cargo` alone builds the program. Bytes of a compiler cannot be compared on another machine: another
//! version of it, or of the optimiser, makes others. So a digest of everything that it is built of is committed beside it, and a
//! check fails where that has changed since. A test of the page compares the answers of both libraries.
//!
//! The standard library is built with it: as it is delivered, its sorting alone is a fifth of the code, and its panics carry
//! texts and places that nobody sees. The options for that are not stable yet, hence `RUSTC_BOOTSTRAP`; nothing else uses them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::failure::{Context as _, Failure};
use crate::workspace;

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGE: &str = "gristmill-web";
/// The digest of what the committed library was built of.
const DIGEST: &str = "ui/dist/library.digest";

/// The profile of the build. It stands here, as nothing else uses it.
const PROFILE: [&str; 5] = [
    r#"profile.web.inherits="release""#,
    r#"profile.web.opt-level="z""#,
    r#"profile.web.panic="abort""#,
    "profile.web.strip=false",
    "profile.web.package.memchr.opt-level=3",
];

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Build nothing, and fail if the sources have changed since the last build.
    #[arg(long)]
    check: bool,
}

impl Options {
    /// Only checks.
    pub(crate) fn check() -> Self {
        Options { check: true }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let digest = digest()?;
    let path = workspace::root().join(DIGEST);
    if options.check {
        if std::fs::read_to_string(&path).unwrap_or_default().trim() != digest {
            return Err(Failure::new(
                "the library of the page is older than its sources; run cargo xtask web-library".to_owned(),
            ));
        }
        println!("web-library: it is built of the sources that are here");
        return Ok(());
    }
    build()?;
    let mut pack = Command::new("node");
    pack.arg("library.mjs").arg(built()).current_dir(workspace::root().join("ui"));
    workspace::run(&mut pack)?;
    std::fs::write(&path, digest + "\n").context(|| format!("cannot write {DIGEST}"))
}

/// Returns the file that the compiler writes.
fn built() -> PathBuf {
    workspace::target().join(TARGET).join("web/gristmill_web.wasm")
}

fn build() -> Result<(), Failure> {
    let mut build = workspace::cargo();
    build.args(["build", "--package", PACKAGE, "--profile", "web", "--target", TARGET]);
    build.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
    for setting in PROFILE {
        build.args(["--config", setting]);
    }
    build
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none");
    workspace::run(&mut build)
}

/// Returns the digest of everything that decides what the library does: its sources, its dependencies, and how it is built.
fn digest() -> Result<String, Failure> {
    let packages = packages()?;
    let mut digest = Sha256::new();
    for package in &packages {
        digest.update(package.as_bytes());
        digest.update(b"\n");
    }
    digest.update(PROFILE.join("\n").as_bytes());
    let mut files = Vec::new();
    for package in &packages {
        let name = package.split(' ').next().unwrap_or_default();
        let Some(folder) = name.strip_prefix("gristmill-") else { continue };
        collect(&workspace::root().join("crates").join(folder).join("src"), &mut files)?;
    }
    files.sort();
    for path in files {
        let bytes = std::fs::read(&path).context(|| format!("cannot read {}", path.display()))?;
        let name = path.strip_prefix(workspace::root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        digest.update(format!("{name} {}\n", bytes.len()).as_bytes());
        digest.update(&bytes);
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Returns the packages below the library, with versions and features, sorted.
fn packages() -> Result<BTreeSet<String>, Failure> {
    let mut tree = workspace::cargo();
    tree.args(["tree", "--package", PACKAGE, "--target", TARGET, "--edges", "normal"]);
    tree.args(["--prefix", "none", "--no-dedupe", "--format", "{p} [{f}]"]);
    let output = tree.output().context(|| "cannot run cargo tree".to_owned())?;
    if !output.status.success() {
        return Err(Failure::new(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A path is that of this machine; macros run on it, and the features of some of them depend on it.
    let words =
        |line: &str| line.split(' ').filter(|word| !word.starts_with('(')).collect::<Vec<_>>().join(" ");
    Ok(text.lines().filter(|line| !line.contains("(proc-macro)")).map(words).collect())
}

/// Collects the sources of a folder that are compiled into the library: no tests, no documents.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let context = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).context(context)? {
        let path = entry.context(context)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "tests" || name == "tests.rs" || name.ends_with(".md") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
