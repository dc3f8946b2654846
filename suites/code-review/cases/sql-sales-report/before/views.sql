-- What an order is worth.
CREATE VIEW order_totals AS
SELECT o.id AS order_id,
       o.customer_id,
       o.created_at,
       COALESCE(SUM(i.quantity * i.cents), 0) AS total
FROM orders o
LEFT JOIN items i ON i.order_id = o.id
GROUP BY o.id;
