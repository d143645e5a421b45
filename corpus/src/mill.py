"""A small program for the profilers of Python: recursion, a generator, a method and a function of the standard library."""

import json


class Mill:
    def __init__(self, stones):
        self.stones = stones

    def grind(self, depth):
        if depth < 2:
            return 1
        return self.grind(depth - 1) + self.grind(depth - 2)

    def sacks(self):
        for stone in range(self.stones):
            yield self.grind(stone)


def book(entries):
    return json.loads(json.dumps({"sacks": entries}))


def main():
    return sum(book(list(Mill(8).sacks()))["sacks"])


if __name__ == "__main__":
    main()
