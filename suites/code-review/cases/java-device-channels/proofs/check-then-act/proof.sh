#!/bin/sh
# Exit status 0: behaves as it should; 1: does not; 3: does not compile; 4: no toolchain.
command -v javac >/dev/null || { echo "javac is not installed" >&2; exit 4; }
mkdir -p .proof/tmp
export TMPDIR="$PWD/.proof/tmp"
find src -name '*.java' >.proof/sources
javac -proc:none -nowarn -d .proof/classes @.proof/sources Proof.java || exit 3
java -XX:-UsePerfData -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$TMPDIR" -cp .proof/classes Proof || exit 1
