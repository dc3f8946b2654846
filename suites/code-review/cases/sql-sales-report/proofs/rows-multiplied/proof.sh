# An order of two items that is paid in two parts: 50 + 20 are worth 70, and 70 were paid.
set -eu
cat schema.sql views.sql - > all.sql <<'SQL'
INSERT INTO customers VALUES (1, 'Blum');
INSERT INTO orders VALUES (1, 1, '2025-01-02 10:00:00');
INSERT INTO items VALUES (1, 'cup', 1, 50), (1, 'jar', 2, 10);
INSERT INTO payments VALUES (1, 1, 30, '2025-01-02 11:00:00'), (2, 1, 40, '2025-01-03 11:00:00');
SELECT total, paid FROM order_totals;
SQL
found=$(sqlite3 -batch :memory: < all.sql)
echo "total|paid: $found"
[ "$found" = "70|70" ]
