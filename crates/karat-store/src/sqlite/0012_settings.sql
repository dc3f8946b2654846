-- What every process that opens the store must know, such as where large artifacts are kept.
CREATE TABLE settings (
    name     TEXT NOT NULL PRIMARY KEY,
    value    TEXT NOT NULL,
    row_hash BLOB NOT NULL
);

-- Objects whose artifact was removed; they are deleted after the grace period.
CREATE TABLE removed_objects (
    object     TEXT   NOT NULL PRIMARY KEY,
    removed_ms BIGINT NOT NULL,
    row_hash   BLOB   NOT NULL
);
