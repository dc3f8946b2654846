-- Takes new products and new prices from `incoming`. `:now` is the time of the load.
BEGIN IMMEDIATE;

-- Of several lines for a product the last one counts.
DELETE FROM incoming
WHERE rowid NOT IN (SELECT MAX(rowid) FROM incoming GROUP BY sku);

-- Prices that are about to change become history.
INSERT INTO price_history (sku, cents, valid_until)
SELECT p.sku, p.cents, :now
FROM products p
JOIN incoming i ON i.sku = p.sku
WHERE i.cents <> p.cents;

INSERT INTO products (sku, title, cents, changed_at)
SELECT sku, title, cents, :now
FROM incoming
WHERE true
ON CONFLICT (sku) DO UPDATE
SET title = excluded.title,
    cents = excluded.cents,
    changed_at = excluded.changed_at
WHERE products.cents <> excluded.cents OR products.title <> excluded.title;

DELETE FROM incoming;

COMMIT;
