// Threads in the same functions.
#include <pthread.h>
#include <stdlib.h>
#include "near.h"

void mark(void);
extern volatile int dumps;

static __attribute__((noinline)) int grind(int x) {
  int sum = 0;
  for (volatile int i = 0; i < 40; i++)
    sum += i * x;
  return sum & 15;
}

static __attribute__((noinline)) int rest(int x) {
  mark();
  return grind(x) + 1;
}

static int rounds;

static void *work(void *given) {
  static const step table[2] = {grind, rest};
  long sum = 0;
  for (int i = 0; i < rounds; i++)
    sum += chosen(table, i) + pair(rest, grind, i);
  return (void *)(sum & 1);
}

int main(int argc, char **argv) {
  dumps = argc > 2;
  rounds = atoi(argv[1]);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
