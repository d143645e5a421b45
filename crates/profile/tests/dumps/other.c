#include "near.h"

void mark(void);
static volatile int sink;

// There is one of this name in calls.c, too.
static __attribute__((noinline)) int helper(int x) {
  for (int i = 0; i < 3; i++)
    sink += i ^ x;
  return sink & 7;
}

int third(int x) {
  mark();
  return helper(x) + pair(helper, helper, x);
}
