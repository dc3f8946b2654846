# The query of a day finds the orders of that day, and reads no others.
set -eu
{
    cat schema.sql
    echo "INSERT INTO customers VALUES (1, 'Blum');"
    echo "INSERT INTO orders VALUES (1, 1, '2025-01-01 23:59:59'), (2, 1, '2025-01-02 00:00:00'), (3, 1, '2025-01-03 00:00:00');"
    echo ".parameter init"
    echo ".parameter set :day \"'2025-01-02'\""
    cat queries/orders_of_day.sql
    echo "EXPLAIN QUERY PLAN"
    cat queries/orders_of_day.sql
} > all.sql
found=$(sqlite3 -batch :memory: < all.sql)
echo "$found"
case $found in
    "2|Blum|2025-01-02 00:00:00"*"SEARCH o USING INDEX orders_by_time"*) ;;
    *) exit 1 ;;
esac
