# Orders are still there after the migration.
set -eu
mv migrations/0003_customer_region.sql next.sql
bash migrate.sh shop.db
sqlite3 shop.db "INSERT INTO customers VALUES (1, 'Blum', '10115'), (2, 'Weiss', '80331');
                 INSERT INTO orders VALUES (1, 1, 500), (2, 1, 700), (3, 2, 900);"
mv next.sql migrations/0003_customer_region.sql
bash migrate.sh shop.db
left=$(sqlite3 shop.db "SELECT COUNT(*) FROM orders")
echo "$left of 3 orders"
[ "$left" = 3 ]
