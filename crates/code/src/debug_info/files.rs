//! The files that debug information of one program is in.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::budget::Budget;
use super::{Dwarf, Slice};
use crate::image::Image;
use crate::{BuildId, Error, ErrorKind, FoundFile, Locator, Wanted};

/// Sections whose bytes are what tables and names are made of.
const COUNTED_SECTIONS: [&str; 8] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_line",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_aranges",
    ".debug_str",
    ".debug_line_str",
];

/// The files and units that could not be found or read, each once.
#[derive(Default)]
struct Missing {
    errors: Vec<Error>,
    known: HashSet<String>,
}

/// Files with debug information.
pub(crate) struct DebugFiles {
    main: Arc<Image>,
    shared: Option<Image>,
    package: Option<Image>,
    /// The `.dwo` of each unit that is the first to name it.
    split: Box<[OnceLock<Option<Image>>]>,
    /// The first unit that names a `.dwo`, by its path. All units of a file can name one, which is opened once.
    first_of_split: Mutex<HashMap<PathBuf, usize>>,
    program: PathBuf,
    locator: Option<Locator>,
    missing: Mutex<Missing>,
}

impl DebugFiles {
    /// Finds the files that belong to a file with debug information, except `.dwo` files, which are opened when they are needed.
    pub(crate) fn new(main: Arc<Image>, program: &Path, locator: Option<&Locator>) -> Result<Self, Error> {
        let info = gimli::DebugInfo::new(main.section(".debug_info")?, main.endian());
        let mut headers = info.units();
        let mut unit_count = 0;
        while let Ok(Some(_)) = headers.next() {
            unit_count += 1;
        }
        let mut files = Self {
            main,
            shared: None,
            package: None,
            split: (0..unit_count).map(|_| OnceLock::new()).collect(),
            first_of_split: Mutex::default(),
            program: program.to_owned(),
            locator: locator.cloned(),
            missing: Mutex::default(),
        };
        files.shared = files.find_shared();
        files.package = files.find_package();
        Ok(files)
    }

    /// Returns what could not be found or read so far.
    pub(crate) fn missing(&self) -> Vec<Error> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).errors.clone()
    }

    pub(super) fn miss(&self, error: Error) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if missing.known.insert(error.to_string()) {
            missing.errors.push(error);
        }
    }

    pub(super) fn damaged(&self, part: &str, reason: impl fmt::Display) -> Error {
        Error::damaged(self.main.name(), part, reason)
    }

    /// Returns the bytes that tables and names are made of.
    pub(super) fn counted_bytes(&self) -> usize {
        let images = [Some(&*self.main), self.shared.as_ref(), self.package.as_ref()];
        images.into_iter().flatten().map(counted_bytes).sum()
    }

    pub(super) fn dwarf(&self) -> Result<(Dwarf<'_>, Option<Dwarf<'_>>), Error> {
        let load = |image| Dwarf::load(|id| section(image, Some(id.name()), is_needed(id)));
        let main = load(&*self.main)?;
        let Some(shared) = &self.shared else { return Ok((main, None)) };
        let mut with_shared = load(&*self.main)?;
        with_shared.set_sup(load(shared)?);
        Ok((with_shared, Some(load(shared)?)))
    }

    pub(super) fn package(&self) -> Result<Option<gimli::DwarfPackage<Slice<'_>>>, Error> {
        let Some(image) = &self.package else { return Ok(None) };
        let empty = Slice::new(&[], image.endian());
        let package =
            gimli::DwarfPackage::load(|id| package_section(image, id), empty).map_err(|error| match error {
                PackageError::Dwarf(error) => Error::damaged(image.name(), ".debug_cu_index", error),
                PackageError::File(error) => error,
            });
        package.map(Some)
    }

    /// Opens the `.dwo` of a unit.
    pub(super) fn open_split(
        &self,
        unit: usize,
        directory: Option<&str>,
        name: &str,
        budget: &Budget,
    ) -> Option<&Image> {
        let path = directory.map_or_else(|| PathBuf::from(name), |directory| Path::new(directory).join(name));
        // `/a/./b` is the same file.
        let path: PathBuf = path.components().collect();
        let mut first_of_split = self.first_of_split.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *first_of_split.entry(path.clone()).or_insert(unit);
        drop(first_of_split);
        let image = self.split.get(first)?.get_or_init(|| {
            let found = self.find_split(&path).map_err(|error| self.miss(error)).ok();
            found.inspect(|image| budget.add(counted_bytes(image)))
        });
        image.as_ref()
    }

    fn find_split(&self, path: &Path) -> Result<Image, Error> {
        let not_found = |tried: Vec<PathBuf>| {
            let tried = tried.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            Error::new(&path.to_string_lossy(), ErrorKind::NotFound { tried })
        };
        let Some(locator) = &self.locator else { return Err(not_found(Vec::new())) };
        let mut paths = locator.candidates(path);
        if let (Some(directory), Some(name)) = (self.program.parent(), path.file_name()) {
            paths.push(directory.join(name));
        }
        for path in &paths {
            if let Some(bytes) = locator.read(path)? {
                let image = Image::parse(&path.to_string_lossy(), bytes)?;
                // Any other file would stay in memory for nothing.
                return if image.has_section(".debug_info.dwo") {
                    Ok(image)
                } else {
                    Err(Error::damaged(image.name(), ".debug_info.dwo", "there is none"))
                };
            }
        }
        Err(not_found(paths))
    }

    fn find_package(&self) -> Option<Image> {
        let locator = self.locator.as_ref()?;
        for beside in [&*self.program, Path::new(self.main.name())] {
            let mut path = beside.as_os_str().to_owned();
            path.push(".dwp");
            match locator.open(Path::new(&path)) {
                Ok(Some(found)) => return self.parse(found),
                Ok(None) => {}
                Err(error) => self.miss(error),
            }
        }
        None
    }

    fn find_shared(&self) -> Option<Image> {
        let (name, build_id) = self.main.shared_debug_link()?;
        let locator = self.locator.as_ref()?;
        let mut paths = locator.candidates(&self.main.directory().join(&name));
        paths.extend(locator.build_id_candidates(&build_id));
        for path in &paths {
            match locator.read(path) {
                Ok(Some(bytes)) => {
                    let image = self.parse(FoundFile { path: path.clone(), bytes });
                    if let Some(image) = image.filter(|image| self.belongs(image, &build_id)) {
                        return Some(image);
                    }
                }
                Ok(None) => {}
                Err(error) => self.miss(error),
            }
        }
        match locator.fetch(&build_id, Wanted::DebugInfo) {
            Ok(Some(bytes)) => {
                let image = self.parse(FoundFile { path: name.into(), bytes });
                return image.filter(|image| self.belongs(image, &build_id));
            }
            Ok(None) => {
                let tried = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                self.miss(Error::new(&name, ErrorKind::NotFound { tried }));
            }
            Err(error) => self.miss(error),
        }
        None
    }

    /// Checks that a file is the one that is looked for.
    fn belongs(&self, image: &Image, build_id: &BuildId) -> bool {
        let belongs = image.build_id().as_ref() == Some(build_id);
        if !belongs {
            let reason = "it belongs to another build";
            self.miss(Error::new(image.name(), ErrorKind::Unreadable(reason.to_owned())));
        }
        belongs
    }

    fn parse(&self, found: FoundFile) -> Option<Image> {
        let image = Image::parse(&found.path.to_string_lossy(), found.bytes);
        image.map_err(|error| self.miss(error)).ok()
    }
}

/// Returns the bytes of an image that tables and names can be made of.
pub(super) fn counted_bytes(image: &Image) -> usize {
    let sizes = COUNTED_SECTIONS.iter().flat_map(|name| {
        [(*name).to_owned(), format!("{name}.dwo")].map(|name| image.section(&name).map_or(0, <[u8]>::len))
    });
    sizes.sum()
}

/// Reasons for which a package cannot be read.
pub(super) enum PackageError {
    Dwarf(gimli::Error),
    File(Error),
}

impl From<gimli::Error> for PackageError {
    fn from(error: gimli::Error) -> Self {
        Self::Dwarf(error)
    }
}

impl From<Error> for PackageError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

pub(super) fn dwo_section<E: From<Error>>(image: &Image, id: gimli::SectionId) -> Result<Slice<'_>, E> {
    Ok(section(image, id.dwo_name(), is_needed(id))?)
}

/// Returns any section: the index of a package has ranges in all of them, which are checked.
fn package_section(image: &Image, id: gimli::SectionId) -> Result<Slice<'_>, PackageError> {
    Ok(section(image, id.dwo_name(), true)?)
}

fn section<'a>(image: &'a Image, name: Option<&str>, is_needed: bool) -> Result<Slice<'a>, Error> {
    let bytes = match name.filter(|_| is_needed) {
        Some(name) => image.section(name)?,
        None => &[],
    };
    Ok(Slice::new(bytes, image.endian()))
}

/// Returns `true` for sections that functions and lines are read from. The others would be expanded in vain.
fn is_needed(id: gimli::SectionId) -> bool {
    use gimli::SectionId as Id;

    matches!(
        id,
        Id::DebugAbbrev
            | Id::DebugAddr
            | Id::DebugAranges
            | Id::DebugInfo
            | Id::DebugLine
            | Id::DebugLineStr
            | Id::DebugRanges
            | Id::DebugRngLists
            | Id::DebugStr
            | Id::DebugStrOffsets
    )
}
