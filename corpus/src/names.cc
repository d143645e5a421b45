// Names that need care: templates, operators, lambdas, an unnamed namespace, a destructor.
namespace mill {

template <typename T, int Size>
class Hopper {
public:
    Hopper() : used(0) {}
    ~Hopper() { used = 0; }
    __attribute__((noinline)) Hopper &operator<<(T grain)
    {
        if (used < Size)
            grains[used++] = grain;
        return *this;
    }
    __attribute__((noinline)) bool operator==(const Hopper &other) const
    {
        for (int at = 0; at < used; at++)
            if (!(grains[at] == other.grains[at]))
                return false;
        return used == other.used;
    }
    template <typename F>
    __attribute__((noinline)) T fold(T start, F step) const
    {
        for (int at = 0; at < used; at++)
            start = step(start, grains[at]);
        return start;
    }

private:
    T grains[Size];
    int used;
};

template <typename L, typename R>
struct Blend {
    L left;
    R right;
    __attribute__((noinline)) bool operator==(const Blend &other) const
    {
        return left == other.left && right == other.right;
    }
};

} // namespace mill

namespace {
__attribute__((noinline)) int secret(int value)
{
    return value * 3;
}
} // namespace

using Rye = mill::Blend<unsigned long, char>;
using Wheat = mill::Blend<Rye, mill::Blend<int, short>>;

int main(int argc, char **)
{
    mill::Hopper<int, 8> plain;
    plain << argc << secret(argc) << 3;
    mill::Hopper<Wheat, 4> one, two;
    one << Wheat{{1, 'a'}, {2, 3}} << Wheat{{4, 'b'}, {5, 6}};
    two << Wheat{{1, 'a'}, {2, 3}} << Wheat{{4, 'b'}, {5, 6}};
    int sum = plain.fold(0, [](int left, int right) __attribute__((noinline)) { return left + secret(right); });
    return sum == 0 || !(one == two);
}
