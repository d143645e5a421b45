//! The files of a recording, and what is said of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gristmill_output::{grouped, shell_word};
use gristmill_profile::{FileHeader, HEADER_BYTES, Profile, Selection};
use gristmill_report::{DamageRow, EventColumn};

use super::earlier::Settled;
use super::valgrind_log::{Processes, ValgrindLog};
use crate::args::{RecordArgs, YesNo};
use crate::error::CliError;
use crate::full_disk::cannot_be_written;
use crate::launcher;
use crate::load;
use crate::output_name::{OutputName, files_of_base};
use crate::session::Session;
use crate::terminal::printable_path;
use crate::valgrind::messages::{Ending, MISSING_REASON};
use crate::valgrind::search_path;

/// Bytes at the end of a file that have the line with its totals.
const MAX_TAIL_BYTES: u64 = 4 << 10;

/// The reasons why there is no profile.
const NOT_WRITTEN_HINT: &str = "the profile is written when the program ends: not if it is killed, runs another one in its place, or may no longer write there";

/// Files that the next command names, and processes that a line names.
const MAX_NAMED: usize = 5;

/// The files of a recording.
#[derive(Debug)]
pub(super) struct Recorded {
    /// Those with a profile: that of the program first, then those of other processes.
    pub(super) files: Vec<PathBuf>,
    /// Those that could not be written to the end of each part, each with `true` if it has whole parts. Others are removed.
    cut_off: Vec<(PathBuf, bool)>,
    /// Those of an earlier recording that have the name and the process id of one of this recording.
    similar: Vec<PathBuf>,
    /// Processes that go on, each with the file that it will write.
    running: Vec<(u32, PathBuf)>,
    /// The names of profiles that are not there, although their processes had some.
    lost: Vec<PathBuf>,
    /// Other processes without a profile. Their messages do not tell how they ended.
    without_profile: Vec<u32>,
    /// `true` if files are there, but none of them is of the program itself, although each process has its own.
    is_program_missing: bool,
    /// The count of processes. With one name for all of them, the file is that of the last one.
    process_count: usize,
    has_file_for_each_process: bool,
    /// `true` if later processes can have the ids of earlier ones: some have lower ids than the program.
    have_ids_come_round: bool,
    /// The name for the program, and its process.
    name: PathBuf,
    program: u32,
}

impl Recorded {
    /// Finds the files of these processes, and removes the empty ones that Callgrind leaves. With `combines`, a file can have several
    /// parts.
    pub(super) fn find(
        name: &OutputName,
        program: u32,
        (processes, log): (&Processes, &ValgrindLog),
        settled: &Settled,
        combines: bool,
    ) -> Recorded {
        let others = processes.all.iter().copied().filter(|process| *process != program);
        let mut files = Vec::new();
        let is_of_one =
            |path: &Path| process_of(path).is_some_and(|process| processes.all.contains(&process));
        // A forked process that goes on may be writing to the file of the program.
        let is_open = |path: &Path| processes.running.iter().any(|other| path == name.of_process(*other));
        let mut similar = Vec::new();
        let mut seen = HashSet::new();
        let mut files_of = files_of_each(name, program, processes);
        let mut is_disk_full = None;
        let (mut lost, mut without_profile) = (Vec::new(), Vec::new());
        for process in std::iter::once(program).chain(others) {
            let paths = match settled.other_base(process) {
                Some(base) => files_of_base(base),
                None => files_of.remove(&process).unwrap_or_default(),
            };
            // Beside files of threads, Callgrind leaves one that is empty.
            let base = name.of_process(process);
            let is_of_threads = paths.iter().any(|path| is_of_thread(path, &base));
            let found = files.len();
            for path in paths {
                let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
                if !is_file || !seen.insert(path.clone()) {
                    continue;
                }
                if settled.is_earlier(&path) {
                    if is_of_one(&path) {
                        similar.push(path);
                    }
                    continue;
                }
                if path.metadata().is_ok_and(|metadata| metadata.len() == 0) {
                    if path != base {
                        // A part before the end, of which nothing could be written.
                        if !processes.running.contains(&process) {
                            files.push(path);
                        }
                    } else if !is_open(&path) {
                        // The disk is one, and there can be thousands of processes.
                        if !is_of_threads && log.ending(process, program).is_loss()
                            || *is_disk_full.get_or_insert_with(|| cannot_be_written(&path))
                        {
                            files.push(path);
                        } else {
                            remove_empty(&path);
                        }
                    }
                } else if is_of_one(&path) {
                    files.push(path);
                }
            }
            // In one file for all, each replaces what the one before wrote. The program itself has another message.
            let is_missing = name.has_process_id() && files.len() == found && process != program;
            if is_missing && !processes.running.contains(&process) {
                match log.ending(process, program) {
                    ending if ending.is_loss() => lost.push(base),
                    Ending::WithoutCosts => {}
                    _ => without_profile.push(process),
                }
            }
        }
        let cut_off: Vec<_> = files
            .iter()
            .filter(|path| !is_open(path) && !(has_end(path) && (!combines || are_parts_whole(path))))
            .map(|path| (path.clone(), has_whole_part(path)))
            .collect();
        let removed = cut_off.iter().filter(|(_, has_whole_part)| !has_whole_part);
        let removed: BTreeSet<&Path> = removed.map(|(path, _)| path.as_path()).collect();
        for path in &removed {
            // A profile without its end looks like one with less cost.
            let _ = std::fs::remove_file(path);
        }
        files.retain(|file| !removed.contains(file.as_path()));
        let is_of_program = |path: &PathBuf| process_of(path) == Some(program);
        let is_program_missing =
            name.has_process_id() && !files.is_empty() && !files.iter().any(is_of_program);
        let running = processes.running.iter().map(|process| (*process, name.of_process(*process)));
        Recorded {
            running: running.collect(),
            cut_off,
            similar,
            lost,
            without_profile,
            is_program_missing,
            process_count: processes.all.len(),
            has_file_for_each_process: name.has_process_id(),
            have_ids_come_round: processes.all.iter().any(|process| *process < program),
            name: name.of_process(program),
            program,
            files,
        }
    }

    /// Reports what was recorded, unless that is not wanted. Returns `false` if the profile is not there, or not to its end.
    pub(super) fn report(
        &self,
        time: &Duration,
        engine: Option<&str>,
        args: &RecordArgs,
        session: &Session,
    ) -> bool {
        for (path, has_whole_part) in &self.cut_off {
            let fate = if *has_whole_part { "a part of it is cut off" } else { "removed, as it was cut off" };
            session.report(&CliError::Usage {
                message: format!("{}: {fate}: not all of it could be written", printable_path(path)),
                hint: Some("is the disk full?".to_owned()),
            });
        }
        for path in &self.lost {
            session.report(&CliError::Usage {
                message: format!("{}: this profile could not be written", printable_path(path)),
                hint: Some("is the disk full?".to_owned()),
            });
        }
        if self.files.is_empty() {
            let is_device = self.name.metadata().is_ok_and(|metadata| !metadata.is_file());
            if !is_device && self.cut_off.is_empty() {
                session.report(&CliError::Usage {
                    message: format!("nothing was recorded: {} was not written", printable_path(&self.name)),
                    hint: Some(NOT_WRITTEN_HINT.to_owned()),
                });
            }
            return is_device;
        }
        let is_damaged = !args.quiet && self.tell(time, engine, args, session);
        if self.is_program_missing && self.cut_off.is_empty() {
            session.report(&CliError::Usage {
                message: format!(
                    "the program itself has no profile: {} was not written",
                    printable_path(&self.name)
                ),
                hint: Some(NOT_WRITTEN_HINT.to_owned()),
            });
        }
        self.cut_off.is_empty() && self.lost.is_empty() && !is_damaged && !self.is_program_missing
    }

    /// Returns the count of forked processes that left no profile among the files and yet have one: it will be written, or was
    /// overwritten.
    fn others_elsewhere(&self) -> usize {
        if self.has_file_for_each_process { self.running.len() } else { self.process_count.saturating_sub(1) }
    }

    /// Says what was recorded. Returns `true` if the profile is damaged.
    fn tell(&self, time: &Duration, engine: Option<&str>, args: &RecordArgs, session: &Session) -> bool {
        for (process, path) in &self.running {
            session
                .tell(&format!("process {process} goes on, and writes {} at its end", printable_path(path)));
        }
        // Without that option, only what is forked writes the file as well: before the program, unless that does not wait.
        let traces = args.trace_children.is_some_and(YesNo::is_yes);
        let is_of_other = || {
            self.files
                .first()
                .and_then(|file| process_of(file))
                .is_some_and(|process| process != self.program)
        };
        if !self.has_file_for_each_process && self.process_count > 1 && (traces || is_of_other()) {
            session.warn(&format!(
                "{} processes wrote {}, which has the last one to end; %p in the name gives each a file of its own",
                grouped(self.process_count),
                printable_path(&self.name)
            ));
        }
        let by = engine.map(|engine| format!(" by {engine}")).unwrap_or_default();
        let seconds = format!("{:.2} s{by}", time.as_secs_f64());
        let files: Vec<String> = self.files.iter().map(|path| printable_path(path).into_owned()).collect();
        let files = match &files[..] {
            [file] => file.clone(),
            _ => format!("{} files: {}", grouped(files.len()), files.join(", ")),
        };
        let profile = match load::profile_of(&self.files, session) {
            Ok(profile) => profile,
            Err(error) => {
                session.tell(&format!("recorded in {seconds}: {files}"));
                session.report(&error);
                return true;
            }
        };
        let damage = DamageRow::list(&profile).into_iter().find(DamageRow::is_loss);
        let total = EventColumn::all_of(&profile, &Selection::default(), &[]).into_iter().next();
        let total = total.and_then(|(event, total)| Some((event.total_in_words(total?), total?)));
        let functions = match profile.function_count() {
            1 => "1 function".to_owned(),
            count => format!("{} functions", grouped(count)),
        };
        match total {
            Some((words, _)) => {
                session.tell(&format!("recorded {words} of {functions} in {seconds}: {files}"));
            }
            None => session.tell(&format!("recorded in {seconds}: {files}")),
        }
        if total_is_zero(&profile) {
            session.warn(
                "no cost was collected: the options say when to collect, and that did not happen in this run",
            );
        }
        let profiles = std::slice::from_ref(&profile);
        let search_path = search_path().unwrap_or_default();
        let program = args.program.first();
        let replaced =
            program.and_then(|word| launcher::replaced(profiles, self.program, word, &search_path));
        if let Some(last) = replaced.filter(|_| traces) {
            session.warn(&format!(
                "the program ran {last} in its place: Callgrind writes nothing of what it did before, --engine native does"
            ));
        }
        if let Some((first, others)) = self.similar.split_first().filter(|_| args.force) {
            let more = match others.len() {
                0 => " is".to_owned(),
                count => format!(" and {} more are", grouped(count)),
            };
            session.warn(&format!(
                "{}{more} of an earlier recording with the same process id: without removing that, it is read as a part of this one",
                printable_path(first)
            ));
        }
        if self.have_ids_come_round && self.has_file_for_each_process {
            session.warn(
                "process ids came round: a later process with the id of an earlier one may have overwritten its file",
            );
        } else if !tell_of_others(&profile, self.others_elsewhere(), args, session) {
            self.tell_of_missing(session);
        }
        if let Some(damage) = &damage {
            session.report(&CliError::Usage {
                message: damage.text.clone(),
                hint: Some(
                    "not all of it could be written, or several processes wrote it at the same time"
                        .to_owned(),
                ),
            });
        }
        if args.open.is_none() {
            let words = self.files.iter().map(|file| shell_word(file.as_os_str().as_encoded_bytes()));
            let words: Vec<String> = match self.files.len() {
                // Its dumps and threads, but no other processes.
                count if count > MAX_NAMED => {
                    std::iter::once("--set".to_owned()).chain(words.take(1)).collect()
                }
                _ => words.collect(),
            };
            session.tell(&format!("next: gristmill {}", words.join(" ")));
        }
        damage.is_some()
    }

    /// Names processes that left no profile. What they cost is not counted.
    fn tell_of_missing(&self, session: &Session) {
        let named = self.without_profile.iter().take(MAX_NAMED).map(u32::to_string);
        let more = if self.without_profile.len() > MAX_NAMED { ", ..." } else { "" };
        let named = named.collect::<Vec<_>>().join(", ") + more;
        session.tell(&match self.without_profile.len() {
            0 => return,
            1 => format!("process {named} left no profile: it {MISSING_REASON}"),
            count => format!("{} processes left no profile ({named}): each {MISSING_REASON}", grouped(count)),
        });
    }
}

/// `true` if a file is of a thread of the process whose file has a name.
fn is_of_thread(path: &Path, base: &Path) -> bool {
    let rest = path.as_os_str().as_encoded_bytes().strip_prefix(base.as_os_str().as_encoded_bytes());
    rest.is_some_and(|rest| rest.contains(&b'-'))
}

fn total_is_zero(profile: &Profile) -> bool {
    profile.totals(&Selection::default()).iter().all(|total| *total == 0)
}

/// Tells of processes that are not in the profile, or in it twice. Some may go on. Returns `true` if programs were started that are not
/// recorded: then their processes have no profile.
fn tell_of_others(profile: &Profile, others_elsewhere: usize, args: &RecordArgs, session: &Session) -> bool {
    let profiles = std::slice::from_ref(profile);
    let traces = args.trace_children.is_some_and(YesNo::is_yes);
    match launcher::forked_processes(profiles) {
        0 => {}
        _ if traces => {}
        1 => session.tell("1 process was forked: what comes before the fork is counted again in it"),
        count => session.tell(&format!(
            "{count} processes were forked: what comes before a fork is counted again in what is forked"
        )),
    }
    if args.trace_children.is_some() {
        return false;
    }
    let option = "--trace-children=yes";
    if let Some(launchers) = launcher::only_launchers(profiles) {
        session.tell(&format!(
            "only {launchers} was recorded, which starts other programs: {option} records these, too"
        ));
    } else if let Some((function, count)) = launcher::unrecorded(profiles, others_elsewhere) {
        let calls = if count == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(count)) };
        session.tell(&match launcher::is_fork(function) {
            true => format!(
                "not each process that it forked ({calls} of {function}) left a profile: {option} records the programs \
                 that some may have become; one that gave up its rights may not have been able to write one"
            ),
            false => format!(
                "programs that it may have started ({calls} of {function}) were not recorded: {option} records these, too"
            ),
        });
    } else {
        return false;
    }
    true
}

/// `true` if Callgrind has written a profile of a process.
pub(super) fn is_written(name: &OutputName, process: u32) -> bool {
    name.files_of(process).iter().any(|path| process_of(path) == Some(process))
}

/// Removes a file of this recording that Callgrind has not written. If it stays, it is in the way of the next recording of that name.
pub(super) fn remove_empty(path: &Path) {
    if path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
        let _ = std::fs::remove_file(path);
    }
}

/// Lists the existing files with names of these processes.
fn files_of_each(name: &OutputName, program: u32, processes: &Processes) -> BTreeMap<u32, Vec<PathBuf>> {
    if !name.has_process_id() {
        return BTreeMap::from([(program, name.files_of(program))]);
    }
    if name.has_process_id_in_directory() {
        return processes.all.iter().map(|process| (*process, name.files_of(*process))).collect();
    }
    // The directory is listed once for all.
    name.files_of_processes()
}

/// Returns the process of a profile.
fn process_of(path: &Path) -> Option<u32> {
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut head)).ok()?;
    u32::try_from(FileHeader::parse(&head).pid?).ok()
}

/// `true` if a file has the end of a part.
fn has_whole_part(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"\ntotals:").is_some())
}

/// `true` if each part of a file has the line that is written last.
fn are_parts_whole(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return true };
    let (mut begun, mut ended) = (0, 0);
    for line in BufReader::new(file).split(b'\n') {
        // What cannot be read is reported when it is loaded.
        let Ok(line) = line else { return true };
        begun += usize::from(line.starts_with(b"part:"));
        ended += usize::from(line.starts_with(b"totals:"));
    }
    begun == ended
}

/// `true` if a file ends with the line that Callgrind writes last.
fn has_end(path: &Path) -> bool {
    let mut tail = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_BYTES)))?;
        file.read_to_end(&mut tail)
    });
    let last = tail.strip_suffix(b"\n").and_then(|tail| tail.rsplit(|&byte| byte == b'\n').next());
    // What cannot be read is reported when it is loaded.
    read.is_err() || last.is_some_and(|line| line.starts_with(b"totals:"))
}
