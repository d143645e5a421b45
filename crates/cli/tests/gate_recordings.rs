//! Recordings of `gristmill gate`, and the ways in which one could measure something else than it should.

#![cfg(test)]
#![cfg(unix)]

mod harness;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use harness::*;

/// Copies memory in `copy`, as often as `ROUNDS` says.
const PROGRAM: &str = "#include <string.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    #ifndef ROUNDS\n#define ROUNDS 100\n#endif\n\
    static char from[9000], to[9000];\n\
    __attribute__((noinline)) void copy(int i) { memcpy(to, from, 4000 + i % 7); }\n\
    __attribute__((noinline)) void copies(void) { for (int i = 0; i < ROUNDS; i++) copy(i); }\n\
    int main(int count, char **words) { copies(); if (count > 2) abort(); return count > 1; }\n";

const CONFIG: &str = "[[benchmark]]\nname = \"copy\"\ncommand = \"./copy\"\n";

fn can_record() -> bool {
    has(&["valgrind", "cc"])
}

fn compile(folder: &Path, options: &[&str]) {
    std::fs::write(folder.join("copy.c"), PROGRAM).unwrap();
    let arguments = [&["-g", "-O1", "-fno-builtin", "copy.c", "-o", "copy"], options].concat();
    assert!(Command::new("cc").args(arguments).current_dir(folder).status().unwrap().success());
}

fn gate(folder: &Path, arguments: &[&str]) -> Output {
    run_in(folder, &[&["gate"], arguments].concat())
}

fn configure(folder: &Path, config: &str) {
    std::fs::write(folder.join("gristmill.toml"), config).unwrap();
}

fn assert_refused(folder: &Path, config: &str, reason: &str) {
    configure(folder, config);
    let output = gate(folder, &["run"]);
    assert_eq!(code(&output), 2, "{reason}: {}", stdout(&output));
    assert!(stdout(&output).contains(reason), "{reason}: {}", stdout(&output));
}

#[test]
fn the_nearest_function_of_the_own_code_is_named() {
    if !can_record() {
        return;
    }
    let folder = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
    let path = folder.path();
    compile(path, &[]);
    assert_eq!(code(&gate(path, &["bless"])), 0);
    assert_eq!(code(&gate(path, &["run"])), 0);
    compile(path, &["-DROUNDS=300"]);
    let output = gate(path, &["run", "--format", "json"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    let budget = &json(&output)["benchmarks"][0]["budgets"][0];
    // Most is spent in the C library, but `copy` calls that more often.
    assert!(budget["functions"][0]["name"].as_str().unwrap().contains("memcpy"), "{budget}");
    let own = &budget["own_function"];
    assert_eq!((&own["name"], &own["file"]), (&"copy".into(), &"copy.c".into()), "{budget}");
    assert_eq!(own["calls"], serde_json::json!([100, 300]), "{budget}");
    let [delta, total] = [&own["delta"], &budget["functions"][0]["delta"]].map(whole);
    assert!(delta >= total, "{budget}");
    // Only the loop in `copies` is not below `copy`.
    let change = whole(&budget["cost"]) - whole(&budget["base"]);
    assert!(delta > change * 9 / 10 && delta <= change, "{budget}");
}

#[test]
fn string_functions_are_those_of_every_processor() {
    if !can_record() || !cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        return;
    }
    let folder = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
    let path = folder.path();
    compile(path, &[]);
    let variants = || {
        let output = gate(path, &["bless"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = std::fs::read_to_string(path.join("gristmill-baseline.toml")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("environment = ")).unwrap().to_owned();
        (line, text.contains("pinned"))
    };
    let (pinned, is_pinned) = variants();
    assert!(is_pinned);
    for feature in ["avx", "evex", "erms", "ssse3", "sse4"] {
        assert!(!pinned.contains(feature), "{pinned}");
    }
    // The setting belongs to the baseline.
    configure(path, &format!("[gate]\npin_string_functions = false\n{CONFIG}"));
    let output = gate(path, &["run"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(
        stdout(&output).contains("pinned: `string functions` in the baseline, none now"),
        "{}",
        stdout(&output)
    );
    // So do variables of the user, which win.
    configure(path, &format!("{CONFIG}environment = {{ GLIBC_TUNABLES = \"glibc.malloc.check=0\" }}\n"));
    assert!(!variants().1);
}

#[test]
fn other_settings_than_those_of_the_baseline() {
    if !can_record() {
        return;
    }
    let folder = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
    let path = folder.path();
    compile(path, &[]);
    assert_eq!(code(&gate(path, &["bless"])), 0);
    let setting = |line: &str| format!("{CONFIG}{line}\n");
    for (config, reason) in [
        (setting("environment = { A = \"1\" }"), "environment: none in the baseline, A=1 now"),
        (setting("keep_environment = [\"TERM\"]"), "keep_environment: none in the baseline, `TERM #"),
        (setting("options = [\"--dump-instr=yes\"]"), "options: none in the baseline, --dump-instr=yes now"),
        (setting("setup = [\"true\"]"), "setup: none in the baseline, true now"),
        (CONFIG.replace("./copy", "././copy"), "command: ./copy in the baseline, ././copy now"),
    ] {
        assert_refused(path, &config, reason);
    }
}

/// Valgrind reads options in its working directory, which no configuration has.
#[test]
fn a_file_with_options_of_valgrind_is_not_read() {
    if !can_record() {
        return;
    }
    let folder = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
    let path = folder.path();
    compile(path, &[]);
    assert_eq!(code(&gate(path, &["bless"])), 0);
    std::fs::write(path.join(".valgrindrc"), "--callgrind:toggle-collect=copy\n").unwrap();
    let output = gate(path, &["run"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).contains(", unchanged"), "{}", stdout(&output));
}

#[test]
fn a_command_that_failed_or_measures_something_else() {
    if !can_record() {
        return;
    }
    let replaced =
        b"#include <unistd.h>\nint main(void) { return execl(\"./copy\", \"copy\", (char *)0); }\n";
    let folder = folder(&[
        ("script", b"#!/usr/bin/env bash\n./copy\n"),
        ("by-env", b"#!/usr/bin/env -S ./copy\n"),
        ("replaced.c", replaced),
    ]);
    let path = folder.path();
    compile(path, &[]);
    cc(path, "replaced");
    make_executable(&path.join("script"));
    make_executable(&path.join("by-env"));
    let command =
        |words: &str, rest: &str| format!("[[benchmark]]\nname = \"a\"\ncommand = {words}\n{rest}\n");
    for (config, reason) in [
        (
            command("\"copy\"", ""),
            "`copy` was not found in /usr/local/bin:/usr/bin:/bin (write `./copy`: it is in the",
        ),
        (command("\"./\"", ""), "is a directory, not a program"),
        (command("\"./copy 1\"", ""), "`./copy 1` ended with exit status: 1"),
        (command("\"./copy 1 2\"", ""), "`./copy 1 2` ended with signal: 6"),
        // A shell that is measured alone.
        (command("[\"sh\", \"-c\", \"./copy; true\"]", ""), "`sh` is run by sh, which starts other programs"),
        (command("\"./script\"", ""), "`./script` is run by bash, which starts other programs"),
        // A launcher that is measured alone, or leaves no profile as another program replaces it.
        (
            command("\"env ./copy\"", ""),
            "`env` starts another program: add `--trace-children=yes` to `options`",
        ),
        (command("\"timeout 60 ./copy\"", ""), "`timeout` starts another program"),
        (command("\"nice ./copy\"", ""), "`nice` starts another program"),
        (command("\"./by-env\"", ""), "`./by-env` is run by env, which starts other programs"),
        (
            command("\"./replaced\"", ""),
            "if it starts another program, add `--trace-children=yes` to its `options`",
        ),
        // Nothing is collected.
        (command("\"./copy\"", "options = [\"--toggle-collect=coppy\"]"), "no costs"),
        (command("\"./copy\"", "options = [\"--instr-atstart=no\"]"), "no costs"),
    ] {
        assert_refused(path, &config, reason);
    }
    configure(path, &command("[\"sh\", \"-c\", \"./copy; true\"]", "options = [\"--trace-children=no\"]"));
    assert_eq!(code(&gate(path, &["bless"])), 0);
}

/// Compiles a program of one file.
fn cc(folder: &Path, name: &str) {
    let built =
        Command::new("cc").current_dir(folder).args(["-O1", "-o", name, &format!("{name}.c")]).status();
    assert!(built.unwrap().success());
}

/// A program that starts another one by the function that its argument names.
const STARTER: &[u8] = b"#include <spawn.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <sys/wait.h>\n#include <unistd.h>\nextern char **environ;\nint main(int argc, char **argv) {\n\
    char *way = argv[1], *words[] = {\"./copy\", 0}; int status; pid_t pid;\n\
    if (!strcmp(way, \"system\")) return system(\"./copy; ./copy\");\n\
    if (!strcmp(way, \"popen\")) return pclose(popen(\"./copy\", \"r\"));\n\
    if (!strcmp(way, \"posix_spawn\")) { posix_spawn(&pid, words[0], 0, 0, words, environ); waitpid(pid, &status, 0); }\n\
    if (!strcmp(way, \"fork\")) { if (!fork()) { execv(words[0], words); _exit(1); } wait(&status); }\n\
    if (!strcmp(way, \"forks\")) { if (!fork()) _exit(0); if (!fork()) _exit(0); wait(&status); wait(&status); }\n\
    return 0; }\n";

/// Programs that start others, other than launchers: the verdict says so, and with the option that it names all is counted.
#[test]
fn programs_that_are_started_and_not_recorded_are_named() {
    if !can_record() {
        return;
    }
    let folder = folder(&[("starter.c", STARTER)]);
    let path = folder.path();
    compile(path, &[]);
    cc(path, "starter");
    let config = |way: &str, options: &str| {
        format!("[[benchmark]]\nname = \"a\"\ncommand = \"./starter {way}\"\noptions = [{options}]\n")
    };
    let total = |path: &Path| {
        let text = std::fs::read_to_string(path.join("gristmill-baseline.toml")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("total = [")).unwrap();
        line.trim_end_matches(']').parse::<u64>().unwrap()
    };
    for (way, note) in [
        ("system", "(1 call of `posix_spawn`)"),
        ("popen", "(1 call of `posix_spawn`)"),
        ("posix_spawn", "(1 call of `posix_spawn`)"),
        ("fork", "(1 call of `fork`)"),
    ]
    .into_iter()
    .step_by(harness::one_in(3))
    {
        configure(path, &config(way, ""));
        let output = gate(path, &["bless"]);
        let shown = stderr(&output);
        assert_eq!(code(&output), 0, "{shown}");
        let said =
            format!("programs that it may have started {note} were not recorded: add `--trace-children=yes`");
        assert!(shown.contains(&said), "{way}: {shown}");
        let output = gate(path, &["run"]);
        assert!(
            stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ").contains(&said),
            "{}",
            stdout(&output)
        );
        let alone = total(path);
        for (options, is_more) in [("\"--trace-children=no\"", false), ("\"--trace-children=yes\"", true)] {
            configure(path, &config(way, options));
            let output = gate(path, &["bless"]);
            assert!(code(&output) == 0 && !stderr(&output).contains("started"), "{way}: {}", stderr(&output));
            assert_eq!(total(path) > alone * 3 / 2, is_more, "{way}: {alone}, {}", total(path));
        }
    }
    // Processes that stay the same program are recorded.
    for config in [config("forks", ""), config("nothing", "")] {
        configure(path, &config);
        let output = gate(path, &["bless"]);
        assert!(code(&output) == 0 && !stderr(&output).contains("started"), "{}", stderr(&output));
    }
}

#[test]
fn a_program_in_the_place_of_another_is_named() {
    if !can_record() {
        return;
    }
    let folder =
        folder(&[("work.sh", b"#!/bin/sh\nexec /bin/true\n"), ("stays.sh", b"#!/bin/sh\n/bin/true\n:\n")]);
    let path = folder.path();
    std::fs::create_dir(path.join("shims")).unwrap();
    std::fs::write(path.join("shims/true"), "#!/bin/sh\nexec /bin/true\n").unwrap();
    ["work.sh", "stays.sh", "shims/true"].iter().for_each(|name| make_executable(&path.join(name)));
    let note = "the program ran `/bin/true` in its place: Callgrind does not count what it did before";
    // One script is found on the path, and another one there leads to a program of its name.
    for (command, has_note) in [
        ("./work.sh", true),
        ("./stays.sh", false),
        ("env A=1 /bin/true", false),
        ("ldd /bin/true", false),
        ("true", true),
    ] {
        let shims = if command == "true" { path.join("shims") } else { PathBuf::from("/usr/bin") };
        let config = format!(
            "[[benchmark]]\nname = \"a\"\ncommand = \"{command}\"\noptions = [\"--trace-children=yes\"]\n\
             environment = {{ PATH = \"{}:/usr/bin:/bin\" }}\n",
            shims.display()
        );
        configure(path, &config);
        let output = gate(path, &["bless"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(stderr(&output).contains(note), has_note, "{command}: {}", stderr(&output));
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn messages_of_valgrind_are_lines() {
    if !can_record() {
        return;
    }
    let folder = folder(&[]);
    let config = "[[benchmark]]\nname = \"a\"\ncommand = \"true\"\noptions = [\"--no-such-option\"]\n";
    assert_refused(folder.path(), config, "`true` ended with exit status: 1\n    valgrind: Unknown option");
    let output = gate(folder.path(), &["run", "--format", "json"]);
    let lines = json(&output)["benchmarks"][0]["failure_output"].as_array().unwrap().len();
    assert!(lines > 1, "{}", stdout(&output));
    let output = gate(folder.path(), &["bless"]);
    assert!(
        stderr(&output).contains("\n    valgrind: Unknown option: --no-such-option\n"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_time_limit_ends_a_command_with_its_children() {
    if !can_record() {
        return;
    }
    let folder = folder(&[]);
    let config = |words: &str, rest: &str| {
        format!(
            "[gate]\ntimeout = 5\nsetup_timeout = 5\n[[benchmark]]\nname = \"a\"\ncommand = {words}\n{rest}\n"
        )
    };
    let children = "options = [\"--trace-children=no\"]";
    for (config, reason) in [
        (config("[\"sh\", \"-c\", \"sleep 50 & sleep 50\"]", children), "took longer than 5 seconds"),
        (config("[\"sh\", \"-c\", \"sleep 50 & exit 3\"]", children), "ended with exit status: 3"),
        (
            config("\"true\"", "setup = [[\"sh\", \"-c\", \"sleep 50 & sleep 50\"]]"),
            "took longer than 5 seconds",
        ),
        (
            config("[\"sh\", \"-c\", \"sleep 50 & true\"]", "options = [\"--trace-children=yes\"]"),
            "left processes running for longer than 5 seconds",
        ),
    ] {
        let start = Instant::now();
        assert_refused(folder.path(), &config, reason);
        assert!(start.elapsed() < Duration::from_secs(30), "{reason}");
    }
}

/// A process in the background can have standard streams of its own, and a session, as daemons have.
#[test]
fn processes_in_the_background_are_waited_for() {
    if !can_record() {
        return;
    }
    let source = b"#include <fcntl.h>\n#include <string.h>\n#include <unistd.h>\nvolatile int sink;\n\
        static void work(void) { for (int i = 0; i < 100000; i++) sink += i; }\n\
        int main(int count, char **words) {\n\
        if (count > 2) { work(); return 0; }\n\
        if (fork()) { if (access(\"late\", F_OK)) sleep(1); return 0; }\n\
        if (strchr(words[1], 's')) setsid();\n\
        int null = open(\"/dev/null\", O_RDWR); dup2(null, 0); dup2(null, 1); dup2(null, 2);\n\
        if (!access(\"late\", F_OK)) sleep(1);\n\
        if (strchr(words[1], 'e')) execl(words[0], words[0], words[1], \"2\", (char *)0);\n\
        work(); return 0; }\n";
    let folder = folder(&[("daemon.c", source)]);
    let path = folder.path();
    cc(path, "daemon");
    // With another number of instructions of `fork` and `sleep`, but not with one of `work`.
    let config = |kind: &str, option: &str| {
        format!(
            "[gate]\nincrease = \"10%\"\n[[benchmark]]\nname = \"a\"\ncommand = [\"./daemon\", \"{kind}\"]\n\
             options = [\"{option}\"]\n[[benchmark.budget]]\nname = \"work\"\nfunction = \"^(work|main)$\"\nincrease = 1000\n"
        )
    };
    for (kind, option) in [
        ("g", "--trace-children=yes"),
        ("s", "--trace-children=yes"),
        ("se", "--trace-children=yes"),
        ("s", "--trace-children=no"),
    ] {
        configure(path, &config(kind, option));
        let _ = std::fs::remove_file(path.join("late"));
        let output = gate(path, &["bless"]);
        assert_eq!(code(&output), 0, "{kind} {option}: {}", stderr(&output));
        std::fs::write(path.join("late"), "").unwrap();
        let output = gate(path, &["run"]);
        assert_eq!(code(&output), 0, "{kind} {option}: {}", stdout(&output));
        assert!(!stdout(&output).contains("improved"), "{kind} {option}: {}", stdout(&output));
    }
}

#[test]
fn benchmarks_run_at_the_same_time_and_are_reported_in_order() {
    if !can_record() {
        return;
    }
    let folder = folder(&[]);
    let path = folder.path();
    compile(path, &[]);
    let setup = "setup = [[\"sh\", \"-c\", \"echo begin >> log; echo end >> log\"]]\n";
    let benchmark = |name: &str| format!("[[benchmark]]\nname = \"{name}\"\ncommand = \"./copy\"\n{setup}");
    configure(path, &["d", "b", "c", "a"].map(benchmark).concat());
    assert_eq!(code(&gate(path, &["bless", "-j", "4"])), 0);
    let output = gate(path, &["run", "-j", "4"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let shown = stdout(&output);
    let names: Vec<&str> = shown.lines().filter_map(|line| line.strip_suffix(": within budget")).collect();
    assert_eq!(names, ["d", "b", "c", "a"]);
    // One at a time has the same verdict, and setups never overlap.
    assert_eq!(stdout(&gate(path, &["run"])), shown);
    assert_eq!(std::fs::read_to_string(path.join("log")).unwrap(), "begin\nend\n".repeat(12));
}

#[test]
fn the_median_of_noisy_runs_is_the_baseline() {
    if !can_record() {
        return;
    }
    // The costs differ from run to run by the lines of a file: the setup writes 10, 20, 30, 0, then 10 again.
    let lines = "echo x >> count; test $(wc -l < count) -le 3 || : > count; for i in $(cat count); do seq 1000; done > lines";
    let setup = format!("setup = [[\"sh\", \"-c\", \"{lines}\"]]\n");
    // Left to itself, it looks at the memory and the load of the machine.
    let command = "sort -S 1M --parallel=1 lines";
    let config =
        format!("[gate]\nincrease = \"0\"\n[[benchmark]]\nname = \"a\"\ncommand = \"{command}\"\n{setup}");
    let folder = folder(&[("count", b"")]);
    let path = folder.path();
    configure(path, &config);
    let output = gate(path, &["noise", "--runs", "4"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(path.join("gristmill-baseline.toml")).unwrap();
    let number = |start: &str| -> i64 {
        let rest = text
            .lines()
            .find_map(|line| line.strip_prefix(start))
            .unwrap_or_else(|| panic!("{start}: {text}"));
        rest.split([']', ',']).next().unwrap().parse().unwrap()
    };
    // The same four runs, each on its own.
    let mut costs: Vec<i64> = Vec::new();
    for _ in 0..4 {
        assert_eq!(code(&gate(path, &["bless", "--baseline", "one.toml"])), 0);
        let text = std::fs::read_to_string(path.join("one.toml")).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("total = [")).unwrap();
        costs.push(total.trim_end_matches(']').parse().unwrap());
    }
    costs.sort_unstable();
    assert_eq!(number("total = ["), costs[1], "the lower of the two in the middle");
    assert_eq!(number("noise = { runs = 4, spread = ["), costs[3] - costs[0]);
}

/// The recipe of docs/gate.md for pull requests.
#[test]
fn base_and_head_are_measured_side_by_side() {
    if !can_record() {
        return;
    }
    let folder = folder(&[]);
    let [base, head] = ["base", "head"].map(|name| folder.path().join(name));
    for (folder, options) in [(&base, &[][..]), (&head, &["-DROUNDS=300"])] {
        std::fs::create_dir_all(folder.join(".git")).unwrap();
        configure(folder, CONFIG);
        compile(folder, options);
    }
    let output = gate(&base, &["bless", "--baseline", "../base.toml", "--keep", "../profiles"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let arguments = [
        "run",
        "--baseline",
        "../base.toml",
        "--against",
        "../profiles",
        "--format",
        "github",
        "--also",
        "markdown=../comment.md",
    ];
    let output = gate(&head, &arguments);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).starts_with("::error file=copy.c,line="), "{}", stdout(&output));
    let comment = std::fs::read_to_string(folder.path().join("comment.md")).unwrap();
    assert!(comment.contains("copy, Ir: in copy +") && comment.contains("\n- +"), "{comment}");
    // The same program costs the same in both folders.
    compile(&head, &[]);
    let output = gate(&head, &["run", "--baseline", "../base.toml"]);
    assert!(stdout(&output).contains("unchanged"), "{}", stdout(&output));
}

#[test]
fn a_configuration_is_replaced_only_by_force() {
    let folder = folder(&[("prog", b"")]);
    let path = folder.path();
    let output = gate(path, &["init", "prog"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("write `./prog`"), "{}", stderr(&output));
    let text = std::fs::read_to_string(path.join("gristmill.toml")).unwrap();
    // String functions count.
    assert!(!text.contains("ignore"), "{text}");
    assert_eq!(code(&gate(path, &["init", "./prog"])), 2);
    assert_eq!(std::fs::read_to_string(path.join("gristmill.toml")).unwrap(), text);
    assert_eq!(code(&gate(path, &["init", "--force", "./prog", "--quick"])), 0);
    assert!(
        std::fs::read_to_string(path.join("gristmill.toml")).unwrap().contains("[\"./prog\", \"--quick\"]")
    );
}

/// Works before it forks, and in the child after that. The parent does not wait for the child.
const FORK: &str = "#include <unistd.h>\n\
    #ifndef CHILDREN\n#define CHILDREN 1\n#endif\n\
    #ifndef ROUNDS\n#define ROUNDS 200000\n#endif\n\
    __attribute__((noinline)) int before(void) { int sum = 0; for (volatile int i = 0; i < 5000; i++) sum += i; return sum; }\n\
    __attribute__((noinline)) void child(void) { for (volatile int i = 0; i < ROUNDS; i++) ; _exit(0); }\n\
    int main(void) { before(); for (int i = 0; i < CHILDREN; i++) if (fork() == 0) child(); return 0; }\n";

#[test]
fn forked_children_are_waited_for_and_counted() {
    if !can_record() || !cfg!(target_os = "linux") {
        return;
    }
    let folder = folder(&[("gristmill.toml", b"[[benchmark]]\nname = \"fork\"\ncommand = \"./fork\"\n")]);
    let path = folder.path();
    let build = |options: &[&str]| {
        std::fs::write(path.join("fork.c"), FORK).unwrap();
        let arguments = [&["-g", "-O1", "fork.c", "-o", "fork"], options].concat();
        assert!(Command::new("cc").args(arguments).current_dir(path).status().unwrap().success());
    };
    build(&[]);
    let blessed = gate(path, &["bless"]);
    assert_eq!(code(&blessed), 0, "{}", stdout(&blessed));
    let same = gate(path, &["run"]);
    assert_eq!(code(&same), 0, "{}", stdout(&same));
    assert!(stdout(&same).contains("1 process was forked"), "{}", stdout(&same));
    // The work of the child counts, although its parent has ended.
    build(&["-DROUNDS=400000"]);
    let slower = gate(path, &["run"]);
    assert_eq!(code(&slower), 1, "{}", stdout(&slower));
    // Each further child has a copy of what came before.
    build(&["-DCHILDREN=2"]);
    let more = gate(path, &["run"]);
    assert_eq!(code(&more), 2, "{}", stdout(&more));
    assert!(stdout(&more).contains("forked processes"), "{}", stdout(&more));
}

/// In a program that does little, the start hides a function that costs a fifth more from the budget of the total. The first
/// configuration has a budget for `main`, which does not have the start.
#[test]
fn a_first_configuration_finds_what_the_start_of_a_small_program_hides() {
    if !can_record() {
        return;
    }
    let source = "volatile int sink;\n__attribute__((noinline)) void work(void) { for (int i = 0; i < WORK; i++) sink += i; }\n\
        int main(void) { work(); return 0; }\n";
    let folder = folder(&[("small.c", source.as_bytes())]);
    let path = folder.path();
    let build = |work: &str, more: &[&str]| {
        let built = Command::new("cc")
            .current_dir(path)
            .args(["-O1", work, "-o", "small", "small.c"])
            .args(more)
            .status();
        assert!(built.unwrap().success());
    };
    let init = || {
        let output = gate(path, &["init", "--force", "./small"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(code(&gate(path, &["bless"])), 0);
    };
    build("-DWORK=200", &[]);
    init();
    assert_eq!(code(&gate(path, &["run"])), 0);
    build("-DWORK=240", &[]);
    let output = gate(path, &["run", "--format", "json"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    let budgets = &json(&output)["benchmarks"][0]["budgets"];
    let [main, total] = ["main", "total"].map(|name| {
        let budgets = budgets.as_array().unwrap();
        budgets.iter().find(|budget| budget["subject"] == name).unwrap_or_else(|| panic!("{budgets:?}"))["outcome"].clone()
    });
    assert_eq!((main, total), ("over".into(), "within".into()));
    // Without names of functions there is no such budget, which would match none.
    build("-DWORK=200", &["-s"]);
    init();
    assert_eq!(code(&gate(path, &["run"])), 0);
}
