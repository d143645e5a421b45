/* What the parts of the mill share. The functions here are inlined into their callers, so that the lines of this file
   appear inside functions of others. */
#ifndef GRAIN_H
#define GRAIN_H

struct grain {
    unsigned weight;
    unsigned moisture;
};

typedef int (*compare_fn)(const struct grain *, const struct grain *);
typedef unsigned (*treat_fn)(struct grain *);

static inline unsigned mix(unsigned seed)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    return seed ^ (seed << 5);
}

static inline __attribute__((always_inline)) unsigned clamp(unsigned value, unsigned limit)
{
    if (value > limit)
        return limit;
    return value;
}

unsigned grind(unsigned depth);
int coarse(unsigned size);
int fine(unsigned size);
void sort_grains(struct grain *grains, int count, compare_fn compare);
unsigned treat_all(struct grain *grains, int count, const treat_fn *treatments, int kinds);
int by_weight(const struct grain *left, const struct grain *right);
int by_moisture(const struct grain *left, const struct grain *right);
unsigned dry(struct grain *grain);
unsigned soak(struct grain *grain);
unsigned husk(struct grain *grain);

#endif
