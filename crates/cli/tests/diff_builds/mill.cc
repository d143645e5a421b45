// A mill that grinds grain. Compared with its twin in the other folder.
#include <cstdint>
#include <cstdio>
#include <vector>

#define APART __attribute__((noinline, noclone))

namespace mill {

// Called for each grain, from `grind` only.
APART uint32_t crack(uint32_t grain) {
    grain ^= grain >> 15;
    grain *= 2246822519u;
    grain ^= grain >> 13;
    return grain;
}

APART uint32_t grind(const std::vector<uint32_t>& sack) {
    uint32_t flour = 0;
    for (uint32_t grain : sack) flour += crack(grain);
    return flour;
}

APART uint32_t sieve(const std::vector<uint32_t>& sack, uint32_t mesh) {
    uint32_t kept = 0;
    for (uint32_t grain : sack) kept += grain % mesh == 0 ? grain / 3 : 1;
    return kept;
}

APART void fill(std::vector<uint32_t>& sack) {
    uint32_t seed = 12345;
    for (uint32_t& grain : sack) grain = seed = seed * 1664525u + 1013904223u;
}

APART uint32_t weigh_sack(const std::vector<uint32_t>& sack) {
    uint32_t weight = 7;
    for (uint32_t grain : sack) weight = weight * 31 + (grain & 15);
    return weight;
}

APART uint32_t work() {
    std::vector<uint32_t> sack(20000);
    fill(sack);
    uint32_t sum = grind(sack) + weigh_sack(sack);
    for (uint32_t round = 0; round < 10; ++round) sum += sieve(sack, 3 + round);
    return sum;
}

}  // namespace mill

int main() {
    std::printf("%u\n", mill::work());
    return 0;
}
