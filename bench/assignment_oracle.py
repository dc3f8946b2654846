"""Optimal assignment totals by SciPy, for the test `crates/karat-core/tests/assignment.rs`.

The problems are drawn from a seed by `draw`, which the test repeats in Rust, so the file written here holds nothing but
seeds, sizes and optima. Run from the root of the repository:

    python bench/assignment_oracle.py > crates/karat-core/tests/data/assignment_scipy.txt
"""

import datetime
import platform
import sys

import numpy
import scipy
from scipy.optimize import linear_sum_assignment

MASK = (1 << 64) - 1
PROBLEMS = 3000
LARGEST = 40
SHAPES = ["uniform", "ties", "scores", "magnitudes", "equal", "chain", "star"]


class Random:
    """SplitMix64: a few lines in any language."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % bound


def draw(shape, rows, columns, seed):
    """The matrix of weights in billionths; 0 is no edge."""
    random = Random(seed)
    percent = 5 + random.below(96)
    hubs = 1 + random.below(3)
    matrix = numpy.zeros((rows, columns), dtype=numpy.int64)
    for row in range(rows):
        for column in range(columns):
            if present(shape, random, row, column, percent, hubs):
                matrix[row, column] = weight(shape, random)
    return matrix


def present(shape, random, row, column, percent, hubs):
    if shape == "chain":
        # Each row wants its own column and the next, so that one decision may push all the others along.
        return column in (row, row + 1)
    if shape == "star":
        # Everybody wants the few hubs, and hardly anything else.
        return column < hubs or random.below(100) < 5
    return random.below(100) < percent


def weight(shape, random):
    if shape in ("uniform", "star"):
        return 300_000_000 + random.below(700_000_001)
    if shape == "ties":
        return 100_000_000 * (3 + random.below(4))
    if shape == "scores":
        # What pairs really score: a file step, a line slope, a share of four keywords.
        file = [0, 300, 800, 1000][random.below(4)]
        line = 1000 - 150 * random.below(6)
        return 400_000 * file + 200_000 * line + 100_000_000 * random.below(5)
    if shape == "magnitudes":
        return 1 << random.below(30)
    if shape == "equal":
        return 500_000_000
    # Neighbours of a chain differ by a billionth or nothing.
    return 500_000_000 + random.below(3)


def size(random):
    """A side of a problem: every size occurs, the small ones more often."""
    return 1 + random.below(1 + random.below(LARGEST))


def main():
    now = datetime.date.today().isoformat()
    print("# Optimal totals of drawn assignment problems, in billionths: shape, rows, columns, seed, optimum.")
    print(f"# SciPy {scipy.__version__}, NumPy {numpy.__version__}, Python {platform.python_version()}, {now},")
    print("# scipy.optimize.linear_sum_assignment(matrix, maximize=True), missing edges as 0.")
    print("# Written by: python bench/assignment_oracle.py > crates/karat-core/tests/data/assignment_scipy.txt")
    sizes = Random(2026)
    for seed in range(1, PROBLEMS + 1):
        shape = seed % len(SHAPES)
        rows, columns = size(sizes), size(sizes)
        if seed % 5 == 0:
            rows = columns = max(rows, columns)
        elif seed % 5 == 1:
            rows, columns = LARGEST - sizes.below(3), columns
        matrix = draw(SHAPES[shape], rows, columns, seed)
        chosen = linear_sum_assignment(matrix, maximize=True)
        print(shape, rows, columns, seed, int(matrix[chosen].sum()))


if __name__ == "__main__":
    sys.exit(main())
