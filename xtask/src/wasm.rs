//! `cargo xtask wasm`: the libraries compile for WebAssembly, where a viewer may run them.

use std::path::Path;
use std::process::Command;

use crate::failure::{Context as _, Failure};
use crate::source::crates::ProjectCrate;
use crate::workspace;

const TARGET: &str = "wasm32-unknown-unknown";

pub(crate) fn run() -> Result<(), Failure> {
    if !is_installed(&sysroot()?) {
        let advice = format!("the target {TARGET} is not installed: rustup target add {TARGET}");
        if std::env::var_os("GRISTMILL_CI").is_some() {
            return Err(Failure::new(advice));
        }
        println!("wasm: skipped; {advice}");
        return Ok(());
    }
    let mut check = workspace::cargo();
    check.args(["check", "--quiet", "--target", TARGET]);
    for known in ProjectCrate::libraries() {
        check.args(["--package", &known.package()]);
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

fn is_installed(sysroot: &str) -> bool {
    Path::new(sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir()
}
