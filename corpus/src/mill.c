/* The mill: fills a hopper, then grinds, sifts and treats. Nothing is printed, so that a recording shows the mill and
   not the C library. */
#include "grain.h"

enum { GRAINS = 40 };

static struct grain hopper[GRAINS];

static void fill(unsigned seed)
{
    for (int at = 0; at < GRAINS; at++) {
        seed = mix(seed);
        hopper[at].weight = clamp(seed & 255, 200);
        hopper[at].moisture = (seed >> 8) % 100;
    }
}

static unsigned shift(unsigned seed)
{
    static const treat_fn treatments[] = {dry, soak, husk};
    fill(seed);
    sort_grains(hopper, GRAINS, by_weight);
    unsigned sum = treat_all(hopper, GRAINS, treatments, 3);
    sort_grains(hopper, GRAINS, by_moisture);
    return sum;
}

int main(int argc, char **argv)
{
    unsigned sum = grind(8) + coarse(argc + 10) + fine(7);
    (void)argv;
    for (unsigned day = 1; day <= 3; day++)
        sum += shift(day * 2654435761u);
    return sum == 0;
}
