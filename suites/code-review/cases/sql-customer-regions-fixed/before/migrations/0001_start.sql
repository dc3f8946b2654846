BEGIN;

CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    zip TEXT NOT NULL
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    cents INTEGER NOT NULL
);

CREATE INDEX orders_by_customer ON orders (customer_id);

COMMIT;
