-- Takes new products from `incoming`. `:now` is the time of the load.
BEGIN IMMEDIATE;

INSERT INTO products (sku, title, cents, changed_at)
SELECT DISTINCT sku, title, cents, :now
FROM incoming
WHERE sku NOT IN (SELECT sku FROM products);

COMMIT;
