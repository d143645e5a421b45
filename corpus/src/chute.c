/* The mill without a C library, so that its program is small enough to keep: what reads machine code is tested with it. */
#include "grain.h"

static struct grain grains[24];

static unsigned fill(unsigned seed)
{
    unsigned wet = 0;
    for (int at = 0; at < 24; at++) {
        seed = mix(seed + at);
        grains[at].weight = seed % 90;
        grains[at].moisture = clamp(seed >> 7, 60);
        wet += grains[at].moisture;
    }
    return wet;
}

__attribute__((noreturn, force_align_arg_pointer)) void _start(void)
{
    static const treat_fn treatments[] = { dry, soak, husk };
    unsigned sum = fill(7);
    sort_grains(grains, 24, by_weight);
    sum += treat_all(grains, 24, treatments, 3) + grind(4);
    __asm__ volatile("syscall" : : "a"(60), "D"(sum == 0) : "rcx", "r11", "memory");
    __builtin_unreachable();
}
