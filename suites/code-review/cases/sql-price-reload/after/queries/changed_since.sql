-- Products that changed since a moment, that moment included, for the search index.
SELECT sku, title, cents, changed_at
FROM products
WHERE changed_at >= :since
ORDER BY changed_at, sku;
