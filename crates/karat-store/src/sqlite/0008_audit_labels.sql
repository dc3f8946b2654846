-- What people call findings in audited cases, and what they saw when they said it. In these and in the older tables of labels, a
-- row whose decision is "withdrawn" takes back what the same person said before.

CREATE TABLE audit_texts (
    key   TEXT NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of "audit", a line break and shown
    shown TEXT NOT NULL              -- JSON, the case, its target and what was shown of the finding
);

CREATE TABLE audit_labels (
    sequence   BIGINT NOT NULL PRIMARY KEY, -- counted from 1
    finding    TEXT   NOT NULL REFERENCES audit_texts (key),
    case_id    TEXT   NOT NULL,
    annotator  TEXT   NOT NULL,
    revision   BIGINT NOT NULL,             -- counted from 1; the last one counts
    decision   TEXT   NOT NULL,             -- the class, as TARGET_MATCH; or withdrawn
    note       TEXT,
    picked_with_probability DOUBLE PRECISION, -- null where chance had no part in it
    made_ms    BIGINT NOT NULL,
    source     TEXT   NOT NULL,             -- asked, added or imported
    UNIQUE (finding, annotator, revision)
);

-- A correction is one more row, as it is of labels of pairs.
CREATE TRIGGER audit_labels_are_never_overwritten BEFORE UPDATE ON audit_labels
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER audit_labels_are_never_removed BEFORE DELETE ON audit_labels
BEGIN SELECT RAISE(ABORT, 'labels are never removed'); END;
