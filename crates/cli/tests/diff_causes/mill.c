/* One program with a change for each number of CHANGE. What does not belong to a change stays as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHANGE
#define CHANGE 0
#endif
#define IS(n) (CHANGE == (n))
#define APART __attribute__((noinline, noclone))

static volatile unsigned sink;

/* work: cost in proportion to n. Two callers with unequal calls, 3; one caller's arguments grow, 7; dearer itself, 6. */
APART static unsigned work(int n) {
    unsigned sum = 1;
    for (int i = 0; i < n; i++) {
        sum = sum * 31 + (unsigned)i;
        if (IS(6)) sum ^= sum >> 3;
    }
    return sum;
}
APART static void small_jobs(void) { for (int i = 0; i < 400; i++) sink += work(3 + i % 2); }
APART static void big_jobs(void) { for (int i = 0; i < (IS(3) ? 20 : 10); i++) sink += work((IS(7) ? 6000 : 2000) + i % 2); }

/* Two callers, of which one calls more and the other less, 2. */
APART static unsigned polish(unsigned x) {
    for (int i = 0; i < 40; i++) x = x * 33 + 7;
    return x;
}
APART static void up(void) { for (int i = 0; i < (IS(2) ? 2000 : 1000); i++) sink += polish(i); }
APART static void down(void) { for (int i = 0; i < (IS(2) ? 100 : 1000); i++) sink += polish(i); }

/* Five callers that all call a half more often, 20. */
APART static unsigned weigh(unsigned x) {
    for (int i = 0; i < 60; i++) x ^= x << 5 | (unsigned)i;
    return x;
}
#define TIMES (IS(20) ? 300 : 200)
APART static void oats(void) { for (int i = 0; i < TIMES; i++) sink += weigh(1 + i); }
APART static void rye(void) { for (int i = 0; i < TIMES; i++) sink += weigh(2 + i); }
APART static void corn(void) { for (int i = 0; i < TIMES; i++) sink += weigh(3 + i); }
APART static void rice(void) { for (int i = 0; i < TIMES; i++) sink += weigh(4 + i); }
APART static void malt(void) { for (int i = 0; i < TIMES; i++) sink += weigh(5 + i); }

/* A chain: d does the work, and a has more of it, 4. */
APART static unsigned d(unsigned x) { for (int i = 0; i < 30; i++) x = x * 5 + 1; return x; }
APART static unsigned c(unsigned x) { return d(x) + d(x + 1); }
APART static unsigned b(unsigned x) { return c(x) + c(x + 2); }
APART static void a(void) { for (int i = 0; i < (IS(4) ? 250 : 100); i++) sink += b(i); }

/* A recursion that goes deeper, 5. */
APART static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

/* Appending: with a known end, or searching for it each time, 8. */
APART static size_t append_all(char *text) {
    size_t end = 0;
    for (int i = 0; i < 700; i++) {
        if (IS(8)) strcat(text, "flour "); else { memcpy(text + end, "flour ", 7); end += 6; }
    }
    return strlen(text);
}

/* A hash table: few buckets make long chains, 9. */
#define BUCKETS (IS(9) ? 4 : 512)
static struct entry { int key; struct entry *next; } entries[400], *buckets[512];
APART static struct entry *find(int key) {
    struct entry *at = buckets[key % BUCKETS];
    while (at && at->key != key) at = at->next;
    return at;
}
APART static void insert(int nth) {
    entries[nth].key = nth * 7;
    entries[nth].next = buckets[nth * 7 % BUCKETS];
    buckets[nth * 7 % BUCKETS] = &entries[nth];
}
APART static void table(void) {
    for (int i = 0; i < 400; i++) insert(i);
    for (int i = 0; i < 1500; i++) sink += find(i % 400 * 7) != 0;
}

/* A memory of results, which is gone, 10. */
static unsigned known[16];
APART static unsigned slow_hash(unsigned key) {
    for (int i = 0; i < 90; i++) key = key * 16777619u ^ (unsigned)i;
    return key | 1;
}
APART static unsigned lookup(unsigned key) {
    if (IS(10)) return slow_hash(key % 16);
    unsigned *slot = &known[key % 16];
    if (!*slot) *slot = slow_hash(key % 16);
    return *slot;
}
APART static void process(void) { for (unsigned i = 0; i < 2000; i++) sink += lookup(i); }

/* Flushed after each byte, or in batches, 11. */
static char buffer[64];
static int filled;
APART static void flush_buffer(void) {
    unsigned sum = 0;
    for (int i = 0; i < 25; i++) sum = sum * 3 + (unsigned)buffer[i % 64];
    for (int i = 0; i < filled; i++) sum += (unsigned)buffer[i];
    sink += sum;
    filled = 0;
}
APART static void put(char byte) {
    buffer[filled++] = byte;
    if (!IS(11) || filled == 64) flush_buffer();
}
APART static void output(void) { for (int i = 0; i < 3000; i++) put((char)i); }

/* Part of a function becomes one of its own, 12; and the other way round with base and new swapped, 13. */
#if IS(12)
APART static unsigned sift(unsigned x) {
    for (int i = 0; i < 50; i++) x = x * 7 + (x >> 9);
    return x;
}
#endif
APART static unsigned grind(unsigned x) {
    for (int i = 0; i < 20; i++) x += x << 3 ^ (unsigned)i;
#if IS(12)
    return sift(x);
#else
    for (int i = 0; i < 50; i++) x = x * 7 + (x >> 9);
    return x;
#endif
}
APART static void mill(void) { for (int i = 0; i < 700; i++) sink += grind(i); }

/* A function gets another name, 14; that, and 10% more to do, 15. */
#if IS(14) || IS(15)
#define compute_score rank
#endif
APART static unsigned compute_score(unsigned x) {
    for (int i = 0; i < (IS(15) ? 110 : 100); i++) x = x * 13 + 5;
    return x;
}
APART static void scores(void) { for (int i = 0; i < 500; i++) sink += compute_score(i); }

/* Two functions swap their names, 16. */
#if IS(16)
#define LONG_PASS second_pass
#define SHORT_PASS first_pass
#else
#define LONG_PASS first_pass
#define SHORT_PASS second_pass
#endif
APART static void LONG_PASS(void) { for (int i = 0; i < 9000; i++) sink += i; }
APART static void SHORT_PASS(void) { for (int i = 0; i < 3000; i++) sink += i; }

/* A call is hoisted out of a loop, 17. */
APART static int length(const char *text) { int n = 0; while (text[n]) n++; sink++; return n; }
APART static int count_spaces(const char *text) {
    int found = 0, end = IS(17) ? length(text) : 0;
    for (int i = 0; i < (IS(17) ? end : length(text)); i++) found += text[i] == ' ';
    return found;
}

/* A function is inlined, 18. */
#if IS(18)
#define SMALL static inline __attribute__((always_inline))
#else
#define SMALL APART static
#endif
SMALL unsigned crack(unsigned x) {
    x ^= x >> 4;
    x *= 2654435761u;
    x ^= x >> 7;
    return x + 11;
}
APART static void crush(void) { for (unsigned i = 0; i < 4000; i++) sink += crack(i); }

/* Sorting by insertion, or by halves, 19. */
APART static int before(int x, int y) { return x < y; }
#if IS(19)
APART static void merge_sort(int *data, int n, int *spare) {
    if (n < 2) return;
    int half = n / 2, i = 0, j = half;
    merge_sort(data, half, spare);
    merge_sort(data + half, n - half, spare);
    for (int k = 0; k < n; k++) spare[k] = j == n || (i < half && before(data[i], data[j])) ? data[i++] : data[j++];
    memcpy(data, spare, (size_t)n * sizeof *data);
}
#else
APART static void insertion_sort(int *data, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && before(data[j], data[j - 1]); j--) {
            int kept = data[j];
            data[j] = data[j - 1];
            data[j - 1] = kept;
        }
}
#endif
APART static void sort_all(void) {
    static int data[200], spare[200];
    unsigned seed = 1;
    for (int i = 0; i < 200; i++) data[i] = (int)(seed = seed * 1103515245u + 12345u) >> 8;
#if IS(19)
    merge_sort(data, 200, spare);
#else
    (void)spare;
    insertion_sort(data, 200);
#endif
    sink += (unsigned)data[7];
}

/* A new step, 21. */
#if IS(21)
APART static unsigned checksum(const char *text) {
    unsigned sum = 0;
    for (int round = 0; round < 20; round++)
        for (int i = 0; text[i]; i++) sum = sum * 31 + (unsigned)text[i];
    return sum;
}
#endif

/* A search ends at the first match, 22. */
APART static int contains(const int *data, int n, int wanted) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (data[i] == wanted) {
            found = 1;
            if (IS(22)) break;
        }
    }
    return found;
}
APART static void searches(void) {
    static int data[300];
    for (int i = 0; i < 300; i++) data[i] = i * 3 % 101;
    for (int i = 0; i < 200; i++) sink += (unsigned)contains(data, 300, i % 101);
}

/* A buffer grows by a constant, not by doubling, 23. */
APART static char *grow(char *bytes, int size, int more) {
    char *larger = malloc((size_t)more);
    memcpy(larger, bytes, (size_t)size);
    free(bytes);
    return larger;
}
APART static void collect(void) {
    int size = 64, used = 0;
    char *bytes = malloc(64);
    for (int i = 0; i < 6000; i++) {
        if (used == size) {
            int more = IS(23) ? size + 64 : size * 2;
            bytes = grow(bytes, size, more);
            size = more;
        }
        bytes[used++] = (char)i;
    }
    sink += (unsigned)bytes[99];
    free(bytes);
}

/* What follows reads a volatile variable, so that no call is left out because it does the same as another. */

/* Two callers, whose calls differ in what they do and call; the one with expensive calls makes fewer, 24. */
APART static unsigned merge(unsigned x) { for (int i = 0; i < 60; i++) x = x * 9 + 5; return x; }
APART static unsigned release(int n) {
    unsigned sum = 3 + (sink & 1);
    for (int i = 0; i < n; i++) sum += sum << 2 ^ (unsigned)i;
    return n > 9 ? merge(sum) : sum;
}
APART static void keep_small(void) { for (int i = 0; i < 1000; i++) sink += release(2); }
APART static void keep_big(void) { for (int i = 0; i < (IS(24) ? 20 : 200); i++) sink += release(12); }

/* Two callers that make other counts of calls, each of which does more, 25. */
APART static unsigned sieve(unsigned x) { for (int i = 0; i < (IS(25) ? 70 : 50); i++) x = x * 3 + (x >> 7); return x; }
APART static void coarse_sieve(void) { for (int i = 0; i < (IS(25) ? 330 : 300); i++) sink += sieve(i); }
APART static void fine_sieve(void) { for (int i = 0; i < (IS(25) ? 280 : 300); i++) sink += sieve(i + 1); }

/* The arguments of two of three callers grow, 26. */
APART static unsigned soak(int n) { unsigned x = sink & 7; for (int i = 0; i < n; i++) x = x * 7 + 2; return x; }
APART static void soak_rye(void) { for (int i = 0; i < 200; i++) sink += soak(IS(26) ? 90 : 60); }
APART static void soak_corn(void) { for (int i = 0; i < 200; i++) sink += soak(IS(26) ? 90 : 60); }
APART static void soak_rice(void) { for (int i = 0; i < 300; i++) sink += soak(60); }

/* One caller with calls of two kinds; there are fewer of the expensive ones, 27. */
APART static unsigned press(int n) { unsigned x = sink & 7; for (int i = 0; i < n; i++) x = x * 11 + 4; return x; }
APART static void presses(void) {
    for (int i = 0; i < 500; i++) sink += press(5);
    for (int i = 0; i < (IS(27) ? 20 : 120); i++) sink += press(400);
}

/* A callee of one caller's calls does less; the calls of the other are as before, and there are more of them, 28. */
APART static unsigned polish_stone(unsigned x) { for (int i = 0; i < (IS(28) ? 20 : 80); i++) x = x * 13 + 1; return x; }
APART static unsigned dress(int with_stone) {
    unsigned x = sink & 7;
    for (int i = 0; i < 10; i++) x ^= x << 3 | (unsigned)i;
    return with_stone ? polish_stone(x) : x;
}
APART static void dress_stones(void) { for (int i = 0; i < 200; i++) sink += dress(1); }
APART static void dress_wood(void) { for (int i = 0; i < (IS(28) ? 600 : 300); i++) sink += dress(0); }

int main(int count, char **words) {
    static char text[8192];
    int rounds = count > 1 ? atoi(words[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        small_jobs(); big_jobs();
        up(); down();
        oats(); rye(); corn(); rice(); malt();
        a();
        sink += fib(IS(5) ? 15 : 12);
        text[0] = 0;
        sink += append_all(text);
        table(); memset(buckets, 0, sizeof buckets);
        process(); output(); mill(); scores();
        LONG_PASS(); SHORT_PASS();
        sink += (unsigned)count_spaces("the mill grinds slowly but it grinds exceedingly small and so on and on");
        crush(); sort_all(); searches(); collect();
        keep_small(); keep_big();
        coarse_sieve(); fine_sieve();
        soak_rye(); soak_corn(); soak_rice();
        presses();
        dress_stones(); dress_wood();
#if IS(21)
        sink += checksum(text);
#endif
    }
    printf("%u\n", sink);
    return 0;
}
