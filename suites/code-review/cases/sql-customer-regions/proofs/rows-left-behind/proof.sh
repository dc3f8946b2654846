# Customers are still there after the migration, wherever they live.
set -eu
mv migrations/0003_customer_region.sql next.sql
bash migrate.sh shop.db
sqlite3 shop.db "INSERT INTO customers VALUES (1, 'Blum', '10115'), (2, 'Weiss', '99084'), (3, 'Noir', '');"
mv next.sql migrations/0003_customer_region.sql
bash migrate.sh shop.db
left=$(sqlite3 shop.db "SELECT group_concat(id) FROM (SELECT id FROM customers ORDER BY id)")
echo "customers $left of 1,2,3"
[ "$left" = "1,2,3" ]
