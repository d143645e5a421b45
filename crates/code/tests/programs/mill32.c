/* Needs no header and no library, so that any compiler can write it for 32 bits. */
struct grain {
    int weight;
    struct grain *next;
    int (*sift)(struct grain *, long long);
};

static int table[16] = {1, 2, 3};

int weigh(const struct grain *grain) {
    return grain->weight * 7 % 13;
}

int sift(struct grain *grain, long long limit) {
    long long sum = 0;
    while (grain) {
        sum += (long long)weigh(grain) * limit;
        if (grain->sift) sum -= grain->sift(grain->next, limit >> 3);
        grain = grain->next;
    }
    return (int)(sum ^ (sum >> 32));
}

double share(double part, int all) {
    switch (all & 7) {
    case 0: return part;
    case 1: return part / all;
    case 2: return all / part;
    case 3: return part * table[all & 15];
    case 4: return -part;
    default: return 0.5f * all;
    }
}
