"""The work of finding repetitions grows with the number of values, not with its square."""
import sys

from contacts.merge import unique

compared = 0


class Number(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        global compared
        compared += 1
        return str.__eq__(self, other)


count = 2_000
assert len(unique(Number(n) for n in range(count))) == count
sys.exit(0 if compared < 20 * count else f"{compared} comparisons for {count} values")
