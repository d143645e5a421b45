//! Servers that have programs and debug information by build id, and the cache of what they sent.
//!
//! The environment says what the usual clients of debuginfod take from it: `DEBUGINFOD_URLS` has the servers,
//! `DEBUGINFOD_TIMEOUT` the seconds that one may take without sending anything, `DEBUGINFOD_MAXSIZE` the limit of a file. The cache is
//! shared with these clients: `DEBUGINFOD_CACHE_PATH`, or `debuginfod_client` in `XDG_CACHE_HOME` or `~/.cache`.
//!
//! A server is asked over plain HTTP. TLS without a C toolchain is not ready in the libraries of the field, so `https` is left to
//! the program `curl`, which most systems with such a server have.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gristmill_code::{Binary, BuildId, FileBytes, FileSource as _, FileSystem, Wanted};
use tempfile::NamedTempFile;

use super::http::{self, Url};
use crate::error::CliError;
use crate::interrupt::{EndedOnInterrupt, RemovedOnInterrupt};

/// The seconds that a server may take without sending anything.
const TIMEOUT_SECONDS: u64 = 90;

/// The seconds that a file may take. A server that sends a byte now and then is no reason to wait longer.
const MAX_SECONDS: u64 = 1800;

/// The limit of a file. Debug information of a browser takes some 4 GiB.
const MAX_BYTES: u64 = 8 << 30;

/// Servers, and the directory of what they sent.
#[derive(Debug, Clone)]
pub(super) struct Debuginfod {
    servers: Vec<String>,
    cache: PathBuf,
    timeout: Duration,
    limit: Duration,
    max_bytes: u64,
}

impl Debuginfod {
    /// Takes the servers from the environment.
    pub(super) fn from_environment() -> Result<Self, CliError> {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        let number =
            |name: &str| text(name).and_then(|text| text.trim().parse::<u64>().ok()).filter(|&it| it > 0);
        let servers: Vec<String> =
            text("DEBUGINFOD_URLS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        if servers.is_empty() {
            return Err(CliError::Usage {
                message: "--debuginfod: DEBUGINFOD_URLS names no server".to_owned(),
                hint: Some("for example DEBUGINFOD_URLS=https://debuginfod.elfutils.org/".to_owned()),
            });
        }
        let cache = cache_directory(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
        Ok(Debuginfod {
            servers,
            cache: cache.ok_or_else(|| CliError::Usage {
                message: "--debuginfod: there is no directory for the cache".to_owned(),
                hint: Some("DEBUGINFOD_CACHE_PATH can name one".to_owned()),
            })?,
            timeout: Duration::from_secs(number("DEBUGINFOD_TIMEOUT").unwrap_or(TIMEOUT_SECONDS)),
            limit: Duration::from_secs(MAX_SECONDS),
            max_bytes: number("DEBUGINFOD_MAXSIZE").unwrap_or(MAX_BYTES),
        })
    }

    /// Creates a client of one server, for tests.
    #[cfg(test)]
    pub(super) fn with_server(server: &str, cache: &Path, limit: Duration) -> Self {
        Debuginfod {
            servers: vec![server.to_owned()],
            cache: cache.to_owned(),
            timeout: Duration::from_secs(5),
            limit,
            max_bytes: 1 << 20,
        }
    }

    /// Fetches a file: from the cache, or from the first server that has it.
    pub(super) fn fetch(&self, build_id: &BuildId, wanted: Wanted) -> io::Result<Option<FileBytes>> {
        let kind = match wanted {
            Wanted::Program => "executable",
            Wanted::DebugInfo => "debuginfo",
        };
        let directory = self.cache.join(build_id.to_string());
        let cached = directory.join(kind);
        // Other clients write an empty file for what no server has, and do not look at what a server sends.
        if let Some(bytes) = open(&cached, build_id)? {
            return Ok(Some(bytes));
        }
        let mut failure = None;
        for server in &self.servers {
            match self.ask(server, build_id, kind, &directory) {
                Ok(Some((file, _removed))) => {
                    let Some(bytes) = open(file.path(), build_id)? else {
                        let message = format!("{server}: does not send the file with this build id");
                        failure.get_or_insert(io::Error::new(io::ErrorKind::InvalidData, message));
                        continue;
                    };
                    // What is open stays open.
                    file.persist(&cached).map_err(|error| error.error)?;
                    return Ok(Some(bytes));
                }
                Ok(None) => {}
                Err(error) => {
                    failure.get_or_insert(io::Error::new(error.kind(), format!("{server}: {error}")));
                }
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Asks a server. Returns the file, which is not yet in its place, so that others never see a part of it.
    fn ask(
        &self,
        server: &str,
        build_id: &BuildId,
        kind: &str,
        directory: &Path,
    ) -> io::Result<Option<(NamedTempFile, RemovedOnInterrupt)>> {
        let url = format!("{}/buildid/{build_id}/{kind}", server.trim_end_matches('/'));
        fs::create_dir_all(directory)?;
        let (mut file, removed) = RemovedOnInterrupt::create(|| NamedTempFile::new_in(directory))?;
        let found = match Url::parse(&url) {
            Some(url) => match http::get(&url, self.timeout, self.limit)? {
                Some(mut body) => copy(&mut body, &mut file, self.max_bytes).map(|()| true)?,
                None => false,
            },
            None => self.ask_with_curl(&url, &mut file)?,
        };
        Ok(found.then_some((file, removed)))
    }

    /// Has `curl` fetch a file. Returns `false` if the server does not have it.
    fn ask_with_curl(&self, url: &str, file: &mut NamedTempFile) -> io::Result<bool> {
        if !url.starts_with("https://") {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is neither http nor https"));
        }
        let seconds = self.timeout.as_secs().to_string();
        let max_bytes = self.max_bytes.to_string();
        // `--` is not known to it: a URL that begins with `https://` is no option.
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--location", "--proto", "=https", "--proto-redir", "=https"])
            .args(["--max-time", &self.limit.as_secs().to_string(), "--connect-timeout", &seconds])
            .args(["--speed-limit", "1", "--speed-time", &seconds, "--max-filesize", &max_bytes])
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let (mut child, _ended) = EndedOnInterrupt::spawn(&mut curl).map_err(|error| {
            io::Error::new(error.kind(), format!("https needs the program curl: {error}"))
        })?;
        // Older versions know the size only if the server tells it.
        let copied = match child.stdout.take() {
            Some(mut output) => copy(&mut output, file, self.max_bytes),
            None => Ok(()),
        };
        if copied.is_err() {
            // It may have ended by itself.
            let _ = child.kill();
        }
        let status = child.wait()?;
        copied?;
        match status.code() {
            Some(0) => Ok(true),
            // What it says of every answer of 400 and above.
            Some(22) => Ok(false),
            Some(code) => Err(io::Error::other(format!("curl failed with status {code}"))),
            None => Err(io::Error::other("curl was ended by a signal")),
        }
    }
}

/// Opens a file if it has this build id: a server may send anything, such as the page that asks for a login.
fn open(path: &Path, build_id: &BuildId) -> io::Result<Option<FileBytes>> {
    let Some(bytes) = FileSystem.open(path)? else { return Ok(None) };
    let is_wanted = Binary::from_bytes(path, bytes.clone())
        .is_ok_and(|binary| binary.build_id().as_ref() == Some(build_id));
    Ok(is_wanted.then_some(bytes))
}

/// Copies up to a limit of bytes.
fn copy(from: &mut dyn Read, to: &mut NamedTempFile, max_bytes: u64) -> io::Result<()> {
    let mut copied = 0;
    let mut buffer = vec![0; 256 << 10];
    loop {
        let read = match from.read(&mut buffer) {
            // A signal that ends the program does so from another thread.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return to.flush();
        }
        copied += read as u64;
        if copied > max_bytes {
            let message = format!("sends more than {max_bytes} bytes; DEBUGINFOD_MAXSIZE sets the limit");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        to.write_all(&buffer[..read])?;
    }
}

/// The directory of the cache, by the environment.
pub(super) fn cache_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = variable("DEBUGINFOD_CACHE_PATH") {
        return Some(path.into());
    }
    let name = "debuginfod_client";
    if let Some(path) = variable("XDG_CACHE_HOME") {
        return Some(PathBuf::from(path).join(name));
    }
    Some(PathBuf::from(variable("HOME")?).join(".cache").join(name))
}
