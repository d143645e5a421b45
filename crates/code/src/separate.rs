//! The file that has the debug information of a program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::image::Image;
use crate::{Error, ErrorKind, FileBytes, Locator, Wanted};

/// A file with debug information, and why others were not taken.
pub(crate) struct Separate {
    pub(crate) image: Option<Arc<Image>>,
    pub(crate) problems: Vec<Error>,
}

/// Looks for the separate debug information of a program.
pub(crate) fn find(program: &Image, path: &Path, locator: &Locator) -> Separate {
    let mut search = Search { program, problems: Vec::new() };
    let image = search.run(path, locator).map(Arc::new);
    Separate { image, problems: search.problems }
}

struct Search<'a> {
    program: &'a Image,
    problems: Vec<Error>,
}

impl Search<'_> {
    fn run(&mut self, path: &Path, locator: &Locator) -> Option<Image> {
        let build_id = self.program.build_id();
        let link = self.program.debug_link();
        let mut tried = Vec::new();
        for path in build_id.iter().flat_map(|id| locator.build_id_candidates(id)) {
            if let Some(image) = self.read(&path, locator).and_then(|bytes| self.check(&path, bytes, None)) {
                return Some(image);
            }
            tried.push(path);
        }
        if let Some((name, checksum)) = &link {
            for path in locator.debug_link_candidates(path, name) {
                if let Some(bytes) = self.read(&path, locator)
                    && let Some(image) = self.check(&path, bytes, Some(*checksum))
                {
                    return Some(image);
                }
                tried.push(path);
            }
        }
        if self.program.is_mach_o()
            && let Some(path) = bundle(path)
            && let Some(image) = self.read(&path, locator).and_then(|bytes| self.check(&path, bytes, None))
        {
            return Some(image);
        }
        let id = build_id.as_ref()?;
        match locator.fetch(id, Wanted::DebugInfo) {
            Ok(Some(bytes)) => {
                let name = PathBuf::from(format!("build id {id}"));
                if let Some(image) = self.check(&name, bytes, None) {
                    return Some(image);
                }
            }
            Ok(None) => {}
            Err(error) => self.problems.push(error),
        }
        if let Some((name, _)) = link {
            let tried = tried.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            self.problems.push(Error::new(&name, ErrorKind::NotFound { tried }));
        }
        None
    }

    fn read(&mut self, path: &Path, locator: &Locator) -> Option<FileBytes> {
        locator.read(path).unwrap_or_else(|error| {
            self.problems.push(error);
            None
        })
    }

    /// Parses a candidate, and checks that it belongs to the program: by build id, or by checksum if one of the files has none.
    fn check(&mut self, path: &Path, bytes: FileBytes, checksum: Option<u32>) -> Option<Image> {
        let name = path.to_string_lossy();
        let image = match Image::parse(&name, bytes) {
            Ok(image) => image,
            Err(error) => {
                self.problems.push(error);
                return None;
            }
        };
        let belongs = match (self.program.build_id(), image.build_id(), checksum) {
            (Some(wanted), Some(found), _) => wanted == found,
            (_, _, Some(checksum)) => crc32fast::hash(image.bytes()) == checksum,
            _ => false,
        };
        if !belongs {
            let reason = "it belongs to another build";
            self.problems.push(Error::new(&name, ErrorKind::Unreadable(reason.to_owned())));
        }
        belongs.then_some(image)
    }
}

/// Returns the path of debug information that the tools of macOS put beside a program.
fn bundle(program: &Path) -> Option<PathBuf> {
    let name = program.file_name()?;
    let mut directory = program.as_os_str().to_owned();
    directory.push(".dSYM");
    Some(Path::new(&directory).join("Contents/Resources/DWARF").join(name))
}
