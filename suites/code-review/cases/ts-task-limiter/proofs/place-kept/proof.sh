# A file that cannot be uploaded does not stop those after it.
set -eu
tsc -p .
node proof.mjs
