#!/bin/sh
# Exit status 0: behaves as it should; 1: does not; 3: does not compile; 4: no toolchain.
command -v rustc >/dev/null || { echo "rustc is not installed" >&2; exit 4; }
mkdir -p .proof/tmp
export TMPDIR="$PWD/.proof/tmp"
# A rustc of rustup looks for its toolchains in HOME, which may be another one here.
home=$(getent passwd "$(id -u)" | cut -d: -f6)
if [ -z "$RUSTUP_HOME" ] && [ ! -d "$HOME/.rustup" ] && [ -d "$home/.rustup" ]; then
    export RUSTUP_HOME="$home/.rustup"
fi
rustc --edition 2021 -A warnings --crate-type rlib --crate-name guard -o .proof/libguard.rlib src/lib.rs || exit 3
rustc --edition 2021 -A warnings --extern guard=.proof/libguard.rlib -o .proof/run proof.rs || exit 3
.proof/run || exit 1
