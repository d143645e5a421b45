/* Calls through pointers, and a sort that calls itself from two places. */
#include "grain.h"

int by_weight(const struct grain *left, const struct grain *right)
{
    return left->weight < right->weight ? -1 : left->weight > right->weight;
}

int by_moisture(const struct grain *left, const struct grain *right)
{
    return left->moisture < right->moisture ? -1 : left->moisture > right->moisture;
}

static void swap(struct grain *left, struct grain *right)
{
    struct grain kept = *left;
    *left = *right;
    *right = kept;
}

void sort_grains(struct grain *grains, int count, compare_fn compare)
{
    int low = 0;
    if (count < 2)
        return;
    for (int next = 1; next < count; next++)
        if (compare(&grains[next], &grains[0]) < 0)
            swap(&grains[++low], &grains[next]);
    swap(&grains[0], &grains[low]);
    sort_grains(grains, low, compare);
    sort_grains(grains + low + 1, count - low - 1, compare);
}

unsigned dry(struct grain *grain)
{
    grain->moisture -= grain->moisture / 4;
    return grain->moisture;
}

unsigned soak(struct grain *grain)
{
    grain->moisture = clamp(grain->moisture + 7, 100);
    return grain->moisture;
}

unsigned husk(struct grain *grain)
{
    switch (grain->weight & 7) {
    case 0: grain->weight += 1; break;
    case 1: grain->weight -= 1; break;
    case 2: grain->weight ^= 6; break;
    case 3: grain->weight = clamp(grain->weight, 50); break;
    case 4: grain->weight += grain->moisture; break;
    case 5: return 0;
    default: grain->weight /= 2; break;
    }
    return grain->weight;
}

unsigned treat_all(struct grain *grains, int count, const treat_fn *treatments, int kinds)
{
    unsigned sum = 0;
    for (int at = 0; at < count; at++)
        sum += treatments[mix(grains[at].weight + at) % kinds](&grains[at]);
    return sum;
}
