"""The work of `cargo bench -p karat-core --bench matching -- 100k` in Python: pair scores in NumPy, assignment in SciPy.

The benchmark calls it with the file it wrote; by hand: python bench/matching_scipy.py cases.jsonl
Prints the seconds and the processor seconds without reading the file, the number of matches, and their total score in billionths.
"""

import json
import sys
import time

import numpy
from scipy.optimize import linear_sum_assignment

THRESHOLD = 300_000_000


def file_part(golden, finding, seen):
    """The same path, the same file name, or a directory name in common."""
    key = (golden, finding)
    if key not in seen:
        own, theirs = golden.split("/"), finding.split("/")
        if golden == finding:
            seen[key] = 1.0
        elif own[-1] == theirs[-1]:
            seen[key] = 0.8
        else:
            seen[key] = 0.3 if set(own[:-1]) & set(theirs[:-1]) else 0.0
    return seen[key]


def scores(goldens, findings, seen):
    """The matrix of pair scores of one case, in billionths."""
    file = numpy.array([[file_part(g[0], f[0], seen) for f in findings] for g in goldens])
    starts, ends = (numpy.array([g[i] for g in goldens])[:, None] for i in (1, 2))
    own_starts, own_ends = (numpy.array([f[i] for f in findings])[None, :] for i in (1, 2))
    gap = numpy.maximum(numpy.maximum(starts - own_ends, own_starts - ends), 0)
    line = numpy.where(gap > 5, 0.0, 1.0 - 0.15 * gap)
    texts = [f[3].lower() for f in findings]
    keyword = numpy.empty((len(goldens), len(findings)))
    for row, golden in enumerate(goldens):
        keywords = set(golden[3])
        found = [sum(word in text for word in keywords) for text in texts]
        keyword[row] = numpy.array(found) / len(keywords)
    score = (0.4 * file + 0.2 * line + 0.4 * keyword) / (0.4 + 0.2 + 0.4)
    return numpy.floor(score * 1e9 + 0.5).astype(numpy.int64)


def main(path):
    with open(path, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    start, cpu_start = time.perf_counter(), time.process_time()
    matches, total, seen = 0, 0, {}
    for case in cases:
        matrix = scores(case["goldens"], case["findings"], seen)
        matrix[matrix < THRESHOLD] = 0
        chosen = matrix[linear_sum_assignment(matrix, maximize=True)]
        matches += int(numpy.count_nonzero(chosen))
        total += int(chosen.sum())
    print(time.perf_counter() - start, time.process_time() - cpu_start, matches, total)


if __name__ == "__main__":
    main(*sys.argv[1:])
