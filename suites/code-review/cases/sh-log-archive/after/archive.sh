#!/usr/bin/env bash
# Packs logs of former days and sends them to the archive. Usage: archive.sh FOLDER
#
# ARCHIVE_COMMAND  gets the packed file as its argument; exit status 3 means that the archive has it already
# ARCHIVE_DAYS     how many days a log must not have been written to, by default 1
# GZIP_LEVELS      options for gzip, separated by spaces, such as `-9 --rsyncable`
set -euo pipefail

folder=${1:?a folder is needed}
days=${ARCHIVE_DAYS:-1}
send=${ARCHIVE_COMMAND:?}
levels=${GZIP_LEVELS:--9}

case $days in
    '' | *[!0-9]*)
        echo "ARCHIVE_DAYS must be a number: $days" >&2
        exit 2
        ;;
esac

cd -- "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# pack FILE: makes a packed copy, and prints its path.
pack() {
    local packed
    packed=$scratch/$(basename -- "$1").gz
    gzip -c $levels -- "$1" > "$packed" || return 1
    printf '%s\n' "$packed"
}

find . -maxdepth 1 -type f -name '*.log' -mmin "+$(("10#$days" * 24 * 60))" -print0 > "$scratch/list"
failed=0
while IFS= read -r -d '' file; do
    if ! packed=$(pack "$file"); then
        echo "cannot pack $file" >&2
        failed=$((failed + 1))
        continue
    fi
    set +e
    "$send" "$packed" < /dev/null
    status=$?
    set -e
    rm -f -- "$packed"
    if [ "$status" -eq 0 ] || [ "$status" -eq 3 ]; then
        rm -- "$file"
    else
        echo "cannot archive $file: status $status" >&2
        failed=$((failed + 1))
    fi
done < "$scratch/list"

[ "$failed" -eq 0 ]
