//! Processes that the program starts, and programs that take its place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::*;
use crate::programs::compile;
use crate::sums::{Sums, environment_of_children, search_path};
use crate::{MAX_DIFFERENCE, has_engine, record};

/// Starts programs in all ways that there are.
const STARTS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char *environment[] = {"ONLY=this", 0};
static int ended(void) { int status; wait(&status); return status; }
int main(int argc, char **argv) {
    setvbuf(stdout, 0, _IONBF, 0);
    char *words[] = {"any name", "spawned", 0};
    pid_t process;
    int error = posix_spawn(&process, "/bin/echo", 0, 0, words, environment);
    printf("%d %x\n", error, ended());
    if (fork() == 0) { execl("/bin/echo", "echo", "forked", (char *)0); _exit(1); }
    printf("%x\n", ended());
    volatile int seen = 1;
    if (vfork() == 0) { seen = 2; execl("./script", "any", "a b", (char *)0); _exit(1); }
    printf("%d %x\n", seen, ended());
    if (fork() == 0) { fexecve(open("/bin/echo", O_RDONLY | O_CLOEXEC), words, environment); _exit(1); }
    printf("%x\n", ended());
    if (fork() == 0) { execle("/usr/bin/env", "env", (char *)0, environment); _exit(1); }
    printf("%x\n", ended());
    return 0;
}
"#;

const SCRIPT: &str = "#!/bin/sh -e\necho \"$0 $1\"\nexit 3\n";

const STARTS_OUTPUT: &str = "spawned\n0 0\nforked\n0\n./script a b\n2 300\nspawned\n0\nONLY=this\n0\n";

/// Starts that fail, each of which goes on.
const FAILS: &str = r#"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    const char *paths[] = {"./missing", "./folder", "./text", "./unreadable", "./text/x", "./no-interpreter", ""};
    for (int i = 0; i < 7; i++) {
        char *words[] = {"x", 0};
        pid_t process;
        printf("%s: %s", paths[i], strerror(posix_spawn(&process, paths[i], 0, 0, words, environ)));
        execl(paths[i], "x", (char *)0);
        printf(", %s", strerror(errno));
        volatile int error = 0;
        if (vfork() == 0) { execl(paths[i], "x", (char *)0); error = errno; _exit(9); }
        int status;
        wait(&status);
        printf(", %s, %x\n", strerror(error), status);
    }
    return 0;
}
"#;

/// Works, then runs itself in its own place, or forks a process that does so, or one that ends.
const REPLACES: &str = r#"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void before(int n) { for (volatile int i = 0; i < n; i++); }
__attribute__((noinline)) void work(int n) { for (volatile int i = 0; i < n; i++); }
__attribute__((noinline)) void after(int n) { for (volatile int i = 0; i < n; i++); }
__attribute__((noinline)) void within(char *kind, char *path) {
    work(300000);
    if (strcmp(kind, "end")) execl(path, path, (char *)0);
    if (!strcmp(kind, "fails")) after(70);
}
static int is_child;
static void fork_here(int signal) { (void)signal; before(200000); is_child = fork() == 0; }
int main(int argc, char **argv) {
    if (argc == 1) { after(50); return 0; }
    if (!strcmp(argv[2], "handler")) {
        signal(SIGUSR1, fork_here);
        raise(SIGUSR1);
        if (is_child) within(argv[1], argv[0]);
        wait(0);
        return 0;
    }
    before(200000);
    int forks = !strcmp(argv[2], "fork");
    if (!forks || fork() == 0) { within(argv[1], argc > 3 ? argv[3] : argv[0]); return 0; }
    wait(0);
    return 0;
}
"#;

/// The profiles of a folder by the command.
fn by_command(folder: &Path, end: &str) -> BTreeMap<String, Vec<PathBuf>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in files_below(folder).into_iter().filter(|path| path.extension().is_some_and(|own| own == end))
    {
        let content = std::fs::read_to_string(&path).unwrap();
        let command = content.lines().find_map(|line| line.strip_prefix("cmd: ")).unwrap().trim().to_owned();
        found.entry(command).or_default().push(path);
    }
    found
}

#[test]
fn programs_that_it_starts_are_recorded_on_request() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "starts", &["-O1"], STARTS);
    write_script(&folder.path().join("script"), SCRIPT);
    let expected = Command::new("./starts").current_dir(folder.path()).output().unwrap();
    assert_eq!(stdout(&expected), STARTS_OUTPUT);

    let options = ["--trace-children=yes", "--dump-instr=yes", "-q"];
    let native = [&["record", "--engine=native", "-o", "%p.native"][..], &options, &["./starts"]].concat();
    let mut command = gristmill(&native);
    command.current_dir(folder.path()).env_clear().envs(environment_of_children()).env("PWD", folder.path());
    let output = command.output().unwrap();
    assert_eq!(stdout(&output), STARTS_OUTPUT, "{}", stderr(&output));
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));

    let freeres = ["--valgrind-option=--run-libc-freeres=no"];
    let other =
        [&["record", "--engine=valgrind", "-o", "%p.callgrind"][..], &options, &freeres, &["./starts"]];
    let mut command = gristmill(&other.concat());
    command.current_dir(folder.path()).env_clear().env("PATH", search_path()).output().unwrap();
    let [own, others] = ["native", "callgrind"].map(|end| by_command(folder.path(), end));
    assert!(own.keys().eq(others.keys()), "{own:?} {others:?}");
    assert!(own.contains_key("/bin/echo forked") && own.contains_key("./script a b"), "{own:?}");
    let mut compared = 0;
    for (command, files) in &own {
        assert_eq!(files.len(), others[command].len(), "{command}");
        // What is started with an environment of its own has another one under Valgrind, and so other costs of the start.
        if command.ends_with("forked") || command.starts_with("./script") {
            let sums = [&others[command][0], &files[0]].map(|path| Sums::read(path));
            let (differences, count) = sums[0].differences(&sums[1]);
            assert!(count <= MAX_DIFFERENCE, "{command}: {}", differences.join("\n"));
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
}

/// Prints its words and its environment. With a word, it runs itself or another program with an odd environment, or without any word.
const ODD_STARTS: &str = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    char *odd[] = {"A=1", "B", "=x", "A=2", "", "C=", 0}, *none[] = {0};
    printf("%d", argc);
    for (int i = 0; i < argc; i++) printf(" (%s)", strchr(argv[i], '/') ? "path" : argv[i]);
    for (char **entry = environ; *entry; entry++) printf(" [%s]", strchr(*entry, '/') ? "path" : *entry);
    puts("");
    fflush(stdout);
    if (argc < 2) return 0;
    if (!strcmp(argv[1], "environment")) execve("./odd", (char *[]){"./odd", "words", 0}, odd);
    if (!strcmp(argv[1], "words")) execve("./odd", none, odd);
    if (!strcmp(argv[1], "null")) execve("./odd", 0, 0);
    execve(argv[1], argv + 1, odd);
    return 1;
}
"#;

#[test]
fn programs_get_odd_words_and_environments_as_they_are() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "odd", &["-O1", "-w"], ODD_STARTS);
    let output = |command: &mut Command| {
        let output = command.current_dir(folder.path()).env_clear().output().unwrap();
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{command:?}");
        stdout(&output)
    };
    for word in ["environment", "null"] {
        let expected = output(Command::new("./odd").arg(word));
        assert!(expected.ends_with("\n1 () [A=1] [B] [=x] [A=2] [] [C=]\n") || word == "null", "{expected}");
        let words =
            ["record", "--engine=native", "-q", "--trace-children=yes", "-o", "a.out.%p", "./odd", word];
        assert_eq!(output(&mut gristmill(&words)), expected);
    }
    // The same for the environment of the recorder.
    let expected = output(Command::new("./odd").arg("./odd"));
    let program = gristmill(&[]).get_program().to_owned();
    let mut recorded = Command::new("./odd");
    recorded.arg(program).args(["record", "--engine=native", "-q", "-o", "b.out", "./odd"]);
    let recorded = output(&mut recorded);
    assert_eq!(recorded.lines().last(), expected.lines().last());
}

#[test]
fn a_start_that_fails_tells_why() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[("text", b"no program")]);
    compile(folder.path(), "fails", &["-O1"], FAILS);
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    write_script(&folder.path().join("no-interpreter"), "#!/no/such/interpreter\n");
    std::fs::write(folder.path().join("unreadable"), "\x7fELF").unwrap();
    write_script(&folder.path().join("unreadable"), "\x7fELF");
    let expected = Command::new("./fails").current_dir(folder.path()).output().unwrap();
    assert!(
        stdout(&expected).contains("./missing: No such file or directory, No such file or directory, No")
    );
    for options in [&[][..], &["--trace-children=yes"]] {
        let output = record(folder.path(), &[options, &["-o", "%p.out", "./fails"]].concat());
        assert_eq!(stdout(&output), stdout(&expected), "{options:?}: {}", stderr(&output));
        assert_eq!(code(&output), 0);
    }
}

#[test]
fn a_program_in_its_place_has_what_it_would_have() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    for script in [
        "exec grep -E '^(Name|Sig(Blk|Pnd))' /proc/self/status",
        "trap '' PIPE USR1; exec sh -c 'kill -PIPE $$; kill -USR1 $$; echo alive; kill -USR2 $$'",
        "ulimit -v 70000; exec sh -c 'ulimit -v; sort /dev/null; sort -S 300M /dev/null'",
        "ulimit -S -d 60000; ulimit -d; exec ./other -S 300M /dev/null",
        "cd /; exec pwd",
        "exec 5>/dev/null; ls /proc/self/fd | wc -l; exec 0>&- 2>&-; sh -c 'ls -l /proc/self/fd | wc -l'",
        "exec ls -l /proc/self/fd | wc -l",
        "LD_PRELOAD=libgristmill-none.so; export LD_PRELOAD; exec env",
        "tr '\\0' ' ' < /proc/self/cmdline; cat /proc/self/cmdline",
        "ulimit -s 4096; exec sh -c 'ulimit -s; readlink /proc/self/exe'",
        "exec /proc/self/exe -c 'echo \"$0 $1\"; exit 3' info x",
        "/proc/$$/exe -c 'echo again; exit 4' info x; echo $?",
        "kill -TERM $$",
    ] {
        let mut command = Command::new("sh");
        let expected = command.args(["-c", script]).current_dir(folder.path()).env_clear();
        let expected = expected.env("PATH", search_path()).output().unwrap();
        let words =
            ["record", "--engine=native", "--trace-children=yes", "-q", "-o", "%p.out", "sh", "-c", script];
        let mut command = gristmill(&words);
        command.current_dir(folder.path()).env_clear().env("PATH", search_path());
        let output = command.output().unwrap();
        assert_eq!(stdout(&output), stdout(&expected), "{script}: {}", stderr(&output));
        assert_eq!(output.status, expected.status, "{script}: {}", stderr(&output));
    }
}

#[test]
fn a_program_that_cannot_be_recorded_runs_as_usual() {
    if !has_engine(&[]) {
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder(&[]);
    let path = folder.path().join("other");
    std::fs::copy("/bin/echo", &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let words = ["--trace-children=yes", "-o", "%p.out", "sh", "-c", "./other a; ./other b; echo c"];
    let output = record(folder.path(), &words);
    assert_eq!((stdout(&output).as_str(), code(&output)), ("a\nb\nc\n", 0), "{}", stderr(&output));
    let line = "runs ./other, which is not recorded: it runs with the rights of another user or group\n";
    assert_eq!(stderr(&output).matches(line).count(), 2, "{}", stderr(&output));
}

/// A program that runs itself while signals come. The timer goes on, and ends the new one, or it has no signal blocked.
const RUNS_ITSELF: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static void ignore(int signal) {}
int main(int count, char **words) {
    if (count > 1) {
        sigset_t set;
        sigprocmask(SIG_BLOCK, 0, &set);
        for (int signal = 1; signal < 64; signal++) if (sigismember(&set, signal) == 1) return 1;
        return 0;
    }
    struct itimerval each = {{0, 300}, {0, 300}};
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    int bad = 0;
    for (int i = 0; i < 10; i++) {
        int process = fork(), status;
        if (process == 0) {
            setitimer(ITIMER_REAL, &each, 0);
            execl(words[0], words[0], "again", (char *)0);
            _exit(9);
        }
        waitpid(process, &status, 0);
        bad += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    }
    printf("%d\n", bad);
    return 0;
}
"#;

#[test]
fn a_program_that_is_run_while_signals_come_has_none_blocked() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "itself", &["-O1"], RUNS_ITSELF);
    let options = ["-q", "--trace-children=yes", "-o", "itself.%p", "./itself"];
    let output = record(folder.path(), &options);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "0\n"), "{}", stderr(&output));
}

/// The self costs of the functions of `REPLACES` in a profile, with the inclusive cost of the one that calls.
fn costs_of_replaced(path: &Path) -> [i128; 4] {
    let words = ["functions", "--format", "json", "-n", "0", "--no-cycles", path.to_str().unwrap()];
    let report = json(&run(&words));
    let cost = |name: &str, kind: &str| {
        let functions = report["functions"].as_array().unwrap().iter();
        functions.filter(|row| row["name"] == name).map(|row| whole(&row[kind]["Ir"])).sum()
    };
    [cost("before", "self"), cost("work", "self"), cost("after", "self"), cost("within", "inclusive")]
}

#[test]
fn what_a_program_did_before_another_took_its_place_is_recorded() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "replaces", &["-O1"], REPLACES);
    let recorded = |words: &[&str], options: &[&str]| -> Vec<(String, [i128; 4])> {
        let place = tempfile::tempdir_in(folder.path()).unwrap();
        let name = place.path().join("out.%p");
        let own = ["record", "--engine=native", "-q", "-o", name.to_str().unwrap()];
        let output = run_in(folder.path(), &[&own, options, &["./replaces"], words].concat());
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{words:?}");
        let files = files_below(place.path()).into_iter().map(|path| {
            let content = std::fs::read_to_string(&path).unwrap();
            let trigger = content.lines().find_map(|line| line.strip_prefix("desc: Trigger: ")).unwrap();
            (trigger.to_owned(), costs_of_replaced(&path))
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        files
    };
    let traced = ["--trace-children=yes"];
    let end = "Program termination".to_owned();
    // Without another program, there is one file.
    let whole = recorded(&["end", "here"], &[]);
    let [(_, [before, work, _, within])] = whole[..] else { panic!("{whole:?}") };
    assert!(before > 600_000 && work > 900_000 && within > work, "{whole:?}");

    let replaced = recorded(&["run", "here"], &traced);
    let [(_, last), (trigger, first)] = &replaced[..] else { panic!("{replaced:?}") };
    assert_eq!(trigger, "Replaced by ./replaces");
    assert_eq!((first[0], first[1], first[2]), (before, work, 0));
    assert!((within..within + 5_000).contains(&first[3]) && last[2] > 100 && last[1] == 0, "{replaced:?}");

    // What the parent has counted is not counted again.
    let forked = recorded(&["run", "fork"], &traced);
    let [(_, child_last), (_, parent), (trigger, child)] = &forked[..] else { panic!("{forked:?}") };
    assert_eq!(trigger, "Replaced by ./replaces");
    assert_eq!((child[0], child[1]), (0, work));
    assert!((within..within + 5_000).contains(&child[3]), "{forked:?}");
    assert_eq!((parent[0], parent[1], child_last[2]), (before, 0, last[2]));

    // Also if the process was forked in the handler of a signal, which has returned.
    let handled = recorded(&["run", "handler"], &traced);
    let [_, _, (_, child)] = &handled[..] else { panic!("{handled:?}") };
    assert_eq!((child[0], child[1]), (0, work));

    // A process that ends has the counts of its parent, as without that option.
    for way in ["fork", "handler"] {
        assert_eq!(recorded(&["end", way], &traced), recorded(&["end", way], &[]), "{way}");
    }
    // If there is no such program, the process goes on.
    let failed = recorded(&["fails", "here", "/missing"], &traced);
    assert_eq!(failed.len(), 1);
    assert_eq!(
        (&failed[0].0, failed[0].1[..2].to_vec(), failed[0].1[2] > 100),
        (&end, vec![before, work], true)
    );

    // Parts have numbers of their own.
    let dumped = recorded(&["run", "here"], &["--trace-children=yes", "--dump-before=work"]);
    let triggers: Vec<&str> = dumped.iter().map(|(trigger, _)| trigger.as_str()).collect();
    assert_eq!(triggers, ["--dump-before=work", &end, "Replaced by ./replaces"]);
    // All parts of a program are in one file, and those of the next one in another.
    let combined = recorded(&["run", "here"], &["--trace-children=yes", "--combine-dumps=yes"]);
    assert_eq!(combined, replaced);
    // Beside a device is no place for a part.
    std::os::unix::fs::symlink("/dev/null", folder.path().join("null")).unwrap();
    let words = ["record", "--engine=native", "-q", "--trace-children=yes", "-o", "null"];
    let output = run_in(folder.path(), &[&words[..], &["./replaces", "run", "here"]].concat());
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    assert!(!folder.path().join("null.1").exists());
}

/// Forks a process that ends some milliseconds after the program.
const LEAVES_A_FORK: &str = r#"
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (fork() == 0) { usleep(atoi(argv[1])); _exit(0); }
    return 0;
}
"#;

#[test]
fn a_forked_process_may_write_the_file_while_it_is_looked_at() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "leaves", &["-O1"], LEAVES_A_FORK);
    for run in 0..40 {
        let wait = (run % 8 * 1000).to_string();
        let output = record(folder.path(), &["--force", "-o", "a.out", "./leaves", &wait]);
        let said = stderr(&output);
        assert!(code(&output) == 0 && said.contains("gristmill: recorded "), "{said}");
        assert!(!said.contains("left a profile"), "{said}");
    }
}
