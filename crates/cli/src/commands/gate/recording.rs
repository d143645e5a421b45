//! Recording of benchmarks with Valgrind's Callgrind, so that the counts are the same on every machine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use gristmill_format::Cost;
use gristmill_gate::{
    Benchmark, Config, FILES, Failure, Measurement, ProfileSource, RECORDED_PROCESSES, Recording,
    is_quiet_option,
};
use gristmill_output::{grouped, printable, printable_path};
use gristmill_profile::merge::{Combine, MergeFormat, Merger};
use gristmill_profile::{Input, Profile, Selection};
use gristmill_report::{DamageRow, inlining_notes};

use super::process::{Remaining, lines, quoted, run};
use super::processes::{OUT_NAME, ProcessCounts, refuse_namespaces, remove_empty};
use super::sources::{self, Before};
use crate::args::ProgramArgs;
use crate::inlined::with_inlined;
use crate::input::reason;
use crate::interrupt::TemporaryDirectory;
use crate::launcher::{self, Launcher};
use crate::load::complete::{self, Damaged};
use crate::load::refusal::without_base_files;
use crate::size::Size;
use crate::valgrind::messages::{MessageDirectory, without_summary};
use crate::valgrind::{find_program, without_randomisation};

/// Folders of programs that a recording finds.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that every recording has.
const FIXED: [(&str, &str); 4] = [("HOME", "/"), ("LC_ALL", "C"), ("PATH", PATH), ("TZ", "UTC")];

const TUNABLES: &str = "GLIBC_TUNABLES";

/// Settings of the C library that select the same variants of its string functions, and of its mathematical ones, on every x86-64
/// processor: those that need no feature beyond SSE2. Sizes of caches decide from which size on blocks are copied in another
/// way. Names that end in `_Usable` are those of versions before 2.33. The library skips names that it does not know.
///
/// The comma after the last name matters: without it, version 2.36 goes on behind the end of the text, and its count differs from run
/// to run.
const PINNED: &str = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX_Usable,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,\
    -AVX512BW,-AVX512F_Usable,-BMI1,-BMI2,-LZCNT,-MOVBE,-ERMS,-FSRM,-RTM,-FMA,-FMA4,-FMA_Usable,-FMA4_Usable,-SSSE3,-SSE4_1,\
    -SSE4_2,-Fast_Copy_Backward,-Fast_Rep_String,-Fast_Unaligned_Copy,-Prefer_ERMS,-Prefer_FSRM,-Slow_BSF,-Slow_SSE4_2,:\
    glibc.cpu.x86_data_cache_size=32768:glibc.cpu.x86_shared_cache_size=1048576:glibc.cpu.x86_non_temporal_threshold=786432";

/// Features in the names of variants that [`PINNED`] excludes.
const EXCLUDED: [&str; 5] = ["avx", "evex", "erms", "ssse3", "sse4"];

/// Setting of a baseline: what the recording chose.
const PINNED_SETTING: &str = "pinned";

/// The common ground of all recordings of a run.
pub(super) struct Recorder<'c> {
    pub(super) config: &'c Config,
    pub(super) max_size: Size,
    /// Root of the repository, which source files are relative to.
    root: Vec<u8>,
    /// Held by a setup: two could write the same files.
    setting_up: Mutex<()>,
    damaged: Damaged,
    /// Damage of profiles that are used nevertheless.
    warnings: Mutex<Vec<String>>,
}

/// A measurement and its report have each name this often at most.
const MAX_COPIES_OF_NAMES: usize = 4;

/// The profile of a benchmark as it was read.
struct Read {
    profile: Profile,
    file_count: usize,
    /// The count of [`forked_processes`] of a recording.
    forked: usize,
    /// The processes of a recording that has those of all programs that it starts.
    processes: Option<ProcessCounts>,
    /// The count of processes that a signal has ended.
    ended_by_signals: usize,
    /// A remark about programs that are not in it.
    note: Option<String>,
}

/// A profile of a benchmark with its costs.
pub(super) struct Measured {
    pub(super) profile: Profile,
    pub(super) measurement: Measurement,
    /// Remarks for the report.
    pub(super) notes: Vec<String>,
}

impl<'c> Recorder<'c> {
    pub(super) fn new(config: &'c Config, max_size: Size) -> Self {
        let root = config.root.clone().into_os_string().into_encoded_bytes();
        Recorder {
            config,
            max_size,
            root,
            setting_up: Mutex::new(()),
            damaged: Damaged::Refused,
            warnings: Mutex::default(),
        }
    }

    /// Sets whether damaged profiles are used.
    pub(super) fn damaged(self, damaged: Damaged) -> Self {
        Recorder { damaged, ..self }
    }

    /// Returns what is wrong with the profiles that were used.
    pub(super) fn warnings(self) -> Vec<String> {
        let mut warnings = self.warnings.into_inner().unwrap_or_default();
        warnings.sort();
        warnings.dedup();
        warnings
    }

    /// Measures a benchmark: reads its profile, or records it as often as it is configured and takes the median.
    pub(super) fn measure(&self, benchmark: &Benchmark) -> Result<Measured, Failure> {
        let run_count = match &benchmark.source {
            ProfileSource::Recording(recording) => recording.runs,
            ProfileSource::Files(_) | ProfileSource::Gungraun(_) => 1,
        };
        Ok(self.runs(benchmark, run_count)?.0)
    }

    /// Measures a benchmark several times. Returns the run of median cost, and the costs of all runs without their functions.
    pub(super) fn runs(
        &self,
        benchmark: &Benchmark,
        run_count: u32,
    ) -> Result<(Measured, Vec<Measurement>), Failure> {
        let mut all = Vec::new();
        // A profile takes much memory, and most runs cost the same: of these, the first stands for all.
        let mut kept: BTreeMap<Cost, Measured> = BTreeMap::new();
        for _ in 0..run_count {
            let run = self.single_run(benchmark)?;
            let Measurement { events, totals, budgets, .. } = &run.measurement;
            all.push(Measurement {
                events: events.clone(),
                totals: totals.clone(),
                budgets: budgets.clone(),
                ..Measurement::default()
            });
            kept.entry(run.measurement.deciding_cost(benchmark)).or_insert(run);
        }
        let median = Measurement::median(&all, benchmark).and_then(|index| all.get(index));
        let median = median.and_then(|run| kept.remove(&run.deciding_cost(benchmark)));
        Ok((median.ok_or_else(|| Failure::from("there was no run".to_owned()))?, all))
    }

    /// Records once, or reads the files.
    fn single_run(&self, benchmark: &Benchmark) -> Result<Measured, Failure> {
        let Read { profile, file_count, forked, processes, ended_by_signals, note } =
            self.profile(benchmark).map_err(|failure| self.relative(failure))?;
        profile
            .refuse_copies_of_names(MAX_COPIES_OF_NAMES)
            .map_err(|over| format!("the names and paths of all functions {over}"))?;
        let profile = with_inlined(profile, benchmark.inlined, &ProgramArgs::default(), &[])
            .map_err(|error| error.to_string())?;
        let mut measurement = Measurement::new(&profile, benchmark, &self.root);
        let mut notes = Vec::from_iter(note);
        notes.extend(inlining_notes(&profile));
        if forked > 0 {
            measurement.environment.insert("forked processes".to_owned(), forked.to_string());
            let who = match forked {
                1 => "1 process was".to_owned(),
                count => format!("{count} processes were"),
            };
            notes.push(format!("{who} forked: what comes before a fork is counted again in what is forked"));
        }
        if let Some(processes) = processes {
            measurement.environment.insert(RECORDED_PROCESSES.to_owned(), processes.to_string());
            notes.extend(processes.note());
        }
        if ended_by_signals > 0 {
            measurement
                .environment
                .insert("processes that a signal ended".to_owned(), ended_by_signals.to_string());
            let who = match ended_by_signals {
                1 => "1 process was".to_owned(),
                count => format!("{} processes were", grouped(count)),
            };
            notes.push(format!("{who} ended by a signal: the cost is that until then"));
        }
        match &benchmark.source {
            ProfileSource::Recording(recording) => {
                measurement.settings.extend(kept_settings(recording));
                if pins(recording, self.config) {
                    measurement
                        .settings
                        .insert(PINNED_SETTING.to_owned(), vec!["string functions".to_owned()]);
                    notes.extend(not_pinned(&measurement));
                }
            }
            ProfileSource::Files(patterns) if !sources::is_of_folder(benchmark) => {
                if patterns.iter().any(|pattern| sources::is_pattern(pattern, self.config)) {
                    measurement.environment.insert(FILES.to_owned(), file_count.to_string());
                }
            }
            ProfileSource::Files(_) | ProfileSource::Gungraun(_) => {
                // The table in the configuration names the folder, and the files in it are those of gungraun.
                measurement.settings.remove("profile");
                measurement.environment.insert(FILES.to_owned(), file_count.to_string());
            }
        }
        Ok(Measured { profile, measurement, notes })
    }

    /// Replaces the root of the repository in messages: readers know paths relative to it.
    fn relative(&self, failure: Failure) -> Failure {
        let root = format!("{}/", printable_path(&self.config.root));
        Failure {
            message: failure.message.replace(&root, ""),
            output: failure.output.iter().map(|line| line.replace(&root, "")).collect(),
        }
    }

    /// Returns the profile of a benchmark.
    fn profile(&self, benchmark: &Benchmark) -> Result<Read, Failure> {
        match &benchmark.source {
            ProfileSource::Files(patterns) => self.read(benchmark, patterns),
            ProfileSource::Gungraun(folder) => Err(format!("{folder} is a folder").into()),
            ProfileSource::Recording(recording) => {
                self.set_up(benchmark)?;
                self.record(recording)
            }
        }
    }

    fn read(&self, benchmark: &Benchmark, patterns: &[String]) -> Result<Read, Failure> {
        // The setup of a folder has run once for all of its benchmarks.
        if !benchmark.setup.is_empty() && !sources::is_of_folder(benchmark) {
            // Before the setup there may be none.
            let before = Before::new(&sources::files(patterns, self.config).unwrap_or_default());
            self.set_up(benchmark)?;
            before.check_written(&sources::files(patterns, self.config)?, self.config)?;
        }
        let files = sources::files(patterns, self.config)?;
        files.iter().try_for_each(|file| sources::check_kind(file, self.config))?;
        let files = without_base_files(&files);
        let profiles = self.load(&files)?;
        if !benchmark.allows_old {
            for (file, profile) in files.iter().zip(&profiles) {
                sources::check_age(file, profile, self.config)?;
            }
        }
        let note = launcher::only_launchers(&profiles).map(|launchers| {
            format!(
                "only {launchers} was recorded, which starts other programs: `--trace-children=yes` of Callgrind records these"
            )
        });
        // gungraun also leaves files of threads and processes that cost nothing.
        let has_costs =
            |profile: &&Profile| profile.totals(&Selection::default()).iter().any(|total| *total != 0);
        let file_count = match sources::is_of_folder(benchmark) {
            true => profiles.iter().filter(has_costs).count(),
            false => files.len(),
        };
        let names: Vec<String> = files.iter().map(|path| printable_path(path).into_owned()).collect();
        let profile =
            sum(profiles).map_err(|error| Failure::from(format!("{}: {error}", names.join(", "))))?;
        Ok(Read { profile, file_count, forked: 0, processes: None, ended_by_signals: 0, note })
    }

    fn load(&self, files: &[PathBuf]) -> Result<Vec<Profile>, Failure> {
        let profiles = files.iter().map(|path| complete::load(path, self.max_size, 1, self.damaged));
        let profiles: Vec<Profile> =
            profiles.collect::<Result<_, _>>().map_err(|error| Failure::from(error.to_string()))?;
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.extend(profiles.iter().flat_map(DamageRow::list).map(|damage| damage.text));
        }
        Ok(profiles)
    }

    fn record(&self, recording: &Recording) -> Result<Read, Failure> {
        let config = self.config;
        let environment = environment(recording, config);
        check_program(recording, config, &environment)?;
        let search_path = search_path(&environment).to_owned();
        let no_directory =
            |error: std::io::Error| Failure::from(format!("no temporary directory: {}", reason(&error)));
        let folder = TemporaryDirectory::new().map_err(no_directory)?;
        let messages = MessageDirectory::new().map_err(no_directory)?;
        let mut command = command(recording, config, folder.path(), &messages)?;
        command.env_clear().envs(environment);
        // A child that is recorded writes its profile when it ends.
        let remaining =
            if traces_children(recording) == Some(true) { Remaining::Wait } else { Remaining::End };
        let shown = quoted(&recording.command);
        // Where that is not allowed, as in some containers, addresses differ from run to run.
        let (done, _) = without_randomisation(|| {
            run(&mut command, config.timeout_seconds, &shown, remaining, &|| messages.is_recording())
        });
        let process = done.map_err(|failure| {
            // Those in sessions of their own are not in the group that was ended.
            messages.end_recorded();
            with_messages(failure, &messages)
        })?;
        let entries = std::fs::read_dir(folder.path()).map_err(|error| Failure::from(reason(&error)))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        refuse_namespaces(&shown, &messages)?;
        remove_empty(&mut files, process, &shown, &messages)?;
        // One for each process and thread. The process ids in the names differ from run to run.
        files.sort();
        let profiles = self.load(&files)?;
        // A program that was started twice with the same arguments was not forked.
        let (forked, processes) = match traces_children(recording) {
            Some(true) => (0, Some(ProcessCounts::new(&files, &messages))),
            _ => (launcher::forked_processes(&profiles), None),
        };
        let unrecorded = launcher::unrecorded(&profiles, 0).filter(|_| traces_children(recording).is_none());
        let note = unrecorded.map(|(function, count)| {
            let calls = if count == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(count)) };
            format!(
                "programs that it may have started ({calls} of `{function}`) were not recorded: add \
                 `--trace-children=yes` to `options` to record them, too, or `--trace-children=no` if they do not count"
            )
        });
        let program = recording.command.first();
        let replaced =
            program.and_then(|word| launcher::replaced(&profiles, process, word.as_ref(), &search_path));
        let note = note.or_else(|| {
            replaced.map(|last| {
                format!("the program ran `{last}` in its place: Callgrind does not count what it did before")
            })
        });
        let profile = sum(profiles).map_err(|error| {
            let hint = match traces_children(recording) {
                None => ": if it starts another program, add `--trace-children=yes` to its `options`",
                Some(_) => "",
            };
            Failure::from(format!("valgrind recorded nothing for {shown}: {error}{hint}"))
        })?;
        let ended_by_signals = messages.ended_by_signals();
        Ok(Read { profile, file_count: 1, forked, processes, ended_by_signals, note })
    }

    /// Runs the setup of a benchmark.
    pub(super) fn set_up(&self, benchmark: &Benchmark) -> Result<(), Failure> {
        // A panic of another thread is reported by that.
        let _alone = self.setting_up.lock().unwrap_or_else(PoisonError::into_inner);
        for words in &benchmark.setup {
            let Some((program, arguments)) = words.split_first() else { continue };
            let mut command = Command::new(program);
            command.args(arguments).current_dir(&self.config.directory);
            let shown = format!("setup {}", quoted(words));
            run(&mut command, self.config.setup_timeout_seconds, &shown, Remaining::Stay, &|| false)
                .map_err(|failure| match hint(program, self.config) {
                    Some(hint) => Failure { message: format!("{} ({hint})", failure.message), ..failure },
                    None => failure,
                })?;
        }
        Ok(())
    }
}

/// Adds the messages of Valgrind to the output of a program that failed.
fn with_messages(failure: Failure, messages: &MessageDirectory) -> Failure {
    let texts = messages.processes().into_iter().filter_map(|process| {
        let (text, _) = messages.read(process)?;
        Some(without_summary(&text, process).collect::<String>())
    });
    let mut output = lines(texts.collect::<String>().as_bytes());
    output.extend(failure.output);
    Failure { output, ..failure }
}

/// Adds up the files of one recording.
fn sum(profiles: Vec<Profile>) -> Result<Profile, String> {
    let mut with_costs: Vec<Profile> = profiles
        .into_iter()
        .filter(|profile| profile.event_count() > 0 && profile.function_count() > 0)
        .collect();
    match with_costs.len() {
        0 => Err("no costs".to_owned()),
        1 => with_costs.pop().ok_or_else(String::new),
        _ => {
            let mut merger = Merger::new();
            for profile in &with_costs {
                merger.add(profile).map_err(|error| error.to_string())?;
            }
            let format = MergeFormat { combine: Combine::Sum, scale: None };
            let bytes = merger.write(&format, Vec::new()).map_err(|error| error.to_string())?;
            Ok(Profile::load(vec![Input { name: String::new(), bytes: bytes.into() }]))
        }
    }
}

/// Returns the value of `--trace-children`, if it is given.
fn traces_children(recording: &Recording) -> Option<bool> {
    let value = recording.options.iter().rev().find_map(|option| option.strip_prefix("--trace-children="))?;
    Some(value == "yes")
}

/// `true` if the recording selects the variants of the string functions.
fn pins(recording: &Recording, config: &Config) -> bool {
    let is_set = recording.environment.contains_key(TUNABLES)
        || recording.keep_environment.iter().any(|name| name == TUNABLES);
    config.pins_string_functions && cfg!(target_arch = "x86_64") && !is_set
}

/// Returns a note if other variants ran than those that the recording selects.
fn not_pinned(measurement: &Measurement) -> Option<String> {
    let ran = measurement.environment.get("string functions")?;
    let is_excluded = |name: &&str| EXCLUDED.iter().any(|feature| name.contains(feature));
    let ran: Vec<&str> = ran.split(' ').filter(is_excluded).collect();
    (!ran.is_empty()).then(|| {
        format!(
            "this C library does not let the recording choose its string functions: {} ran",
            ran.join(", ")
        )
    })
}

/// Returns the environment of a recording.
fn environment(recording: &Recording, config: &Config) -> BTreeMap<OsString, OsString> {
    let mut environment: BTreeMap<OsString, OsString> =
        FIXED.iter().map(|(name, value)| (name.into(), value.into())).collect();
    if pins(recording, config) {
        environment.insert(TUNABLES.into(), PINNED.into());
    }
    for name in &recording.keep_environment {
        if let Some(value) = std::env::var_os(name) {
            environment.insert(name.into(), value);
        }
    }
    environment.extend(recording.environment.iter().map(|(name, value)| (name.into(), value.into())));
    environment
}

/// Returns the setting that tells whether kept variables have the values that they had. A value may be secret, so only its hash
/// is written.
fn kept_settings(recording: &Recording) -> Option<(String, Vec<String>)> {
    let kept = recording.keep_environment.iter().map(|name| match std::env::var_os(name) {
        None => format!("{name} unset"),
        Some(value) => format!("{name} #{:016x}", hash(value.as_encoded_bytes())),
    });
    let kept: Vec<String> = kept.collect();
    (!kept.is_empty()).then(|| ("keep_environment".to_owned(), kept))
}

/// Calculates the FNV-1a hash, which is the same in every build.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns the directories that programs of an environment are searched in.
fn search_path(environment: &BTreeMap<OsString, OsString>) -> &OsStr {
    environment.get(OsStr::new("PATH")).map_or(OsStr::new(PATH), OsString::as_os_str)
}

/// Refuses a program that does not exist, and a launcher unless it is decided whether its children are recorded.
fn check_program(
    recording: &Recording,
    config: &Config,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<(), Failure> {
    let Some(program) = recording.command.first() else { return Ok(()) };
    let path = search_path(environment);
    let shown = printable(program.as_bytes()).into_owned();
    let found = if program.contains('/') {
        let path = config.directory.join(program);
        if path.is_dir() {
            return Err(format!("`{shown}` is a directory, not a program").into());
        }
        if path.exists() && !path.is_file() {
            return Err(format!("`{shown}` is a pipe or a device, not a program").into());
        }
        path.is_file().then_some(path)
    } else {
        std::env::split_paths(path)
            .map(|folder| config.directory.join(folder).join(program))
            .find(|path| path.is_file())
    };
    let Some(found) = found else {
        let searched = match program.contains('/') {
            true => "does not exist".to_owned(),
            false => format!("was not found in {}", printable(path.as_encoded_bytes())),
        };
        let hint = hint(program, config).map_or_else(String::new, |hint| format!(" ({hint})"));
        return Err(format!("`{shown}` {searched}{hint}").into());
    };
    if traces_children(recording).is_none()
        && let Some(launcher) = Launcher::find(&found, &config.directory)
    {
        let (predicate, alone) = (launcher.predicate(program), launcher.name());
        return Err(format!(
            "`{shown}` {predicate}: add `--trace-children=yes` to `options` to record that, too, or `--trace-children=no` to \
             record {alone} alone"
        )
        .into());
    }
    Ok(())
}

/// Returns a hint if a program without a folder is in that of the configuration.
pub(super) fn hint(program: &str, config: &Config) -> Option<String> {
    let is_here = !program.contains('/') && config.directory.join(program).is_file();
    is_here.then(|| {
        format!("write `./{}`: it is in the folder of the configuration", printable(program.as_bytes()))
    })
}

/// Builds the command of Valgrind, with fixed caches.
fn command(
    recording: &Recording,
    config: &Config,
    folder: &Path,
    messages: &MessageDirectory,
) -> Result<Command, Failure> {
    let valgrind = find_program(OsStr::new(&config.valgrind), &config.directory).ok_or_else(|| {
        Failure::from(format!("{} was not found on the path", printable(config.valgrind.as_bytes())))
    })?;
    let mut command = Command::new(valgrind);
    // The messages of each process tell how it ended.
    let options = recording.options.iter().filter(|option| !is_quiet_option(option));
    // First, as Valgrind wants it: options in `.valgrindrc` or VALGRIND_OPTS are in no configuration.
    command.arg("--command-line-only=yes");
    command.arg("--tool=callgrind").arg(messages.option()).args(options);
    let is_given = |option: &str| recording.options.iter().any(|given| given.starts_with(option));
    if is_given("--cache-sim=yes") {
        for (option, cache) in ["--I1=", "--D1=", "--LL="].iter().zip(&config.caches) {
            if !is_given(option) {
                command.arg(format!("{option}{cache}"));
            }
        }
    }
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(folder.join(format!("{OUT_NAME}%p")));
    command.arg(out).arg("--").args(&recording.command).current_dir(&config.directory);
    Ok(command)
}
