-- The latest orders, for the start page.
SELECT order_id, customer_id, created_at, total, paid
FROM order_totals
ORDER BY created_at DESC, order_id DESC
LIMIT 20;
