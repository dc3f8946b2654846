#!/bin/sh
# Exit status 0: behaves as it should; 1: does not; 3: does not compile; 4: no toolchain.
command -v c++ >/dev/null || { echo "c++ is not installed" >&2; exit 4; }
mkdir -p .proof/tmp
export TMPDIR="$PWD/.proof/tmp"
c++ -std=c++17 -pthread -g -O0 -w -fsanitize=address -fno-omit-frame-pointer -Iinclude src/index.cpp proof.cpp -o .proof/run || exit 3
ASAN_OPTIONS=detect_leaks=0 .proof/run || exit 1
