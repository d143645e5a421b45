//! Answers about a profile in WebAssembly, for a page without a server.
//!
//! The page fills the buffer and calls a function, in this order: `name`, then `add` with the contents, for each file; then
//! `open`; then `ask` for each question. All texts are UTF-8. A function that can fail returns 0 for success; the answer is
//! then what was asked for, or a document `{"error": …}`.
//!
//! These are plain exports instead of `wasm-bindgen`: its generator has to be of the same version as the crate and to be
//! there when the page is built, for an interface of eight functions with numbers. Nothing here reads memory through a
//! pointer: the page writes into the buffer, which is then taken as a whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use gristmill_answers::{FileWork, Files, NoFiles, Request, Session};
use gristmill_output::source::{SourceError, SourceText, Sources};
use gristmill_output::{json, printable};
use gristmill_profile::{Input, InputBytes, Loader, Profile, columns};
use serde_json::json as json_value;

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

/// The state of one page.
#[derive(Default)]
struct Page {
    /// Bytes from the page, for the next call.
    buffer: Vec<u8>,
    /// The name of the next file.
    name: String,
    profile: Vec<Input>,
    base: Vec<Input>,
    sources: BTreeMap<Vec<u8>, Arc<SourceText>>,
    session: Option<Session>,
    answer: Vec<u8>,
}

/// Source files that the page was given.
#[derive(Default)]
struct GivenSources(BTreeMap<Vec<u8>, Arc<SourceText>>);

impl Sources for GivenSources {
    fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError> {
        self.0.get(path).cloned().ok_or(SourceError::Missing)
    }
}

impl Files for GivenSources {
    fn with(&self, work: FileWork) {
        work(self, &NoFiles);
    }

    fn is_available(&self) -> bool {
        !self.0.is_empty()
    }
}

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "page")]
#[allow(unsafe_code, reason = "an import of the page, which takes a number and returns nothing")]
unsafe extern "C" {
    /// Tells the page how many bytes are loaded.
    safe fn progress(bytes: f64);
}

#[cfg(not(target_family = "wasm"))]
fn progress(_: f64) {}

/// Reserves memory for bytes from the page, and returns its address: 0 if there is not enough.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn buffer(length: usize) -> *mut u8 {
    PAGE.with_borrow_mut(|page| {
        page.buffer = Vec::new();
        if page.buffer.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        page.buffer.resize(length, 0);
        page.buffer.as_mut_ptr()
    })
}

/// Takes the buffer as the name of the next file.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn name() {
    PAGE.with_borrow_mut(|page| {
        page.name = String::from_utf8_lossy(&std::mem::take(&mut page.buffer)).into_owned()
    });
}

/// Takes the buffer as the contents of a file: 0 for a profile, 1 for one of the base, 2 for a source, 3 for one that is
/// newer than the profile, 4 and 5 for a profile and one of the base by columns, as the page that `gristmill view` exports has
/// large ones. Returns the length of its text.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn add(role: u32) -> usize {
    PAGE.with_borrow_mut(|page| {
        let (name, mut bytes) = (std::mem::take(&mut page.name), std::mem::take(&mut page.buffer));
        if let 4 | 5 = role {
            // What is not in the form is no profile either, and the loader says so.
            bytes = columns::to_text(&bytes).unwrap_or(bytes);
        }
        let length = bytes.len();
        match role {
            0 | 4 => page.profile.push(Input { name, bytes: InputBytes::from(bytes) }),
            1 | 5 => page.base.push(Input { name, bytes: InputBytes::from(bytes) }),
            _ => {
                let text =
                    SourceText { found_at: name.clone(), text: bytes, changed: None, is_newer: role == 3 };
                page.sources.insert(name.into_bytes(), Arc::new(text));
            }
        }
        length
    })
}

/// Loads the files that were added. Questions are about them from then on.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    PAGE.with_borrow_mut(|page| {
        page.session = None;
        let result = page.open();
        page.finish(result)
    })
}

/// Does one step of what the first questions need, counted from 0, and returns 1 if there are more. The page asks for it
/// while it has no question.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn prepare(step: usize) -> u32 {
    PAGE.with_borrow(|page| page.session.as_ref().is_some_and(|session| session.prepare_step(step)).into())
}

/// Answers the question in the buffer.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    PAGE.with_borrow_mut(|page| {
        let result = page.ask();
        page.finish(result)
    })
}

/// Returns the address of the answer.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    PAGE.with_borrow(|page| page.answer.as_ptr())
}

/// Returns the length of the answer.
#[allow(unsafe_code, reason = "the name is for the page")]
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    PAGE.with_borrow(|page| page.answer.len())
}

impl Page {
    /// Keeps an answer, or the reason why there is none.
    fn finish(&mut self, result: Result<Vec<u8>, String>) -> u32 {
        let (answer, status) = match result {
            Ok(answer) => (answer, 0),
            Err(reason) => (json_value!({ "error": reason }).to_string().into_bytes(), 1),
        };
        self.answer = answer;
        status
    }

    fn open(&mut self) -> Result<Vec<u8>, String> {
        let inputs = std::mem::take(&mut self.profile);
        let base = std::mem::take(&mut self.base);
        let before = inputs.iter().map(|input| input.bytes.len() as u64).sum();
        let sources = Box::new(GivenSources(self.sources.clone()));
        let mut session = Session::new(Arc::new(load(inputs, 0)?), sources);
        if !base.is_empty() {
            session = session.with_base(Arc::new(load(base, before)?));
        }
        self.session = Some(session);
        Ok(b"{}".to_vec())
    }

    fn ask(&mut self) -> Result<Vec<u8>, String> {
        let question = std::mem::take(&mut self.buffer);
        let session = self.session.as_ref().ok_or("no profile is loaded")?;
        let request: Request =
            serde_json::from_slice(&question).map_err(|error| format!("not a question: {error}"))?;
        // A page that waits no longer ends the worker.
        let answer = session.answer(&request, &|| false).map_err(|refusal| refusal.to_string())?;
        // Byte for byte what the server sends.
        let mut bytes = Vec::new();
        json::write_value(&answer, &mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }
}

/// Loads files, after this many bytes of others.
fn load(inputs: Vec<Input>, before: u64) -> Result<Profile, String> {
    let profile = Loader::new().threads(1).progress(&|bytes| tell(before + bytes)).load(inputs);
    match profile.unusable_input() {
        Some(unusable) => Err(format!("{}: {}", printable(unusable.name.as_bytes()), unusable.reason)),
        None => Ok(profile),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a number to show")]
fn tell(bytes: u64) {
    progress(bytes as f64);
}
