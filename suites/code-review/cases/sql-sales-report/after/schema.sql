-- Orders of the shop. Amounts are in cents, times in UTC as `YYYY-MM-DD HH:MM:SS`.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    created_at TEXT NOT NULL
);

CREATE INDEX orders_by_time ON orders (created_at);

CREATE TABLE items (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    sku TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    cents INTEGER NOT NULL,
    PRIMARY KEY (order_id, sku)
);

-- What customers paid; an order may be paid in several parts.
CREATE TABLE payments (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    cents INTEGER NOT NULL,
    paid_at TEXT NOT NULL
);

CREATE INDEX payments_by_order ON payments (order_id);
