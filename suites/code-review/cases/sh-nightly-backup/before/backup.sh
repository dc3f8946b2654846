#!/usr/bin/env bash
# Saves the database. What was saved the night before is replaced.
set -eu

folder=${BACKUP_FOLDER:?}
database=${BACKUP_DATABASE:?}

mkdir -p "$folder"
pg_dump "$database" > "$folder/next.sql"
mv "$folder/next.sql" "$folder/latest.sql"
echo "saved $database"
