// Calls that a signal handler leaves by a jump while dumps are made: Callgrind writes costs of calls below 0, without the sign.
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

void mark(void);

#define APART __attribute__((noinline))

static sigjmp_buf start;
static volatile unsigned long sink;

APART void work(int n) {
  for (int i = 0; i < n; i++)
    sink += i * 7;
}

APART void handler(int signal) {
  work(50);
  if (signal == SIGUSR1) {
    mark();
    work(20);
    siglongjmp(start, 1);
  }
  work(10);
}

APART void nested(int depth) {
  work(30);
  if (depth == 0) {
    work(40);
    raise(SIGUSR1);
    work(5);
  } else {
    nested(depth - 1);
  }
  work(3);
}

APART void inner(int k) {
  work(100);
  if (k % 3 == 0)
    mark();
  nested(k % 5);
  work(9);
}

APART void attempt(int k) {
  if (sigsetjmp(start, 1) == 0) {
    inner(k);
  } else {
    work(60);
    mark();
    work(11);
  }
}

APART void quiet(int k) {
  raise(SIGUSR2);
  work(k);
}

int main(int argc, char **argv) {
  signal(SIGUSR1, handler);
  signal(SIGUSR2, handler);
  for (int k = 0; k < atoi(argv[argc - 1]); k++) {
    attempt(k);
    quiet(k * 5);
    if (k == 6)
      mark();
  }
  return 0;
}
