-- What each region ordered, for the map on the start page.
SELECT c.region, COUNT(DISTINCT c.id) AS customers, COALESCE(SUM(o.cents), 0) AS cents
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.id
GROUP BY c.region
ORDER BY c.region;
