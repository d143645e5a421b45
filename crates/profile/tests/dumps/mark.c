// Where dumps are made. Not compared: what it costs depends on whether it makes one.
#include <valgrind/callgrind.h>

volatile int marks, dumps;

void mark(void) {
  marks++;
  if (dumps && marks % 7 == 0)
    CALLGRIND_DUMP_STATS;
}
