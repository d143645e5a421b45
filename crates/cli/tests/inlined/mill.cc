// `MAYBE` makes functions inlined or not. Loops are made of given instructions, so that both builds execute the same ones except
// those of calls.
#include <cstdint>
#include <cstdio>

#define OPAQUE(value) asm volatile("" : "+r"(value))

namespace mill {

struct Wheel {
    uint64_t state = 1;

    MAYBE void turn(unsigned times) {
        uint64_t next = state;
        OPAQUE(times);
        asm volatile("1: rol $13, %0\n\tadd $77, %0\n\tsub $1, %1\n\tjnz 1b" : "+r"(next), "+r"(times));
        state = next;
    }
};

template <class Number> MAYBE Number grind(Number grain, unsigned times) {
    OPAQUE(times);
    asm volatile("1: rol $7, %0\n\tadd $1, %0\n\txor $9, %0\n\tsub $1, %1\n\tjnz 1b" : "+r"(grain), "+r"(times));
    return grain;
}

MAYBE uint64_t sift(Wheel &wheel, unsigned times) {
    uint64_t sum = 0;
    OPAQUE(times);
    while (times-- != 0) {
        wheel.turn(8);
        sum += grind<uint64_t>(wheel.state, 12);
        OPAQUE(sum);
    }
    return sum;
}

} // namespace mill

int main() {
    mill::Wheel wheel;
    uint64_t sum = 0;
    for (unsigned nth = 0; nth < 300; nth++) {
        sum += mill::sift(wheel, 10);
        sum += mill::grind<uint32_t>(static_cast<uint32_t>(sum), 40);
        OPAQUE(sum);
    }
    return std::printf("%llu\n", static_cast<unsigned long long>(sum)) < 0;
}
