//! Files that a profile or a program names, and that must be below directories that the user names.
//!
//! Links can change between a check and its use, so the place of a file is checked when it is open.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::terminal::printable_path;
use gristmill_output::io_reason;

/// Directories that files must be below.
#[derive(Debug, Clone, Default)]
pub(crate) struct Confinement {
    /// Without links. If there are none, files may be anywhere.
    directories: Vec<PathBuf>,
    /// The options that name them, as a message has them.
    options: &'static str,
}

impl Confinement {
    /// Resolves the directories that an option names. `options` are all options that can name them, for messages.
    ///
    /// # Errors
    ///
    /// If there is no such directory.
    pub(crate) fn new(
        option: &str,
        directories: &[PathBuf],
        options: &'static str,
    ) -> Result<Self, CliError> {
        let resolved = |path: &PathBuf| {
            std::fs::canonicalize(path).map_err(|error| CliError::Usage {
                message: format!("{option} {}: {}", printable_path(path), io_reason(&error)),
                hint: None,
            })
        };
        let directories = directories.iter().map(resolved).collect::<Result<_, _>>()?;
        Ok(Confinement { directories, options })
    }

    /// `true` if files may be anywhere.
    pub(crate) fn is_none(&self) -> bool {
        self.directories.is_empty()
    }

    /// Refuses a file, by its path without links, that is not below a directory.
    pub(crate) fn check(&self, path: &Path) -> io::Result<()> {
        if self.is_none() || self.directories.iter().any(|directory| path.starts_with(directory)) {
            return Ok(());
        }
        let message = format!("is not below a directory of {}", self.options);
        Err(io::Error::new(ErrorKind::PermissionDenied, message))
    }

    /// Opens a regular file, by its path without links, and checks its place again.
    pub(crate) fn open(&self, path: &Path) -> io::Result<(File, Metadata)> {
        self.check(path)?;
        let mut options = File::options();
        options.read(true);
        // A pipe may have the name by now.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
        let file = options.open(path)?;
        let metadata = file.metadata()?;
        if !self.is_none() {
            self.check(&opened_at(&file, &metadata, path)?)?;
        }
        if !metadata.is_file() {
            return Err(io::Error::other("is no regular file"));
        }
        Ok((file, metadata))
    }
}

/// `true` if an error says that there is no such file. A recorded path may be invalid for the system.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput | ErrorKind::InvalidFilename
    )
}

/// Returns the path of a file that was opened. A link can have taken its name, or that of a directory, since the path was checked.
fn opened_at(file: &File, metadata: &Metadata, path: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
        if let Ok(path) = std::fs::read_link(link) {
            return Ok(path);
        }
    }
    let (_, found) = (file, std::fs::symlink_metadata(path)?);
    #[cfg(unix)]
    let is_same = {
        use std::os::unix::fs::MetadataExt as _;
        (found.dev(), found.ino()) == (metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let is_same = found.is_file() && found.len() == metadata.len();
    match is_same {
        true => std::fs::canonicalize(path),
        false => Err(io::Error::from(ErrorKind::NotFound)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_opened_must_be_below_a_directory() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["in", "out"] {
            std::fs::create_dir(root.join(name)).unwrap();
            std::fs::write(root.join(name).join("x"), name).unwrap();
        }
        symlink(root.join("out/x"), root.join("in/link")).unwrap();
        symlink(root.join("out"), root.join("in/links")).unwrap();
        let confinement = Confinement::new("--below", &[root.join("in")], "`--below`").unwrap();
        assert_eq!(confinement.open(&root.join("in/x")).unwrap().1.len(), 2);
        // As if a link had taken the name after the path was checked.
        for name in ["in/link", "in/links/x", "out/x"] {
            let error = confinement.open(&root.join(name)).unwrap_err();
            assert_eq!(error.to_string(), "is not below a directory of `--below`", "{name}");
        }
        let anywhere = Confinement::default();
        assert!(anywhere.open(&root.join("in/link")).is_ok());
        assert!(anywhere.open(&root).is_err());
    }
}
