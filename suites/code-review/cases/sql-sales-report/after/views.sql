-- What an order is worth, and what is still to be paid.
CREATE VIEW order_totals AS
SELECT o.id AS order_id,
       o.customer_id,
       o.created_at,
       COALESCE(SUM(i.quantity * i.cents), 0) AS total,
       COALESCE(SUM(p.cents), 0) AS paid
FROM orders o
LEFT JOIN items i ON i.order_id = o.id
LEFT JOIN payments p ON p.order_id = o.id
GROUP BY o.id;

-- Orders that are not paid in full.
CREATE VIEW open_orders AS
SELECT order_id, customer_id, created_at, total - paid AS due
FROM order_totals
WHERE paid < total;
