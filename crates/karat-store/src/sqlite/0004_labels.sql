-- What people said of goldens and findings, and what they saw when they said it.

CREATE TABLE label_pairs (
    key      TEXT NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of known, a line break and reported
    known    TEXT NOT NULL,             -- JSON, what was shown of the golden
    reported TEXT NOT NULL              -- JSON, what was shown of the finding
);

CREATE TABLE labels (
    sequence   BIGINT NOT NULL PRIMARY KEY, -- counted from 1
    pair       TEXT   NOT NULL REFERENCES label_pairs (key),
    case_id    TEXT   NOT NULL,
    golden     TEXT   NOT NULL,
    annotator  TEXT   NOT NULL,
    revision   BIGINT NOT NULL,             -- counted from 1; the last one counts
    decision   TEXT   NOT NULL,             -- yes or no
    partial    BIGINT,                      -- 1, 0, or nothing said of it
    confidence DOUBLE PRECISION,
    note       TEXT,
    picked_with_probability DOUBLE PRECISION, -- null where chance had no part in it
    made_ms    BIGINT NOT NULL,
    source     TEXT   NOT NULL,             -- asked, added or imported
    UNIQUE (pair, annotator, revision)
);

-- A correction is one more row. Whatever else goes wrong, what a person said stays.
CREATE TRIGGER labels_are_never_overwritten BEFORE UPDATE ON labels
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER labels_are_never_removed BEFORE DELETE ON labels
BEGIN SELECT RAISE(ABORT, 'labels are never removed'); END;
