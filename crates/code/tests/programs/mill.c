#include <stdio.h>
#include <stdlib.h>

static inline int weigh(int grain) {
    return grain * 7 % 13;
}

static inline int sieve(const int *grains, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (weigh(grains[i]) > 4) kept += weigh(grains[i] + i);
    }
    return kept;
}

__attribute__((noinline)) int grind(int *grains, int count) {
    int flour = sieve(grains, count);
    for (int i = 0; i < count; i++) {
        grains[i] = weigh(grains[i]);
        flour += sieve(grains, i % 5);
    }
    return flour;
}

__attribute__((noinline)) static double share(double part, double all) {
    switch ((int)part % 6) {
    case 0: return part / all;
    case 1: return all / part;
    case 2: return part * all;
    case 3: return part - all;
    case 4: return part + all;
    default: return 0.5;
    }
}

static int by_weight(const void *left, const void *right) {
    return weigh(*(const int *)left) - weigh(*(const int *)right);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 200;
    int *grains = calloc(count, sizeof *grains);
    for (int i = 0; i < count; i++) grains[i] = (i * 31) % 97;
    qsort(grains, count, sizeof *grains, by_weight);
    int flour = grind(grains, count);
    printf("%d %.3f\n", flour, share(flour, count));
    free(grains);
    return 0;
}
