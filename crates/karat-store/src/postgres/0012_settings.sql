-- What every process that opens the store must know, such as where large artifacts are kept.
CREATE TABLE settings (
    name     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value    TEXT COLLATE "C" NOT NULL,
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- Objects whose artifact was removed; they are deleted after the grace period.
CREATE TABLE removed_objects (
    object     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    removed_ms BIGINT           NOT NULL,
    row_hash   BYTEA            NOT NULL,
    rowid      BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);
