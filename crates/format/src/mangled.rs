//! Mangled names: limits for whoever demangles one, so that it takes no more time, stack and memory than these allow, and a repair.

use std::fmt;

/// The limit of mangled names, in bytes. Longer ones stay mangled.
///
/// See the example of [`DemangledText`].
pub const MAX_MANGLED_BYTES: usize = 1 << 14;

/// The limit of nesting in a mangled name. Real names stay far below, and each level takes stack.
///
/// See the example of [`DemangledText`].
pub const MAX_MANGLED_DEPTH: u32 = 96;

/// The limits of demangled names, in bytes. A short name can stand for one that fills the memory, as it can refer to parts of
/// itself. Of 9,867 mangled names of recordings and of the libraries of a machine, none stands for more than 1,024 bytes and
/// 14 for each of its own.
const MAX_DEMANGLED_BYTES: usize = 1 << 16;
const FREE_DEMANGLED_BYTES: usize = 1 << 10;
const MAX_GROWTH: usize = 32;

/// The text that a mangled name stands for, while it is written: an error ends it where it becomes too long.
///
/// ```
/// use std::fmt::Write as _;
///
/// use gristmill_format::{DemangledText, MAX_MANGLED_BYTES, MAX_MANGLED_DEPTH};
///
/// let mut text = DemangledText::new("_ZN5stone5crushEv");
/// assert!(text.write_str("stone::crush()").is_ok());
/// assert!(text.write_str(&"x".repeat(1 << 11)).is_err());
/// assert_eq!(text.into_string(), "stone::crush()");
/// assert!(MAX_MANGLED_BYTES > 1 << 10 && MAX_MANGLED_DEPTH < 1 << 10);
/// ```
#[derive(Debug, Clone)]
pub struct DemangledText {
    text: String,
    max_bytes: usize,
}

impl DemangledText {
    /// Creates an empty text for what a mangled name stands for.
    pub fn new(mangled: &str) -> Self {
        let max_bytes = FREE_DEMANGLED_BYTES + MAX_GROWTH * mangled.len();
        DemangledText { text: String::new(), max_bytes: max_bytes.min(MAX_DEMANGLED_BYTES) }
    }

    /// Returns the text that was written.
    pub fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Write for DemangledText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.max_bytes {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// The limit of the ends of a name that are tried.
const MAX_ENDS: usize = 128;

/// Returns the name of a C++ constructor that is a template with a return type, which only functions have. `None` for any other name. The
/// demangler takes the first type of every template for the type that it returns, so a constructor would lose its first parameter.
///
/// `demangle` demangles a name.
///
/// ```
/// use gristmill_format::with_return_type;
///
/// let demangle = |name: &str| (name == "_ZN1SC1IiEEv").then(|| "S::S<int>()".to_owned());
/// assert_eq!(with_return_type("_ZN1SC1IiEEiT_", demangle).as_deref(), Some("_ZN1SC1IiEEviT_"));
/// assert_eq!(with_return_type("_ZN5stone5crushEi", demangle), None);
/// ```
pub fn with_return_type(symbol: &str, demangle: impl Fn(&str) -> Option<String>) -> Option<String> {
    // Names within a function begin with it.
    let names = symbol.strip_prefix("_Z")?.trim_start_matches('Z').strip_prefix('N')?;
    let is_constructor = |word: &[u8]| matches!(word, [b'C', b'1'..=b'5', b'I']);
    let first = names.as_bytes().windows(3).position(is_constructor)?;
    // The last part of the name has arguments, which end before the name does.
    let ends = names
        .bytes()
        .enumerate()
        .skip(first)
        .filter(|&(end, byte)| byte == b'E' && names[..end].ends_with('E'));
    ends.take(MAX_ENDS).find_map(|(end, _)| {
        let (name, parameters) = names.split_at(end + 1);
        // A name that is not complete cannot be demangled. That of a function begins with the type that it returns.
        let is_function = demangle(&format!("_ZN{name}v"))?.starts_with("void ");
        let start = &symbol[..symbol.len() - parameters.len()];
        Some((!is_function && !parameters.is_empty()).then(|| format!("{start}v{parameters}")))
    })?
}
