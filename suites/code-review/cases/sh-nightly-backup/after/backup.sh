#!/usr/bin/env bash
# Saves the database, compressed, and keeps the backups of some nights.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib/rotate.sh"

folder=${BACKUP_FOLDER:?}
database=${BACKUP_DATABASE:?}
keep=${BACKUP_KEEP:-7}
stamp=${BACKUP_STAMP:-$(date +%Y%m%d-%H%M%S)}

mkdir -p "$folder"
rm -f "$folder/next.tmp"
pg_dump "$database" | gzip -9 > "$folder/next.tmp"
mv "$folder/next.tmp" "$folder/$stamp.sql.gz"
rotate "$folder" "$keep"
echo "saved $database as $stamp"
