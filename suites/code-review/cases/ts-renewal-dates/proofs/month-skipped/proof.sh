# A subscription that starts on the 31st is renewed in every month.
set -eu
tsc -p .
node proof.mjs
