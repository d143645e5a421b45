//! Files that are looked at for changes.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// Time between two looks. A change is taken when the next look sees no further one.
const INTERVAL: Duration = Duration::from_secs(1);

/// The state of a file: when it was changed, and its size. `None` if it is not there.
pub(super) type State = Option<(Option<SystemTime>, u64)>;

/// Files, as they were when they were loaded.
#[derive(Debug)]
pub(super) struct Watch {
    paths: Vec<PathBuf>,
    loaded: Vec<State>,
    /// The states at the last look.
    last: Vec<State>,
}

impl Watch {
    /// Begins with the current states of the files.
    pub(super) fn new(paths: &[PathBuf]) -> Self {
        let states = states(paths);
        Watch { paths: paths.to_vec(), last: states.clone(), loaded: states }
    }

    /// Looks at the files once each interval, and loads them when one of them has changed. `load` returns the files as they were before
    /// it read them, or nothing if it failed; it is then tried again after the next change.
    pub(super) fn forever(mut self, mut load: impl FnMut(&Path) -> Option<Watch>) -> ! {
        loop {
            thread::sleep(INTERVAL);
            if let Some(changed) = self.changed()
                && let Some(loaded) = load(&changed)
            {
                self = loaded;
            }
        }
    }

    /// Looks at the files. Returns the first that is not as it was when it was loaded, if nobody writes them: all are as at the last
    /// look, and none is missing or empty.
    fn changed(&mut self) -> Option<PathBuf> {
        let now = states(&self.paths);
        let is_stable = now == self.last && now.iter().flatten().all(|(_, bytes)| *bytes > 0);
        self.last.clone_from(&now);
        if !is_stable || now.contains(&None) {
            return None;
        }
        let changed = now.iter().zip(&self.loaded).position(|(now, loaded)| now != loaded)?;
        self.loaded = now;
        Some(self.paths[changed].clone())
    }
}

pub(super) fn states(paths: &[PathBuf]) -> Vec<State> {
    paths.iter().map(|path| state(path)).collect()
}

fn state(path: &Path) -> State {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok(), metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes a file, with a time of its own.
    fn write(path: &Path, text: &str, seconds: u64) {
        fs::write(path, text).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn a_change_is_seen_once_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        write(&one, "a", 1);
        write(&other, "a", 1);
        let mut watch = Watch::new(&[one.clone(), other.clone()]);
        let mut looks = |count: usize| (0..count).map(|_| watch.changed()).collect::<Vec<_>>();
        assert_eq!(looks(3), [const { None }; 3]);
        // Somebody writes it.
        write(&one, "ab", 2);
        assert_eq!(looks(1), [None]);
        write(&one, "abc", 3);
        assert_eq!(looks(4), [None, Some(one.clone()), None, None]);
        // The same size at another time, and another size at the same time.
        write(&other, "b", 4);
        assert_eq!(looks(3), [None, Some(other.clone()), None]);
        write(&other, "bc", 4);
        assert_eq!(looks(3), [None, Some(other.clone()), None]);
        // Emptied and removed: it will come again.
        write(&one, "", 5);
        assert_eq!(looks(3), [const { None }; 3]);
        fs::remove_file(&one).unwrap();
        assert_eq!(looks(3), [const { None }; 3]);
        write(&one, "abc", 3);
        assert_eq!(looks(3), [const { None }; 3]);
        write(&one, "abc", 6);
        assert_eq!(looks(3), [None, Some(one.clone()), None]);
    }
}
