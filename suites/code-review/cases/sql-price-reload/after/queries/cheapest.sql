-- The lowest price of each product so far, its present one included.
SELECT p.sku,
       p.title,
       MIN(p.cents, COALESCE((SELECT MIN(h.cents) FROM price_history h WHERE h.sku = p.sku), p.cents)) AS lowest
FROM products p
ORDER BY p.sku;
