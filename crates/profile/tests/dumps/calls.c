#include <stdlib.h>
#include "near.h"

void mark(void);
int third(int x);
extern volatile int dumps;
static volatile int sink;

static __attribute__((noinline)) int helper(int x) {
  for (int i = 0; i < 5; i++)
    sink += i;
  mark();
  return x & 3;
}

static __attribute__((noinline)) int second(int x) {
  return each(helper, x & 3, 1) +
         third(x);
}

__attribute__((noinline)) int middle(int x) {
  static const step table[2] = {second, third};
  int sum = chosen(table, x);
  sum += pair(second, helper, x);
  sum ^= twice(third, x);
  return sum;
}

int main(int argc, char **argv) {
  dumps = argc > 2;
  int sum = 0;
  for (int i = 0, count = atoi(argv[1]); i < count; i++)
    sum += middle(i);
  return sum == 4711;
}
