//! Generated profiles to measure with, made once and kept under `target/bench/`.

use std::path::PathBuf;

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
    [Shape::Plain, Shape::Full].into_iter().map(move |shape| generated(shape, size))
}

fn generated(shape: Shape, size: u64) -> Result<Input, Failure> {
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder).context(|| format!("cannot create {}", folder.display()))?;
    // The version of the generator is in the name, so that a change to it makes new files.
    let name = format!("{}-{size}-{SEED}-v{}", shape.name(), gen_profile::VERSION);
    let path = folder.join(format!("callgrind.out.{name}"));
    if !path.exists() {
        gen_profile::generate(shape, size, SEED, &path)?;
    }
    let bytes = std::fs::read(&path).context(|| format!("cannot read {}", path.display()))?;
    Ok(Input { name: shape.name().to_owned(), path, bytes })
}
