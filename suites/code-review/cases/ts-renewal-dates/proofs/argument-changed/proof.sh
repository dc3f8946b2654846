# Asking whether a reminder is due leaves the caller's date alone, and is true only in the first hour.
set -eu
tsc -p .
node proof.mjs
