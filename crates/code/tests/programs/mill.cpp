#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace mill {

template <typename T>
class Sack {
public:
    explicit Sack(size_t size) : grains(size) {
        for (size_t i = 0; i < size; i++) grains[i] = T(i * 31 % 97);
    }
    T total() const {
        T sum = 0;
        for (const T &grain : grains) sum += weigh(grain);
        return sum;
    }
    void sort() {
        std::sort(grains.begin(), grains.end(), [](T left, T right) { return weigh(left) < weigh(right); });
    }

private:
    static T weigh(T grain) { return grain * 7 - grain / 3; }
    std::vector<T> grains;
};

__attribute__((noinline)) int grind(const std::string &text) {
    std::map<char, int> counts;
    for (char sign : text) counts[sign]++;
    int most = 0;
    for (const auto &[sign, count] : counts) most = std::max(most, count);
    return most;
}

}  // namespace mill

int main() {
    mill::Sack<int> ints(300);
    mill::Sack<double> doubles(200);
    ints.sort();
    doubles.sort();
    try {
        std::printf("%d %f %d\n", ints.total(), doubles.total(), mill::grind("barley and rye"));
    } catch (const std::exception &error) {
        return 1;
    }
    return 0;
}
