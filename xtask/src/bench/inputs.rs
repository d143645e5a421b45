//! Generated profiles to measure with, made once and kept under `target/bench/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context as _, Failure};
use crate::gen_profile::{self, Shape};
use crate::workspace;

const SEED: u64 = 1;

pub(super) struct Input {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// A plain and a full profile of `size` bytes each, loaded one at a time.
pub(super) fn both(size: u64) -> impl Iterator<Item = Result<Input, Failure>> {
    [Shape::Plain, Shape::Full].into_iter().map(move |shape| {
        let path = generated(shape, size)?;
        let bytes = std::fs::read(&path).context(|| format!("cannot read {}", path.display()))?;
        Ok(Input { name: shape.name().to_owned(), path, bytes })
    })
}

/// The path of a generated profile.
pub(super) fn generated(shape: Shape, size: u64) -> Result<PathBuf, Failure> {
    seeded(shape, size, SEED)
}

/// The path of a generated full profile of a program of its own.
pub(super) fn program(size: u64, seed: u64) -> Result<PathBuf, Failure> {
    seeded(Shape::Full, size, seed)
}

fn seeded(shape: Shape, size: u64, seed: u64) -> Result<PathBuf, Failure> {
    // The version of the generator is in the name, so that a change to it makes new files.
    let name = format!("{}-{size}-{seed}-v{}", shape.name(), gen_profile::VERSION);
    kept(&name, |path| {
        // In another process: the memory of this one would count for every process that it starts.
        let mut command = Command::new(std::env::current_exe().context(|| "cannot find xtask".to_owned())?);
        command.args(["gen-profile", "--shape", shape.name(), "--size", &size.to_string()]);
        command.args(["--seed", &seed.to_string(), "--output"]).arg(path);
        workspace::run(&mut command)
    })
}

/// The path of a file that is made unless it is there.
pub(super) fn kept(name: &str, make: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<PathBuf, Failure> {
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder).context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join(format!("callgrind.out.{name}"));
    if !path.exists() {
        make(&path)?;
    }
    Ok(path)
}
