//! Programs that leave calls without a return of their own: from parts of functions that are apart from the others, by jumps at the end of
//! handlers, and to other stacks.

use super::programs::compile;
use super::{assert_same_profile, has_engine};
use crate::harness::*;

/// Functions and a handler whose rare part is elsewhere, takes their space off the stack, and ends with a jump to another function.
const APART: &str = r#"
#include <signal.h>
#define APART __attribute__((noinline))
static volatile int sum;
APART void work(int n) { for (int i = 0; i < n; i++) sum += i; }
APART __attribute__((cold)) void report(int n) { work(n); }
APART void finish(int *data) { for (int i = 0; i < 200; i++) sum += data ? 1 : 2; }
APART void use(int *data) { sum += data[3]; }
APART void run(int n) {
    int data[10];
    data[3] = n;
    use(data);
    if (n % 4 == 0) { report(n); sum++; finish(0); return; }
    work(n);
    use(data);
}
static void handle(int signal) {
    int data[10];
    data[3] = signal;
    use(data);
    if (sum % 2 == 0) { report(signal); sum += 2; return; }
    sum++;
    use(data);
}
static void handle_by_jump(int signal) { (void)signal; work(3); }
APART void send(int signal) { sum &= ~1; raise(signal); work(5); sum++; }
int main(void) {
    signal(SIGUSR1, handle);
    signal(SIGUSR2, handle_by_jump);
    for (int i = 0; i < 40; i++) run(i);
    for (int i = 0; i < 5; i++) { send(SIGUSR1); send(SIGUSR2); }
    return 0;
}
"#;

/// Two routines that switch to each other, on stacks of their own.
const ROUTINES: &str = r#"
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t first, one, other;
static volatile int sum;
__attribute__((noinline)) static void step(int n) { for (int i = 0; i < n; i++) sum += i; }
static void run_one(void) { for (int i = 0; i < 100; i++) { step(5); swapcontext(&one, &other); } setcontext(&first); }
static void run_other(void) { for (int i = 0; i < 100; i++) { step(9); swapcontext(&other, &one); } setcontext(&first); }
static void make(ucontext_t *routine, void (*run)(void)) {
    getcontext(routine);
    routine->uc_stack.ss_sp = malloc(65536);
    routine->uc_stack.ss_size = 65536;
    makecontext(routine, run, 0);
}
int main(void) {
    make(&one, run_one);
    make(&other, run_other);
    swapcontext(&first, &one);
    step(3);
    return 0;
}
"#;

#[test]
fn calls_that_are_left_cost_what_callgrind_says() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "apart", &["-O2"], APART);
    compile(folder.path(), "routines", &["-O2"], ROUTINES);
    for words in [
        &["./apart"][..],
        &["--separate-recs=10", "./apart"],
        &["--toggle-collect=main", "./apart"],
        &["--separate-callers=2", "./apart"],
        &["./routines"],
    ] {
        assert_same_profile(folder.path(), words);
    }
}
