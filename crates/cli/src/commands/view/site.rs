//! `gristmill view --site`: the viewer as files for web space.

use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;

use super::PAGE;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::output::{self, OutputError, Target};
use crate::session::Session;
use crate::terminal::printable_path;

/// The page without a server, as `ui` builds it.
const DOCUMENT: &[u8] = include_bytes!("../../../../../ui/dist/site.html");
/// The library in WebAssembly, compressed with gzip.
pub(super) const LIBRARY: &[u8] = include_bytes!("../../../../../ui/dist/library.wasm.gz");

/// Writes the files of the viewer. None is written if one of them exists already and may not be overwritten.
pub(super) fn write(directory: &Path, force: bool, session: &Session) -> Result<ExitStatus, CliError> {
    let mut library = Vec::new();
    GzDecoder::new(LIBRARY).read_to_end(&mut library).map_err(|error| CliError::Usage {
        message: format!("the library is damaged: {error}"),
        hint: None,
    })?;
    let files: [(&str, &[u8]); 4] = [
        ("app.js", PAGE.script),
        ("style.css", PAGE.style),
        ("library.wasm", &library),
        // The last: it needs the others.
        ("index.html", DOCUMENT),
    ];
    std::fs::create_dir_all(directory).map_err(|error| OutputError::io(directory, error))?;
    for (name, _) in files {
        output::target(Some(&directory.join(name)), &[], force)?;
    }
    for (name, bytes) in files {
        let target = Target::File(directory.join(name));
        session.write_profile_to(&target, force, |out| Ok(out.write_all(bytes)?))?;
    }
    session.tell(&format!(
        "{} has the viewer: copy it to any web space, or try it with python3 -m http.server",
        printable_path(directory)
    ));
    Ok(ExitStatus::Success)
}
