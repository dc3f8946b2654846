#!/usr/bin/env bash
# Applies the migrations that a database does not have yet. Usage: migrate.sh DATABASE
set -euo pipefail

database=$1
folder=$(dirname "$0")/migrations
done_so_far=$(sqlite3 "$database" "PRAGMA user_version")

for file in "$folder"/*.sql; do
    number=$((10#$(basename "$file" | cut -d_ -f1)))
    if ((number > done_so_far)); then
        sqlite3 -bail -cmd "PRAGMA foreign_keys = ON" "$database" < "$file"
        sqlite3 "$database" "PRAGMA user_version = $number"
    fi
done
