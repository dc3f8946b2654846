#!/usr/bin/env bash
# Shows a backup as SQL, by default the latest. Usage: restore.sh [STAMP] | psql DATABASE
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib/rotate.sh"

folder=${BACKUP_FOLDER:?}
if [ $# -gt 0 ]; then
    file=$folder/$1.sql.gz
else
    file=$(newest_first "$folder" | sed -n 1p)
fi
if [ ! -f "$file" ]; then
    echo "no backup in $folder" >&2
    exit 1
fi
gzip -dc -- "$file"
