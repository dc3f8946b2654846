#!/bin/sh
# Exit status 0: behaves as it should; 1: does not; 3: does not compile; 4: no toolchain.
command -v mcs >/dev/null || { echo "mcs is not installed" >&2; exit 4; }
mkdir -p .proof/tmp
export TMPDIR="$PWD/.proof/tmp"
command -v mono >/dev/null || { echo "mono is not installed" >&2; exit 4; }
export HOME="$PWD/.proof" MONO_DISABLE_SHARED_AREA=1
mcs -nologo -warn:0 -r:System.Core.dll -out:.proof/run.exe $(find src -name '*.cs') Proof.cs || exit 3
mono .proof/run.exe || exit 1
