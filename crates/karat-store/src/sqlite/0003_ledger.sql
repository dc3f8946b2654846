-- Every exchange with a model, under a hash of everything it depends on.

CREATE TABLE ledger (
    key        TEXT   NOT NULL PRIMARY KEY, -- BLAKE3, in hex
    exchange   TEXT   NOT NULL,             -- JSON
    created_ms BIGINT NOT NULL
);
