//! The memory that recordings take.

use super::*;

/// A program that runs another one, and prints the most memory that it had, in kB.
const MEASURE: &str = "#include <stdio.h>\n#include <sys/resource.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
    int main(int argc, char **argv) {\n\
    pid_t child = fork();\n\
    if (child == 0) { freopen(\"/dev/null\", \"w\", stdout); execvp(argv[1], argv + 1); _exit(127); }\n\
    int status; struct rusage usage;\n\
    wait4(child, &status, 0, &usage);\n\
    printf(\"%ld\\n\", usage.ru_maxrss);\n\
    return status != 0; }\n";

/// Returns a program of many branches after each other, of which each run takes other ones. It prints the most memory that it had.
fn many_ways() -> String {
    let step = |index: usize| {
        let [a, b, c] = [index * 7919 % 509, index * 104_729 % 509, index * 1_299_709 % 509];
        format!("if (s[{a}] > s[{b}]) s[{c}] += s[{a}] ^ {index};\n")
    };
    let function = |number: usize| {
        let steps: String = (0..100).map(|index| step(100 * number + index)).collect();
        format!("__attribute__((noinline)) static void f{number}(void) {{\n{steps}}}\n")
    };
    let functions: String = (0..200).map(function).collect();
    let calls: String = (0..200).map(|number| format!("f{number}();")).collect();
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstatic int s[512];\n{functions}int main(void) {{\n\
         for (int turn = 0; turn < 100; turn++) {{ for (int i = 0; i < 512; i++) s[i] ^= rand(); {calls} }}\n\
         char line[200];\nFILE *status = fopen(\"/proc/self/status\", \"r\");\n\
         while (status && fgets(line, sizeof line, status)) if (!strncmp(line, \"VmHWM:\", 6)) printf(\"%d\\n\", atoi(line + 6));\n\
         return 0; }}\n"
    )
}

#[test]
fn memory_does_not_grow_with_the_ways_through_code() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "ways", &["-O1"], &many_ways());
    let memory = |option: &str| {
        let output = crate::record(folder.path(), &["-q", "--force", "-o", "a.out", option, "./ways"]);
        stdout(&output).trim().parse::<u64>().unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    // Where jumps are counted, each block is translated once.
    let [once, several] = ["--collect-jumps=yes", "--collect-jumps=no"].map(memory);
    assert!(several < 2 * once, "{several} kB, and {once} with each block translated once");
}

#[test]
fn recordings_take_less_memory_than_those_of_callgrind() {
    if !has_engine(&["cc", "perl", "valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "measure", &["-O1"], MEASURE);
    compile(folder.path(), "ways", &["-O1", "-g"], &many_ways());
    let memory = |command: &[&str]| {
        let output = Command::new("./measure").args(command).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", stderr(&output));
        stdout(&output).trim().parse::<u64>().unwrap()
    };
    let ours = env!("CARGO_BIN_EXE_gristmill");
    // A program that was not optimized is larger by some of this, in kB.
    let allowed = if cfg!(debug_assertions) { 8 << 10 } else { 0 };
    for program in [&["./ways"][..], &["true"], &["perl", "-e", "use POSIX; print strftime(\"%Y\", gmtime)"]]
    {
        let record = [&[ours, "record", "--engine=native", "-q", "--force", "-o", "a.out", "--"], program];
        let callgrind = [&["valgrind", "--tool=callgrind", "-q", "--callgrind-out-file=b.out"], program];
        let [ours, theirs] = [record.concat(), callgrind.concat()].map(|command| memory(&command));
        assert!(ours < theirs + allowed, "{program:?}: {ours} kB, and {theirs} kB under Callgrind");
    }
}

/// Locks its memory in a way, also without the right to do so beyond a limit, and maps more. It prints the results, and whether it has more
/// memory than it could use.
const LOCKS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void say(const char *what, long result) { printf("%s %ld %s\n", what, result, result < 0 ? strerror(errno) : ""); }
static int resident(char *memory) { unsigned char is_there = 0; mincore(memory, 4096, &is_there); return is_there & 1; }
static void *map(void) { return mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void *work(void *p) { char *memory = malloc(100000); memset(memory, 1, 100000); free(memory); return p; }
int main(int count, char **words) {
    int flags = atoi(words[1]);
    if (count > 2) {
        struct rlimit limit = {atol(words[2]), atol(words[2])};
        setrlimit(RLIMIT_MEMLOCK, &limit);
        struct { unsigned version; int process; } header = {0x20080522, 0};
        unsigned rights[2][3] = {{0}};
        if (syscall(SYS_capset, &header, rights)) return 1;
    }
    char *before = map();
    say("all", mlockall(flags));
    printf("before %d\n", resident(before));
    char *after = map();
    if (after == MAP_FAILED) say("map", -1);
    else printf("after %d\n", resident(after));
    char *more = sbrk(100000);
    if (more == (void *)-1) say("more", -1);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) if (pthread_create(threads + i, 0, work, 0)) threads[i] = 0;
    for (int i = 0; i < 4; i++) { printf("thread %d\n", threads[i] != 0); if (threads[i]) pthread_join(threads[i], 0); }
    fflush(stdout);
    if (fork() == 0) { char *own = map(); printf("child %d\n", resident(own)); fflush(stdout); _exit(0); }
    wait(0);
    say("none", munlockall());
    char *last = map();
    printf("last %d\n", resident(last));
    say("lock", mlock(last, 4096));
    say("locked", syscall(SYS_mlock2, last + 8192, 4096, 1));
    say("unlock", munlock(last, 12288));
    say("nowhere", mlock((void *)0x30000000, 4096));
    say("wrong", mlock(last, -8192));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%s\n", usage.ru_maxrss < 400000 ? "little" : "much");
    return 0;
}
"#;

#[test]
fn programs_lock_their_memory_and_not_that_of_the_engine() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "locks", &["-O1", "-pthread"], LOCKS);
    for flags in ["0", "1", "2", "3", "4", "5", "7", "8"] {
        for limit in [&[][..], &["0"], &["3000000"], &["50000000"]] {
            let words = [&["./locks", flags][..], limit].concat();
            let alone = Command::new(words[0]).args(&words[1..]).current_dir(folder.path()).output().unwrap();
            let output = crate::record(folder.path(), &[&["--force", "-o", "a.out"], &words[..]].concat());
            assert_eq!(stdout(&output), stdout(&alone), "{words:?}: {}", stderr(&output));
            assert!(stdout(&output).ends_with("little\n"), "{words:?}");
            assert!(
                Sums::read(&folder.path().join("a.out")).total > 10_000,
                "{words:?}: {}",
                stderr(&output)
            );
        }
    }
}

/// Reserves memory under a limit of its own, and makes parts of it writable.
const LIMITS_ITSELF: &str = r#"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
enum { MB = 1 << 20, ALL = PROT_READ | PROT_WRITE };
static char *reserve(int megabytes, int flags) { return mmap(0, (size_t)megabytes * MB, PROT_NONE, flags | MAP_ANONYMOUS, -1, 0); }
static void change(char *start, int megabytes, int access) { printf("%d\n", mprotect(start, (size_t)megabytes * MB, access)); }
int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    char *own = reserve(400, MAP_PRIVATE), *shared = reserve(400, MAP_SHARED);
    setrlimit(RLIMIT_DATA, &(struct rlimit){100 * MB, RLIM_INFINITY});
    change(own, 150, ALL);
    change(own, 50, ALL);
    change(own, 60, ALL);
    change(own, 50, PROT_READ);
    change(own, 80, ALL);
    change(own + 100 * MB, 40, ALL);
    change(own + 100 * MB, 300, PROT_READ | PROT_EXEC);
    change(shared, 400, ALL);
    change(own, 80, PROT_NONE);
    change(own + 300 * MB, 80, ALL);
    change(own, 80, ALL);
    return 0;
}
"#;

#[test]
fn a_limit_of_its_own_holds_for_a_change_of_protection() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "limits", &["-O1"], LIMITS_ITSELF);
    let output = assert_same_output(folder.path(), "./limits");
    assert!(output.starts_with("-1\n0\n"), "{output}");
}
