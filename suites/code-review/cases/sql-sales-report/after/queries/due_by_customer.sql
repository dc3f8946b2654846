-- What each customer owes, the largest amounts first.
SELECT c.id, c.name, COUNT(*) AS orders, SUM(d.due) AS due
FROM open_orders d
JOIN customers c ON c.id = d.customer_id
GROUP BY c.id
ORDER BY due DESC, c.id;
