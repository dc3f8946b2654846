-- What people said of findings that report no golden, and what they saw when they said it.

CREATE TABLE extra_texts (
    key   TEXT NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of "extra", a line break and shown
    shown TEXT NOT NULL              -- JSON, the case and what was shown of the finding
);

CREATE TABLE extra_labels (
    sequence   BIGINT NOT NULL PRIMARY KEY, -- counted from 1
    extra      TEXT   NOT NULL REFERENCES extra_texts (key),
    case_id    TEXT   NOT NULL,
    annotator  TEXT   NOT NULL,
    revision   BIGINT NOT NULL,             -- counted from 1; the last one counts
    decision   TEXT   NOT NULL,             -- yes, a real problem; or no
    note       TEXT,
    picked_with_probability DOUBLE PRECISION, -- null where chance had no part in it
    made_ms    BIGINT NOT NULL,
    source     TEXT   NOT NULL,             -- asked, added or imported
    UNIQUE (extra, annotator, revision)
);

-- A correction is one more row, as it is of labels of pairs.
CREATE TRIGGER extra_labels_are_never_overwritten BEFORE UPDATE ON extra_labels
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER extra_labels_are_never_removed BEFORE DELETE ON extra_labels
BEGIN SELECT RAISE(ABORT, 'labels are never removed'); END;
