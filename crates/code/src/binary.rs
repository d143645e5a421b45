//! A program or library, and everything that is known about its code.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::debug_info::{DebugFiles, DebugInfo};
use crate::disassembler::starts;
use crate::image::Image;
use crate::separate::{self, Separate};
use crate::symbols::Symbols;
use crate::{
    Architecture, BuildId, Error, ErrorKind, FileBytes, Frame, Function, Instructions, Locator, SourceLine,
    Syntax, Wanted,
};

/// A program or shared library.
///
/// Opening one reads its headers. Symbols, lines and functions are read when they are asked for, those of lines and functions for
/// one unit of the compiler at a time. Threads share a `Binary`, and what one has read all have.
///
/// ```
/// # use gristmill_code::{Binary, FileSystem, Locator, Syntax};
/// # fn run() -> Result<(), gristmill_code::Error> {
/// let locator = Locator::new(FileSystem).debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
/// let binary = Binary::open("target/release/mill", &locator)?;
/// for function in binary.functions_named("mill::grind") {
///     for instruction in binary.instructions(function.range(), Syntax::Att)? {
///         let chain = binary.frames(instruction.address())?;
///         println!("{:x}  {instruction}  {}", instruction.address(), chain[0].source());
///     }
/// }
/// # Ok(())
/// # }
/// # let _ = run();
/// ```
pub struct Binary {
    path: PathBuf,
    locator: Option<Locator>,
    image: Arc<Image>,
    separate: OnceLock<Separate>,
    symbols: OnceLock<Symbols>,
    debug_info: OnceLock<Result<Option<DebugInfo>, Error>>,
}

impl Binary {
    /// Opens a program or library where a profile says that it is.
    ///
    /// # Errors
    ///
    /// If there is no such file, it cannot be read, or it is no object file.
    pub fn open(path: impl AsRef<Path>, locator: &Locator) -> Result<Self, Error> {
        let path = path.as_ref();
        let Some(found) = locator.open(path)? else {
            let tried =
                locator.candidates(path).iter().map(|path| path.to_string_lossy().into_owned()).collect();
            return Err(Error::new(&path.to_string_lossy(), ErrorKind::NotFound { tried }));
        };
        Self::new(found.path, found.bytes, Some(locator.clone()))
    }

    /// Fetches a program by its build id, through [`FileSource::fetch`](crate::FileSource::fetch).
    ///
    /// # Errors
    ///
    /// If it cannot be fetched, or is no object file.
    pub fn fetch(build_id: &BuildId, locator: &Locator) -> Result<Self, Error> {
        let name = format!("build id {build_id}");
        let Some(bytes) = locator.fetch(build_id, Wanted::Program)? else {
            return Err(Error::new(&name, ErrorKind::NotFound { tried: Vec::new() }));
        };
        Self::new(name.into(), bytes, Some(locator.clone()))
    }

    /// Reads a program or library from its bytes, and nothing else: debug information in other files is not looked for.
    ///
    /// # Errors
    ///
    /// If the bytes are no object file.
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: impl Into<FileBytes>) -> Result<Self, Error> {
        Self::new(name.into(), bytes.into(), None)
    }

    fn new(path: PathBuf, bytes: FileBytes, locator: Option<Locator>) -> Result<Self, Error> {
        let image = Arc::new(Image::parse(&path.to_string_lossy(), bytes)?);
        let (separate, symbols, debug_info) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { path, locator, image, separate, symbols, debug_info })
    }

    /// Returns the path at which it was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its instruction set.
    pub fn architecture(&self) -> Architecture {
        self.image.architecture()
    }

    /// Returns its build id, or the UUID of a Mach-O file.
    pub fn build_id(&self) -> Option<BuildId> {
        self.image.build_id()
    }

    /// Returns the addresses that have code, by address.
    pub fn code_ranges(&self) -> Vec<Range<u64>> {
        self.image.regions().iter().map(|region| region.start..region.end).collect()
    }

    /// Returns `true` if there is code at an address.
    pub fn has_code(&self, address: u64) -> bool {
        self.image.region_at(address).is_some()
    }

    /// Returns the path of the file with debug information: its own, or that of a separate one. `None` if there is none.
    pub fn debug_file(&self) -> Option<&Path> {
        let image =
            if self.has_own_debug_info() { Some(&self.image) } else { self.separate().image.as_ref() };
        image.map(|image| Path::new(image.name()))
    }

    /// Returns `true` if there is debug information, in this file or a separate one.
    pub fn has_debug_info(&self) -> bool {
        let separate = || self.separate().image.as_ref();
        self.has_own_debug_info() || separate().is_some_and(|image| image.has_section(".debug_info"))
    }

    /// Returns `true` if there is no symbol table, in this file or a separate one: only exported functions have names.
    pub fn is_stripped(&self) -> bool {
        use object::Object as _;

        let has_symbols = |image: &Image| image.object().symbols().next().is_some();
        !has_symbols(&self.image) && !self.separate().image.as_deref().is_some_and(has_symbols)
    }

    /// Returns why debug information or symbols are missing or incomplete, as far as they were asked for.
    pub fn problems(&self) -> Vec<Error> {
        let mut problems = self.separate.get().map(|separate| separate.problems.clone()).unwrap_or_default();
        match self.debug_info.get() {
            Some(Ok(Some(debug_info))) => problems.extend(debug_info.files().missing()),
            Some(Err(error)) => problems.push(error.clone()),
            _ => {}
        }
        if self.symbols.get().is_some_and(Symbols::is_cut) {
            let reason = "the names of its symbols are longer than the file can hold";
            problems.push(Error::damaged(self.image.name(), "symbol table", reason));
        }
        problems
    }

    /// Returns the function at an address.
    ///
    /// Of several names of one function it has that with the largest size, and of these the last in the file, as LLVM's symbolizer.
    /// [`aliases`](Binary::aliases) has all.
    pub fn function(&self, address: u64) -> Option<Function<'_>> {
        self.symbols().at(address)
    }

    /// Returns a function for each name of the one that starts at an address.
    pub fn aliases(&self, start: u64) -> Vec<Function<'_>> {
        self.symbols().aliases(start)
    }

    /// Returns all functions by address, and of each address one.
    pub fn functions(&self) -> Vec<Function<'_>> {
        self.symbols().all()
    }

    /// Returns the functions with a name. It may be mangled or demangled, and can lack arguments and the marks of compilers: `grind`
    /// finds `grind.part.0` if there is no `grind`. A name can have several functions, as static functions of several files.
    pub fn functions_named(&self, name: &str) -> Vec<Function<'_>> {
        self.symbols().named(name)
    }

    /// Returns the source line of an address. `None` if there is no debug information for it.
    ///
    /// # Errors
    ///
    /// If the debug information is damaged.
    pub fn line(&self, address: u64) -> Result<Option<SourceLine>, Error> {
        let Some(debug_info) = self.debug_info()? else { return Ok(None) };
        debug_info.line(address)
    }

    /// Returns the chain of functions at an address, innermost first: each was inlined into the next one. The last one is the function
    /// that the code belongs to. Empty if nothing is known about the address.
    ///
    /// The chain is that of `llvm-addr2line -i -f`: the last name is the one of the symbol table if there is one.
    ///
    /// ```
    /// # use gristmill_code::{Binary, FileSystem, Locator};
    /// # fn run() -> Result<(), gristmill_code::Error> {
    /// let binary = Binary::open("target/release/mill", &Locator::new(FileSystem))?;
    /// for frame in binary.frames(0x1149)? {
    ///     let name = frame.readable_function().unwrap_or_else(|| "?".to_owned());
    ///     println!("{name} at {}{}", frame.source(), if frame.is_inlined() { ", inlined into" } else { "" });
    /// }
    /// # Ok(())
    /// # }
    /// # let _ = run();
    /// ```
    ///
    /// # Errors
    ///
    /// If the debug information is damaged.
    pub fn frames(&self, address: u64) -> Result<Vec<Frame>, Error> {
        let mut frames = match self.debug_info()? {
            Some(debug_info) => debug_info.frames(address)?,
            None => Vec::new(),
        };
        if let Some(name) = self.symbols().name_at(address) {
            match frames.last_mut() {
                Some(last) => last.set_function(name),
                None => frames.push(Frame::new(Some(name), None, false)),
            }
        }
        Ok(frames)
    }

    /// Decodes the instructions of a range, such as that of a function. The range ends where the code of the file ends.
    ///
    /// # Errors
    ///
    /// If there is no code at the start of the range, or no decoder for it.
    pub fn instructions(&self, range: Range<u64>, syntax: Syntax) -> Result<Instructions<'_>, Error> {
        let no_code = || Error::new(self.image.name(), ErrorKind::NoCode { address: range.start });
        let code = self.code(&range).ok_or_else(no_code)?;
        let instructions = Instructions::new(self.architecture(), code, range.start, syntax);
        instructions.map_err(|error| Error::new(self.image.name(), error.kind().clone()))
    }

    /// Returns the addresses at which the instructions of a range start, ascending. `None` if they cannot be decoded.
    pub(crate) fn instruction_starts(&self, range: Range<u64>) -> Option<Vec<u64>> {
        starts(self.architecture(), self.code(&range)?, range.start)
    }

    /// The code of a range as far as it goes. `None` if there is none at its start.
    fn code(&self, range: &Range<u64>) -> Option<&[u8]> {
        let code = self.image.code_at(range.start).filter(|code| !code.is_empty())?;
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        Some(&code[..length.min(code.len())])
    }

    fn has_own_debug_info(&self) -> bool {
        self.image.has_section(".debug_info")
    }

    fn separate(&self) -> &Separate {
        self.separate.get_or_init(|| match &self.locator {
            Some(locator) if !self.has_own_debug_info() => separate::find(&self.image, &self.path, locator),
            _ => Separate { image: None, problems: Vec::new() },
        })
    }

    fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::new(self.image.clone(), self.separate().image.clone()))
    }

    fn debug_info(&self) -> Result<Option<&DebugInfo>, Error> {
        let debug_info = self.debug_info.get_or_init(|| {
            if self.image.is_unlinked() {
                return Err(Error::new(self.image.name(), ErrorKind::NotLinked));
            }
            let image =
                if self.has_own_debug_info() { Some(&self.image) } else { self.separate().image.as_ref() };
            let Some(image) = image.filter(|image| image.has_section(".debug_info")) else { return Ok(None) };
            let files = DebugFiles::new(image.clone(), &self.path, self.locator.as_ref())?;
            DebugInfo::new(files).map(Some)
        });
        debug_info.as_ref().map(Option::as_ref).map_err(Error::clone)
    }
}

impl fmt::Debug for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, architecture) = (&self.path, self.architecture());
        f.debug_struct("Binary")
            .field("path", path)
            .field("architecture", &architecture)
            .finish_non_exhaustive()
    }
}
