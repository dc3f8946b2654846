# The owner of one workspace is a stranger in another.
set -eu
tsc -p .
node proof.mjs
