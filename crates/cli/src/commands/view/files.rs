//! The thread that finds sources and programs for answers. The finders keep what they read, without locks, so they stay on one
//! thread, and work arrives through a channel.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use gristmill_answers::{FileWork, Files};

use crate::args::{ProgramArgs, SourceArgs};
use crate::error::CliError;
use crate::programs::ProgramFinder;
use crate::session::Session;
use crate::size::Size;
use crate::source_finder::SourceFinder;

/// The options of the finders.
#[derive(Debug)]
pub(super) struct FinderArgs {
    pub(super) source: SourceArgs,
    pub(super) program: ProgramArgs,
    /// The time when the oldest profile was written.
    pub(super) profile_time: Option<SystemTime>,
    /// The size that `--max-size` allows.
    pub(super) max_size: Size,
}

/// The thread with the finders of one loaded profile. It ends when this is dropped.
pub(super) struct FileThread {
    work: Option<Sender<FileWork>>,
    thread: Option<JoinHandle<()>>,
}

impl FileThread {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If an option is not valid, or the system starts no thread.
    pub(super) fn start(args: FinderArgs) -> Result<Self, CliError> {
        let (work, received) = mpsc::channel();
        let (begun, is_begun) = mpsc::sync_channel(1);
        let run = move || {
            // Messages about sources go to standard error; nothing is written to standard output.
            let session = Session::in_process(args.max_size, io::sink(), io::stderr());
            let FinderArgs { source, program, profile_time, .. } = &args;
            let sources = SourceFinder::new(source, &program.debuginfo_dir, *profile_time, &session);
            let finders = sources
                .and_then(|sources| Ok((sources, ProgramFinder::new(program, &source.sources_below)?)));
            match finders {
                Ok((sources, programs)) => {
                    // It is waited for below.
                    let _ = begun.send(Ok(()));
                    serve(&received, &sources, &programs);
                }
                Err(error) => drop(begun.send(Err(error))),
            }
        };
        let thread = thread::Builder::new().name("files".to_owned()).spawn(run).map_err(|error| {
            CliError::Usage { message: format!("the system starts no thread: {error}"), hint: None }
        })?;
        let started = FileThread { work: Some(work), thread: Some(thread) };
        match is_begun.recv() {
            Ok(Ok(())) => Ok(started),
            Ok(Err(error)) => Err(error),
            // It panicked, which has been reported.
            Err(_) => Err(CliError::Usage { message: "sources cannot be searched".to_owned(), hint: None }),
        }
    }
}

/// Does work until there is no more.
fn serve(received: &Receiver<FileWork>, sources: &SourceFinder<'_>, programs: &ProgramFinder) {
    for work in received {
        // A panic fails one answer, which learns that nothing was found for it. What the finders keep is added when it is whole.
        let _ = catch_unwind(AssertUnwindSafe(|| work(sources, programs)));
    }
}

impl Files for FileThread {
    fn with(&self, work: FileWork) {
        if let Some(sender) = &self.work {
            // If the thread is gone, the work is dropped, and its owner sees that.
            let _ = sender.send(work);
        }
    }
}

impl Drop for FileThread {
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(source: SourceArgs) -> FinderArgs {
        let program = ProgramArgs::default();
        FinderArgs { source, program, profile_time: None, max_size: Size::from_bytes(1 << 20) }
    }

    /// Asks for a source on the thread. `None` if the work got lost.
    fn found(files: &FileThread, path: &str) -> Option<bool> {
        let (sender, receiver) = mpsc::channel();
        let path = path.as_bytes().to_vec();
        files.with(Box::new(move |sources, _| sender.send(sources.get(&path).is_ok()).unwrap()));
        receiver.recv().ok()
    }

    #[test]
    fn work_that_panics_is_lost_and_the_next_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        std::fs::write(&path, "text").unwrap();
        let files = FileThread::start(args(SourceArgs::default())).unwrap();
        assert_eq!(found(&files, path.to_str().unwrap()), Some(true));
        let (sender, receiver) = mpsc::channel::<()>();
        files.with(Box::new(move |_, _| {
            let _sender = sender;
            panic!("the work of a test panics");
        }));
        assert!(receiver.recv().is_err());
        assert_eq!(found(&files, path.to_str().unwrap()), Some(true));
        assert_eq!(found(&files, "no/such/file"), Some(false));
    }

    #[test]
    fn options_that_are_not_valid_are_reported() {
        let source = SourceArgs { source_map: vec!["x".to_owned()], ..SourceArgs::default() };
        let Err(error) = FileThread::start(args(source)) else { panic!("an error expected") };
        assert!(error.to_string().starts_with("--source-map"), "{error}");
    }
}
