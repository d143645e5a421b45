//! The files that debug information of one program is in.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Dwarf, Slice};
use crate::image::Image;
use crate::{Error, ErrorKind, FoundFile, Locator, Wanted};

/// Ranges and rows that every file may have, in addition to one for each byte.
const FREE_ELEMENTS: usize = 1 << 12;

/// Sections whose bytes are what ranges and rows are made of.
const COUNTED_SECTIONS: [&str; 5] =
    [".debug_info", ".debug_line", ".debug_ranges", ".debug_rnglists", ".debug_aranges"];

/// Files with debug information.
pub(crate) struct DebugFiles {
    main: Arc<Image>,
    shared: Option<Image>,
    package: Option<Image>,
    /// The `.dwo` of each unit.
    split: Box<[OnceLock<Option<Image>>]>,
    program: PathBuf,
    locator: Option<Locator>,
    missing: Mutex<Vec<Error>>,
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
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn miss(&self, error: Error) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if !missing.contains(&error) {
            missing.push(error);
        }
    }

    pub(super) fn damaged(&self, part: &str, reason: impl fmt::Display) -> Error {
        Error::damaged(self.main.name(), part, reason)
    }

    /// Returns the limit of ranges and rows.
    pub(super) fn budget(&self) -> usize {
        let images = [Some(&*self.main), self.shared.as_ref(), self.package.as_ref()];
        FREE_ELEMENTS + images.into_iter().flatten().map(counted_bytes).sum::<usize>()
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
    pub(super) fn open_split(&self, unit: usize, directory: Option<&str>, name: &str) -> Option<&Image> {
        let slot = self.split.get(unit)?;
        let image = slot.get_or_init(|| {
            let path =
                directory.map_or_else(|| PathBuf::from(name), |directory| Path::new(directory).join(name));
            let found = self.find_split(&path);
            found.map_err(|error| self.miss(error)).ok()
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
                return Image::parse(&path.to_string_lossy(), bytes);
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
                    if let Some(image) = image.filter(|image| image.build_id().as_ref() == Some(&build_id)) {
                        return Some(image);
                    }
                }
                Ok(None) => {}
                Err(error) => self.miss(error),
            }
        }
        match locator.fetch(&build_id, Wanted::DebugInfo) {
            Ok(Some(bytes)) => return self.parse(FoundFile { path: name.into(), bytes }),
            Ok(None) => {
                let tried = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                self.miss(Error::new(&name, ErrorKind::NotFound { tried }));
            }
            Err(error) => self.miss(error),
        }
        None
    }

    fn parse(&self, found: FoundFile) -> Option<Image> {
        let image = Image::parse(&found.path.to_string_lossy(), found.bytes);
        image.map_err(|error| self.miss(error)).ok()
    }
}

/// Returns the bytes of an image that ranges and rows can be made of.
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
