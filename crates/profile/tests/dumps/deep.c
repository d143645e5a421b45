// Recursion through inlined calls: several calls at one instruction are running at once.
#include <stdlib.h>
#include "near.h"

void mark(void);
extern volatile int dumps;
static volatile int sink;
static int deep(int x);

static __attribute__((noinline)) int leaf(int x) {
  for (int i = 0; i < 4; i++)
    sink += i;
  mark();
  return x;
}

static const step table[2] = {deep, leaf};

static __attribute__((noinline)) int deep(int x) {
  step next = table[x <= 0];
  int sum = twice(next, x - 3) & 1;
  sum += pair(next, leaf, x - 2) & 1;
  return -sum;
}

int main(int argc, char **argv) {
  dumps = argc > 2;
  return deep(atoi(argv[1])) == 4711;
}
