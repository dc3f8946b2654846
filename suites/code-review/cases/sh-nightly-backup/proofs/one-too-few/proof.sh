# As many backups stay as were asked for.
set -u
mkdir bin
printf '#!/bin/sh\necho "-- all of it"\n' > bin/pg_dump
chmod +x bin/pg_dump
for night in 1 2 3 4 5; do
    PATH=$PWD/bin:$PATH BACKUP_FOLDER=saved BACKUP_DATABASE=shop BACKUP_STAMP=2025010$night-020000 BACKUP_KEEP=3 bash backup.sh
done
found=$(ls saved | tr '\n' ' ')
echo "$found"
[ "$found" = "20250103-020000.sql.gz 20250104-020000.sql.gz 20250105-020000.sql.gz " ]
