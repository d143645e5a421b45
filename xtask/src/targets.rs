//! Other targets: `cargo xtask wasm` compiles the libraries for WebAssembly, where a viewer may run them, and
//! `cargo xtask windows` the program for Windows.

use std::path::Path;
use std::process::Command;

use crate::failure::{Context as _, Failure};
use crate::source::crates::ProjectCrate;
use crate::workspace;

const WASM: &str = "wasm32-unknown-unknown";
const WINDOWS: &str = "x86_64-pc-windows-gnu";

pub(crate) fn wasm() -> Result<(), Failure> {
    check(WASM, ProjectCrate::portable().map(ProjectCrate::package))
}

pub(crate) fn windows() -> Result<(), Failure> {
    check(WINDOWS, ["gristmill".to_owned()])
}

/// Compiles packages for a target, without linking them. Skips a target that is not installed, except in CI.
fn check(target: &str, packages: impl IntoIterator<Item = String>) -> Result<(), Failure> {
    if !is_installed(&sysroot()?, target) {
        let advice = format!("the target {target} is not installed: rustup target add {target}");
        if std::env::var_os("GRISTMILL_CI").is_some() {
            return Err(Failure::new(advice));
        }
        println!("skipped; {advice}");
        return Ok(());
    }
    let mut check = workspace::cargo();
    check.args(["check", "--quiet", "--target", target]);
    for package in packages {
        check.args(["--package", &package]);
    }
    workspace::run(&mut check)
}

/// Returns the folder of the toolchain.
fn sysroot() -> Result<String, Failure> {
    let mut rustc = Command::new("rustc");
    let output = rustc.args(["--print", "sysroot"]).current_dir(workspace::root()).output();
    let output = output.context(|| "cannot run rustc".to_owned())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn is_installed(sysroot: &str, target: &str) -> bool {
    Path::new(sysroot).join("lib/rustlib").join(target).join("lib").is_dir()
}
