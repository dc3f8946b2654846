# A night in which the database cannot be read is an error, and adds no backup.
set -u
mkdir bin
printf '#!/bin/sh\necho "-- half of it"\nexit 1\n' > bin/pg_dump
chmod +x bin/pg_dump
PATH=$PWD/bin:$PATH BACKUP_FOLDER=saved BACKUP_DATABASE=shop BACKUP_STAMP=20250102-020000 BACKUP_KEEP=7 bash backup.sh
status=$?
echo "status $status, saved: $(ls saved)"
[ "$status" -ne 0 ] && [ ! -e saved/20250102-020000.sql.gz ]
