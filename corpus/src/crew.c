/* A crew of threads at one mill: each grinds its own share and books it under a lock. */
#include <pthread.h>

#include "grain.h"

enum { MILLERS = 3 };

static pthread_barrier_t gate;
static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static unsigned ground;

static void enter(unsigned amount)
{
    pthread_mutex_lock(&book);
    ground += amount;
    pthread_mutex_unlock(&book);
}

static void *miller(void *share)
{
    unsigned depth = *(unsigned *)share;
    /* All are there before one begins: else a late thread gets the number of one that has ended. */
    pthread_barrier_wait(&gate);
    for (unsigned sack = 0; sack < depth; sack++)
        enter(grind(depth) + mix(sack));
    return 0;
}

int main(void)
{
    pthread_t crew[MILLERS];
    unsigned shares[MILLERS] = {5, 6, 7};
    pthread_barrier_init(&gate, 0, MILLERS);
    for (int at = 0; at < MILLERS; at++)
        pthread_create(&crew[at], 0, miller, &shares[at]);
    for (int at = 0; at < MILLERS; at++)
        pthread_join(crew[at], 0);
    return ground == 0;
}
