#!/bin/sh
# Exit status 0: behaves as it should; 1: does not; 3: does not compile; 4: no toolchain.
command -v go >/dev/null || { echo "go is not installed" >&2; exit 4; }
mkdir -p .proof/tmp
export TMPDIR="$PWD/.proof/tmp"
export HOME="$PWD/.proof" GOCACHE="$PWD/.proof/cache" GOPATH="$PWD/.proof/go" GOTMPDIR="$PWD/.proof/tmp"
export GO111MODULE=on GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0
go test -c -o .proof/run ./internal/settings || exit 3
.proof/run -test.timeout 20s || exit 1
