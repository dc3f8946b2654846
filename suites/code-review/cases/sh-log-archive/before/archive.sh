#!/usr/bin/env bash
# Packs logs of former days. Usage: archive.sh FOLDER
set -euo pipefail

folder=${1:?a folder is needed}
cd -- "$folder"
for file in *.log; do
    [ -e "$file" ] || continue
    gzip -9 -- "$file"
done
