-- The customers of a region with the number of their orders.
SELECT c.id, c.name, COUNT(o.id) AS orders
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.id
WHERE c.region = :region
GROUP BY c.id
ORDER BY c.name, c.id;
