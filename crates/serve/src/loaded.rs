//! The profile that is served now, and what can be asked of it.

use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use gristmill_answers::{Refusal, Request, Session};
use gristmill_output::json;
use serde::Serialize;

/// A thing that answers questions as JSON.
pub(crate) trait AnswerSource: Send + Sync {
    /// Answers a question. `is_cancelled` is asked between the steps of long answers.
    fn answer(&self, request: &Request, is_cancelled: &dyn Fn() -> bool) -> Result<Vec<u8>, Refusal>;

    /// Does ahead what the first screen needs.
    fn prepare_first_screen(&self) {}

    /// Does ahead what the questions after it need. `is_cancelled` is asked between the steps.
    fn prepare(&self, _is_cancelled: &dyn Fn() -> bool) {}
}

/// Prepares a source of answers on a thread of its own, until it is done or nobody else has the source.
fn prepare(source: &Arc<dyn AnswerSource>) {
    let source = Arc::clone(source);
    // Without a thread, the questions do it when they come.
    let _ = thread::Builder::new().name("prepare".to_owned()).spawn(move || {
        // A person waits for this.
        source.prepare_first_screen();
        let_others_go_first();
        source.prepare(&|| Arc::strong_count(&source) == 1);
    });
}

/// The number of a process or thread that runs when no other one wants to.
#[cfg(target_os = "linux")]
const MIN_PRIORITY: i32 = 19;

/// Lets threads that answer questions have the processor before this thread, and the threads that it starts.
fn let_others_go_first() {
    // On Linux, the number is that of a thread. Without it, questions wait longer.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, MIN_PRIORITY);
}

impl AnswerSource for Session {
    fn prepare_first_screen(&self) {
        self.prepare_step(0);
    }

    fn prepare(&self, is_cancelled: &dyn Fn() -> bool) {
        Session::prepare(self, is_cancelled);
    }

    fn answer(&self, request: &Request, is_cancelled: &dyn Fn() -> bool) -> Result<Vec<u8>, Refusal> {
        let answer = Session::answer(self, request, is_cancelled)?;
        let mut bytes = Vec::new();
        let written: io::Result<()> = json::write_value(&answer, &mut bytes);
        written.map_err(|error| Refusal::Write(error.to_string()))?;
        Ok(bytes)
    }
}

/// The state of loading, as `/api/loaded` gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LoadedState {
    /// The count of times that a profile was loaded. Ids of functions hold for one of them.
    pub(crate) generation: u64,
    /// The reason why the last attempt to load it again failed: the answers are those of the profile before.
    pub(crate) failure: Option<String>,
    /// `true` if the profile is loaded again when it changes. Otherwise all of this stays as it is.
    pub(crate) is_watched: bool,
}

/// The source of answers with its state.
#[derive(Clone)]
struct Current {
    source: Arc<dyn AnswerSource>,
    state: LoadedState,
}

/// The profile that is served now. It can be replaced.
pub(crate) struct Loaded(RwLock<Current>);

impl Loaded {
    pub(crate) fn new(source: Arc<dyn AnswerSource>, is_watched: bool) -> Self {
        prepare(&source);
        let state = LoadedState { generation: 1, failure: None, is_watched };
        Loaded(RwLock::new(Current { source, state }))
    }

    fn read(&self) -> RwLockReadGuard<'_, Current> {
        // Each write is one assignment, so the value is whole even after a panic.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Current> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the source of answers, and the generation that they are from.
    pub(crate) fn source(&self) -> (Arc<dyn AnswerSource>, u64) {
        let current = self.read();
        (Arc::clone(&current.source), current.state.generation)
    }

    pub(crate) fn state(&self) -> LoadedState {
        self.read().state.clone()
    }

    pub(crate) fn replace(&self, source: Arc<dyn AnswerSource>) {
        prepare(&source);
        let mut current = self.write();
        let LoadedState { generation, is_watched, .. } = current.state;
        let state = LoadedState { generation: generation + 1, failure: None, is_watched };
        *current = Current { source, state };
    }

    pub(crate) fn fail(&self, reason: String) {
        self.write().state.failure = Some(reason);
    }
}
