/* Recursion: direct (grind) and mutual (coarse, fine). */
#include "grain.h"

unsigned grind(unsigned depth)
{
    if (depth < 2)
        return 1;
    return grind(depth - 1) + grind(depth - 2);
}

int fine(unsigned size)
{
    if (size == 0)
        return 0;
    return coarse(size - 1);
}

int coarse(unsigned size)
{
    if (size == 0)
        return 1;
    return fine(size - 1);
}
