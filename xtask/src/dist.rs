//! `cargo xtask dist`: the archive of a release for one target, with its checksum.
//!
//! The archive has one directory with the program, completions, manual pages, the change log and the licenses.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use sha2::{Digest as _, Sha256};

use crate::failure::{Context as _, Failure};
use crate::workspace;

/// Shells with the names that they look for completions under.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "gristmill.bash"),
    ("zsh", "_gristmill"),
    ("fish", "gristmill.fish"),
    ("powershell", "_gristmill.ps1"),
    ("elvish", "gristmill.elv"),
];

/// Files of the repository that belong to each archive.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Target, as the compiler names it [default: that of this machine]
    #[arg(long)]
    target: Option<String>,
    /// Cargo, or a program that takes its arguments and builds for other targets, such as cross
    #[arg(long, default_value = "cargo")]
    cargo: PathBuf,
    /// Directory for the archive and its checksum
    #[arg(long, default_value = "target/dist")]
    out: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let host = workspace::platform()?;
    let target = options.target.as_ref().unwrap_or(&host);
    let program = build(&options.cargo, target)?;
    // A program for another target does not run here.
    let runnable = if *target == host { program.clone() } else { build(Path::new("cargo"), &host)? };

    let name = format!("gristmill-{}-{target}", env!("CARGO_PKG_VERSION"));
    let out = workspace::root().join(&options.out);
    let staged = out.join(&name);
    if staged.exists() {
        std::fs::remove_dir_all(&staged).context(|| format!("cannot remove {}", staged.display()))?;
    }
    let (man, completions) = (staged.join("man"), staged.join("completions"));
    for directory in [&man, &completions] {
        std::fs::create_dir_all(directory).context(|| format!("cannot create {}", directory.display()))?;
    }
    copy(&program, &staged)?;
    for document in DOCUMENTS {
        copy(&workspace::root().join(document), &staged)?;
    }
    workspace::run(Command::new(&runnable).arg("man").arg(&man))?;
    for (shell, file) in COMPLETIONS {
        let text = output(Command::new(&runnable).args(["completions", shell]))?;
        let path = completions.join(file);
        std::fs::write(&path, text).context(|| format!("cannot write {}", path.display()))?;
    }
    let archive = pack(&out, &name, target.contains("windows"))?;
    let bytes = std::fs::read(&archive).context(|| format!("cannot read {}", archive.display()))?;
    let checksum = checksum_line(&bytes, &file_name(&archive));
    let path = out.join(format!("{}.sha256", file_name(&archive)));
    std::fs::write(&path, checksum).context(|| format!("cannot write {}", path.display()))?;
    println!("{}: {} bytes", archive.display(), bytes.len());
    Ok(())
}

/// Builds the program for a target and returns its path.
fn build(cargo: &Path, target: &str) -> Result<PathBuf, Failure> {
    let mut build = Command::new(cargo);
    build.current_dir(workspace::root());
    build.args(["build", "--release", "--locked", "--package", "gristmill", "--target", target]);
    workspace::run(&mut build)?;
    let suffix = if target.contains("windows") { ".exe" } else { "" };
    Ok(workspace::target().join(target).join("release").join(format!("gristmill{suffix}")))
}

fn copy(file: &Path, directory: &Path) -> Result<(), Failure> {
    let to = directory.join(file_name(file));
    std::fs::copy(file, &to).context(|| format!("cannot copy {} to {}", file.display(), to.display()))?;
    Ok(())
}

fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let output = command.output().context(|| format!("cannot run {}", workspace::shown(command)))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Failure::new(format!("{} ended with {}", workspace::shown(command), output.status))),
    }
}

/// Packs a directory: as zip for Windows, whose `tar` writes that, otherwise with `tar` and gzip.
fn pack(out: &Path, name: &str, is_windows: bool) -> Result<PathBuf, Failure> {
    let archive = out.join(format!("{name}.{}", if is_windows { "zip" } else { "tar.gz" }));
    let mut tar = Command::new("tar");
    tar.arg(if is_windows { "-acf" } else { "-czf" }).arg(&archive).arg("-C").arg(out).arg(name);
    workspace::run(&mut tar)?;
    Ok(archive)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the line that `sha256sum --check` reads.
fn checksum_line(bytes: &[u8], name: &str) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_a_line_of_sha256sum() {
        // `printf abc | sha256sum`
        let digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(checksum_line(b"abc", "a.tar.gz"), format!("{digits}  a.tar.gz\n"));
    }

    #[test]
    fn the_names_are_those_that_installers_look_for() {
        let manifest = std::fs::read_to_string(workspace::root().join("crates/cli/Cargo.toml")).unwrap();
        assert!(manifest.contains("gristmill-{ version }-{ target }.{ archive-format }"));
        let workflow =
            std::fs::read_to_string(workspace::root().join(".github/workflows/release.yml")).unwrap();
        assert!(workflow.contains("cargo xtask dist"));
    }
}
