-- Products and their prices. Amounts are in cents.
CREATE TABLE products (
    sku TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    cents INTEGER NOT NULL,
    changed_at TEXT NOT NULL
);

CREATE INDEX products_by_change ON products (changed_at);

CREATE TABLE price_history (
    sku TEXT NOT NULL REFERENCES products (sku),
    cents INTEGER NOT NULL,
    valid_until TEXT NOT NULL,
    PRIMARY KEY (sku, valid_until)
);

-- What the supplier sent last; filled by the import before each load.
CREATE TABLE incoming (
    sku TEXT NOT NULL,
    title TEXT NOT NULL,
    cents INTEGER NOT NULL
);
