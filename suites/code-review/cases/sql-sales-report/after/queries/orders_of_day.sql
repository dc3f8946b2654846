-- The orders of a day, for the shift that packs them; asked every few seconds. `:day` is `YYYY-MM-DD`.
SELECT o.id, c.name, o.created_at
FROM orders o
JOIN customers c ON c.id = o.customer_id
WHERE date(o.created_at) = :day
ORDER BY o.created_at, o.id;
