//! Runs the original, and caches its output if asked to.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use super::options::Options;
use super::words::text;

const PROGRAM: &str = "callgrind_annotate";

/// The output of a program, and its success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) succeeded: bool,
    /// Every byte a character.
    pub(crate) stdout: String,
}

/// Returns `true` if the original is installed. Panics if it has to be and is not.
pub(crate) fn is_installed() -> bool {
    let found = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
    let is_installed = found.is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains(PROGRAM));
    if !is_installed {
        assert!(std::env::var_os("GRISTMILL_CI").is_none(), "{PROGRAM} is missing");
        println!("skipped: there is no {PROGRAM}");
    }
    is_installed
}

/// Runs a program on a profile, in a folder.
pub(crate) fn run(program: &Path, here: &Path, options: &Options, profile: &Path) -> Printed {
    let output = Command::new(program)
        .current_dir(here)
        .env("PWD", here)
        // In which order the original comes to its files depends on this, and only this.
        .env("PERL_HASH_SEED", "0")
        .args(&options.arguments)
        .arg(profile)
        .args(&options.sources)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Printed { succeeded: output.status.success(), stdout: text(&output.stdout) }
}

/// The original, in a folder where it works.
#[derive(Debug)]
pub(crate) struct Original<'a> {
    pub(crate) here: &'a Path,
    /// The folder for changed profiles.
    pub(crate) desk: &'a Path,
}

impl Original<'_> {
    /// Returns its output for a content, as if the file of the profile had it.
    pub(crate) fn print(&self, options: &Options, profile: &Path, content: &[u8]) -> Printed {
        let kept = std::env::var_os("GRISTMILL_ANNOTATE_CACHE").map(|folder| {
            let mut hasher = DefaultHasher::new();
            (options, self.here, profile, content).hash(&mut hasher);
            PathBuf::from(folder).join(format!("{:016x}", hasher.finish()))
        });
        if let Some(kept) = &kept
            && let Ok(bytes) = fs::read(kept)
        {
            let (succeeded, stdout) = bytes.split_first().unwrap();
            return Printed { succeeded: *succeeded == b'0', stdout: text(stdout) };
        }
        let printed = self.run(options, profile, content);
        if let Some(kept) = &kept {
            let flag = if printed.succeeded { "0" } else { "1" };
            fs::write(kept, super::facts::bytes(&format!("{flag}{}", printed.stdout))).unwrap();
        }
        printed
    }

    fn run(&self, options: &Options, profile: &Path, content: &[u8]) -> Printed {
        let path = self.desk.join(format!("{:?}", std::thread::current().id()));
        fs::write(&path, content).unwrap();
        // Sources that are newer than the profile get a remark.
        let age =
            fs::metadata(profile).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        fs::File::options().write(true).open(&path).unwrap().set_modified(age).unwrap();
        let mut printed = run(Path::new(PROGRAM), self.here, options, &path);
        let name = |path: &Path| text(path.as_os_str().as_encoded_bytes());
        printed.stdout = printed.stdout.replace(&name(&path), &name(profile));
        printed
    }
}
