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
