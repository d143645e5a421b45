/* Heap: blocks that are freed, blocks that stay reachable, and blocks that are lost directly and through one another. */
#include <stdlib.h>
#include <string.h>

struct sack {
    struct sack *next;
    char flour[40];
};

static struct sack *store;

static struct sack *fill_sack(struct sack *next)
{
    struct sack *sack = malloc(sizeof *sack);
    sack->next = next;
    memset(sack->flour, 'f', sizeof sack->flour);
    return sack;
}

static struct sack *stack_sacks(int count)
{
    return count == 0 ? 0 : fill_sack(stack_sacks(count - 1));
}

static void spill(void)
{
    struct sack *row = stack_sacks(3);
    row->flour[0] = 0;
}

int main(void)
{
    char *dust = calloc(100, 3);
    store = stack_sacks(5);
    spill();
    dust = realloc(dust, 500);
    free(dust);
    return 0;
}
