-- Documents that were taken apart, under the names people give to sessions.

CREATE TABLE sessions (
    id         TEXT   NOT NULL PRIMARY KEY,
    created_ms BIGINT NOT NULL
);

CREATE TABLE session_documents (
    session  TEXT   NOT NULL REFERENCES sessions (id),
    name     TEXT   NOT NULL,  -- the file's name, which tells its format
    hash     TEXT   NOT NULL,  -- BLAKE3, in hex, of the file's bytes
    reader   BIGINT NOT NULL,  -- the version of the reader: another one may see other sections
    document TEXT   NOT NULL,  -- JSON, the sections
    kept_ms  BIGINT NOT NULL,
    PRIMARY KEY (session, name, hash, reader)
);
