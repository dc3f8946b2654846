"""bm25s with the texts of `cargo bench -p karat-documents --bench retrieval`: indexing, and answering queries.

Reads sections, queries and what Karat found from standard input as JSON, and prints a line of JSON for each back end: the best of five
times, and the share of hits that both found. Words are stemmed by PyStemmer, as Karat stems them; with numba, what it compiles is
compiled before anything is timed.
"""

import json
import os
import sys
import time

import bm25s
import Stemmer

given = json.load(sys.stdin)
sections, queries, found, top = given["sections"], given["queries"], given["found"], given["top"]
stemmer = Stemmer.Stemmer("english")


def run(backend, threads):
    start = time.perf_counter()
    tokens = bm25s.tokenize(sections, stopwords="en", stemmer=stemmer, show_progress=False)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend=backend)
    index.index(tokens, show_progress=False)
    indexed = time.perf_counter()
    asked = bm25s.tokenize(queries, stopwords="en", stemmer=stemmer, show_progress=False)
    hits, _ = index.retrieve(asked, k=top, n_threads=threads, show_progress=False)
    return indexed - start, time.perf_counter() - indexed, hits


for backend in ("numpy", "numba"):
    threads = 0 if backend == "numpy" else os.cpu_count()
    try:
        run(backend, threads)
    except ImportError:
        continue
    runs = [run(backend, threads) for _ in range(5)]
    shared = sum(len(set(map(int, own)) & set(other)) for own, other in zip(runs[0][2], found))
    wanted = sum(len(other) for other in found)
    line = {"name": backend, "index": min(r[0] for r in runs), "search": min(r[1] for r in runs), "shared": shared / max(1, wanted)}
    print(json.dumps(line), flush=True)
