#!/bin/sh
# Exit status 0: behaves as it should; 1: does not; 3: does not compile; 4: no toolchain.
command -v cc >/dev/null || { echo "cc is not installed" >&2; exit 4; }
mkdir -p .proof/tmp
export TMPDIR="$PWD/.proof/tmp"
cc -std=c11 -D_POSIX_C_SOURCE=200809L -g -O0 -w -Isrc -Dstrlen=counted_strlen src/expand.c src/vars.c proof.c -o .proof/run || exit 3
ASAN_OPTIONS=detect_leaks=0 .proof/run || exit 1
