//! One object file.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use object::{Object as _, ObjectSection as _, ObjectSegment as _};
use self_cell::self_cell;

use crate::{Architecture, BuildId, Error, ErrorKind, FileBytes};

/// The limit of an expanded section, in bytes for each compressed byte and in addition. Debug information shrinks to a third or a
/// tenth; a section of zeros to a thousandth.
const MAX_EXPANSION: u64 = 128;
const FREE_EXPANDED_BYTES: u64 = 1 << 20;

/// The limit of all expanded sections, in bytes for each byte of the file: several can state the same compressed bytes.
const MAX_FILE_EXPANSION: u64 = 32;

pub(crate) type ObjectFile<'a> = object::File<'a, &'a [u8]>;

self_cell!(
    struct ImageCell {
        owner: FileBytes,
        #[covariant]
        dependent: ObjectFile,
    }
);

/// The contents of a section that was compressed.
type Expanded = OnceLock<Result<Vec<u8>, Error>>;

/// An object file with its headers parsed. Everything else is read when it is asked for.
pub(crate) struct Image {
    name: String,
    cell: ImageCell,
    /// Expanded sections, by section index.
    expanded: Box<[Expanded]>,
    /// The bytes that sections may still expand to.
    expandable_bytes: AtomicU64,
    regions: OnceLock<Vec<Region>>,
}

/// A part of a file that is loaded as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The name of the section, if there are sections.
    pub(crate) name: String,
    contents: RegionContents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegionContents {
    Section(object::SectionIndex),
    /// The index of a segment.
    Segment(usize),
}

impl Image {
    pub(crate) fn parse(name: &str, bytes: FileBytes) -> Result<Self, Error> {
        let not_an_object =
            |error: object::Error| Error::new(name, ErrorKind::NotAnObject(error.to_string()));
        let cell = ImageCell::try_new(bytes, |bytes| ObjectFile::parse(single_architecture(bytes)?))
            .map_err(not_an_object)?;
        let section_count = cell.borrow_dependent().sections().map(|section| section.index().0 + 1).max();
        let expanded = (0..section_count.unwrap_or(0)).map(|_| OnceLock::new()).collect();
        let limit = (cell.borrow_owner().len() as u64) * MAX_FILE_EXPANSION + FREE_EXPANDED_BYTES;
        let (expandable_bytes, regions) = (AtomicU64::new(limit), OnceLock::new());
        Ok(Self { name: name.to_owned(), cell, expanded, expandable_bytes, regions })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bytes(&self) -> &FileBytes {
        self.cell.borrow_owner()
    }

    pub(crate) fn object(&self) -> &ObjectFile<'_> {
        self.cell.borrow_dependent()
    }

    pub(crate) fn architecture(&self) -> Architecture {
        Architecture::from_object(self.object().architecture())
    }

    pub(crate) fn is_mach_o(&self) -> bool {
        self.object().format() == object::BinaryFormat::MachO
    }

    /// Returns `true` for what a compiler writes, before it is linked.
    pub(crate) fn is_unlinked(&self) -> bool {
        self.object().kind() == object::ObjectKind::Relocatable
    }

    pub(crate) fn endian(&self) -> gimli::RunTimeEndian {
        if self.object().is_little_endian() {
            gimli::RunTimeEndian::Little
        } else {
            gimli::RunTimeEndian::Big
        }
    }

    pub(crate) fn build_id(&self) -> Option<BuildId> {
        let object = self.object();
        let uuid = || object.mach_uuid().ok().flatten().map(BuildId::from_bytes);
        object.build_id().ok().flatten().map(BuildId::from_bytes).or_else(uuid)
    }

    /// Returns the name and checksum of the file with debug information.
    pub(crate) fn debug_link(&self) -> Option<(String, u32)> {
        let (name, checksum) = self.object().gnu_debuglink().ok()??;
        Some((String::from_utf8_lossy(name).into_owned(), checksum))
    }

    /// Returns the path and build id of the file with debug information that several programs share.
    pub(crate) fn shared_debug_link(&self) -> Option<(String, BuildId)> {
        let (path, build_id) = self.object().gnu_debugaltlink().ok()??;
        Some((String::from_utf8_lossy(path).into_owned(), BuildId::from_bytes(build_id)))
    }

    pub(crate) fn has_section(&self, name: &str) -> bool {
        self.object().section_by_name(name).is_some_and(|section| section.size() > 0)
    }

    /// Returns the contents of a section, expanded. Empty if there is no such section. `.debug_info` also finds `.zdebug_info`
    /// and `__debug_info`.
    pub(crate) fn section(&self, name: &str) -> Result<&[u8], Error> {
        let Some(section) = self.object().section_by_name(name) else { return Ok(&[]) };
        let compressed =
            section.compressed_data().map_err(|error| Error::damaged(&self.name, name, error))?;
        if compressed.format == object::CompressionFormat::None {
            return Ok(compressed.data);
        }
        let expanded = self.expanded[section.index().0].get_or_init(|| {
            let limit = (compressed.data.len() as u64) * MAX_EXPANSION + FREE_EXPANDED_BYTES;
            let bytes = compressed.uncompressed_size;
            let left = &self.expandable_bytes;
            let take = |left: u64| left.checked_sub(bytes).filter(|_| bytes <= limit);
            if let Err(left) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                let limit = limit.min(left);
                let kind = ErrorKind::TooLarge { part: name.to_owned(), bytes, limit };
                return Err(Error::new(&self.name, kind));
            }
            let expanded = compressed.decompress();
            expanded.map(Into::into).map_err(|error| Error::damaged(&self.name, name, error))
        });
        expanded.as_deref().map_err(Error::clone)
    }

    /// Returns the address of a section.
    pub(crate) fn section_address(&self, name: &str) -> Option<u64> {
        self.object().section_by_name(name).map(|section| section.address())
    }

    /// Returns the loaded code, by address.
    pub(crate) fn regions(&self) -> &[Region] {
        self.regions.get_or_init(|| {
            let mut regions = self.code_sections();
            if regions.is_empty() {
                regions = self.code_segments();
            }
            regions.sort_by_key(|region| (region.start, region.end));
            regions
        })
    }

    fn code_sections(&self) -> Vec<Region> {
        let sections = self.object().sections().filter(|section| section.kind() == object::SectionKind::Text);
        let region = |section: object::Section<'_, '_, &[u8]>| {
            let name = String::from_utf8_lossy(section.name_bytes().unwrap_or_default()).into_owned();
            let (start, contents) = (section.address(), RegionContents::Section(section.index()));
            Region { start, end: start.saturating_add(section.size()), name, contents }
        };
        sections.map(region).filter(|region| region.start < region.end).collect()
    }

    fn code_segments(&self) -> Vec<Region> {
        let segments = self.object().segments().enumerate();
        let segments = segments.filter(|(_, segment)| segment.permissions().executable());
        let region = |(index, segment): (usize, object::Segment<'_, '_, &[u8]>)| {
            let (start, contents) = (segment.address(), RegionContents::Segment(index));
            Region { start, end: start.saturating_add(segment.size()), name: String::new(), contents }
        };
        segments.map(region).filter(|region| region.start < region.end).collect()
    }

    pub(crate) fn region_at(&self, address: u64) -> Option<&Region> {
        let regions = self.regions();
        let after = regions.partition_point(|region| region.start <= address);
        let region = &regions[after.checked_sub(1)?];
        (address < region.end).then_some(region)
    }

    /// Returns the bytes from an address to the end of its region. Empty if the file does not have them, as a file with only
    /// debug information.
    pub(crate) fn code_at(&self, address: u64) -> Option<&[u8]> {
        let region = self.region_at(address)?;
        let data = match region.contents {
            RegionContents::Section(index) => self.object().section_by_index(index).ok()?.data().ok()?,
            RegionContents::Segment(index) => self.object().segments().nth(index)?.data().ok()?,
        };
        let offset = usize::try_from(address - region.start).ok()?;
        Some(data.get(offset..).unwrap_or_default())
    }

    /// Returns the directory of the file, if its name is a path.
    pub(crate) fn directory(&self) -> &Path {
        Path::new(&self.name).parent().unwrap_or(Path::new(""))
    }
}

/// Returns the part of a universal Mach-O file that can be decoded; other files as they are.
fn single_architecture(bytes: &[u8]) -> object::Result<&[u8]> {
    use object::read::macho::{FatArch as _, MachOFatFile32, MachOFatFile64};

    let is_decoded = |architecture| Architecture::from_object(architecture).is_decoded();
    match object::FileKind::parse(bytes)? {
        object::FileKind::MachOFat32 => {
            let parts = MachOFatFile32::parse(bytes)?;
            let part = parts.arches().iter().find(|part| is_decoded(part.architecture()));
            part.map_or(Ok(bytes), |part| part.data(bytes))
        }
        object::FileKind::MachOFat64 => {
            let parts = MachOFatFile64::parse(bytes)?;
            let part = parts.arches().iter().find(|part| is_decoded(part.architecture()));
            part.map_or(Ok(bytes), |part| part.data(bytes))
        }
        _ => Ok(bytes),
    }
}
