#!/bin/bash
# Backs up the database and the uploads.

TARGET=$1
STAMP=`date +%Y%m%d`
WORK=/tmp/backup-work

mkdir -p $WORK
cd $WORK
rm -rf *

pg_dump --username=app shop | gzip > shop-$STAMP.sql.gz
if [ $? -ne 0 ]; then
  echo "dump failed"
  exit 1
fi

for file in $(ls /srv/uploads); do
  cp /srv/uploads/$file $WORK/$file
done

tar czf uploads-$STAMP.tar.gz $WORK
scp -o StrictHostKeyChecking=no *.gz backup@vault.example.com:$TARGET

find $TARGET -name "*.gz" -mtime +30 -exec rm {} \;
echo "done: $TRAGET"
