// Inlined into what near.h inlines.
#ifndef FAR_H
#define FAR_H

static inline __attribute__((always_inline)) int twice(int (*f)(int), int x) {
  return f(
      f(x));
}

#endif
