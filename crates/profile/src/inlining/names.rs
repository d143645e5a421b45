//! Names of inlined functions, as the profile would spell them.

use std::borrow::Cow;

use gristmill_format::FunctionName;

use crate::hash::Map;
use crate::id::{FunctionId, ObjectId};
use crate::profile::Profile;
use crate::symbol::{demangle, rust_hash};

/// The spelling of names that the functions of an object have.
#[derive(Debug, Clone, Copy, Default)]
struct NameStyle {
    keeps_cpp: bool,
    keeps_rust: bool,
    has_hashes: bool,
}

/// The functions of an object by their demangled names, and the spelling of these.
pub(super) struct ObjectNames {
    by_name: Map<String, Vec<FunctionId>>,
    style: NameStyle,
}

impl ObjectNames {
    /// Takes the functions of each object, by object.
    pub(super) fn of_objects(
        profile: &Profile,
        wanted: impl Fn(ObjectId) -> bool,
    ) -> Map<ObjectId, ObjectNames> {
        let mut objects: Map<ObjectId, ObjectNames> = Map::default();
        for id in profile.functions() {
            let function = profile.function(id);
            if !wanted(function.object) {
                continue;
            }
            let names = objects
                .entry(function.object)
                .or_insert_with(|| ObjectNames { by_name: Map::default(), style: NameStyle::default() });
            let base = FunctionName::parse(function.name).base();
            names.style.keeps_cpp |= base.starts_with(b"_Z") && demangle(base).is_some();
            names.style.keeps_rust |= base.starts_with(b"_R") && demangle(base).is_some();
            names.style.has_hashes |= !base.starts_with(b"_") && !rust_hash(base).is_empty();
            names.by_name.entry(key(base, true)).or_default().push(id);
            if !rust_hash(base).is_empty() {
                names.by_name.entry(key(base, false)).or_default().push(id);
            }
        }
        objects
    }

    /// Returns the functions that have a name, with the same hash if both names have one.
    pub(super) fn find(&self, name: &[u8]) -> &[FunctionId] {
        let found = self.by_name.get(&key(name, true));
        // Without hashes in the profile, one name stands for all instances of a generic function.
        let found = found.or_else(|| {
            let is_hashed = !rust_hash(name).is_empty() && !self.style.has_hashes && !self.style.keeps_cpp;
            self.by_name.get(&key(name, false)).filter(|_| is_hashed)
        });
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// Spells a name of the source as the functions of the object are spelled.
    pub(super) fn spell(&self, name: &[u8]) -> Vec<u8> {
        let NameStyle { keeps_cpp, keeps_rust, has_hashes } = self.style;
        let is_kept = if name.starts_with(b"_R") { keeps_rust } else { keeps_cpp };
        let demangled = if is_kept { None } else { demangle(name) };
        let spelled = match demangled {
            Some(text) => {
                let hash = rust_hash(name);
                let hash = if has_hashes && !hash.is_empty() { format!("::h{hash}") } else { String::new() };
                Cow::Owned((text + &hash).into_bytes())
            }
            None => Cow::Borrowed(name),
        };
        writable(&spelled)
    }
}

/// Returns what equal names have in common: the demangled text without blanks, which demanglers put in different places.
fn key(name: &[u8], with_hash: bool) -> String {
    let text = demangle(name).unwrap_or_else(|| String::from_utf8_lossy(name).into_owned());
    let mut key: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    if with_hash {
        key.push('\n');
        key.push_str(rust_hash(name));
    }
    key
}

/// Returns `true` if a name tells the function without its file: it is mangled, and not local to its file.
pub(super) fn is_unique(name: &[u8]) -> bool {
    let is_mangled = [&b"_Z"[..], b"_R", b"__Z"].iter().any(|start| name.starts_with(start));
    let is_anonymous = memchr::memmem::find(name, b"12_GLOBAL__N_1").is_some();
    is_mangled && !name.starts_with(b"_ZL") && !is_anonymous
}

/// Returns a text of debug information as a line of a profile can hold it.
pub(super) fn writable(text: &[u8]) -> Vec<u8> {
    let is_control = |byte: u8| byte.is_ascii_control();
    let clean = text.iter().map(|&byte| if is_control(byte) { b'?' } else { byte });
    let clean: Vec<u8> = clean.skip_while(|byte| *byte == b' ').collect();
    if clean.is_empty() { b"???".to_vec() } else { clean }
}
