-- Every row has a hash of its other columns: the first 16 bytes of BLAKE3.

CREATE TABLE karat_schema (
    version    BIGINT NOT NULL PRIMARY KEY,
    applied_ms BIGINT NOT NULL,
    row_hash   BLOB   NOT NULL
);

CREATE TABLE artifacts (
    hash     TEXT   NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of the uncompressed bytes
    size     BIGINT NOT NULL,             -- of the uncompressed bytes
    coding   TEXT   NOT NULL,             -- of content: plain or deflate
    content  BLOB   NOT NULL,
    row_hash BLOB   NOT NULL
);

CREATE TABLE runs (
    id           TEXT   NOT NULL PRIMARY KEY,
    name         TEXT   UNIQUE,
    created_ms   BIGINT NOT NULL,
    ended_ms     BIGINT,
    state        TEXT   NOT NULL,        -- running, complete or stopped
    suite_name   TEXT   NOT NULL,
    suite_digest TEXT   NOT NULL,
    snapshot     TEXT   NOT NULL REFERENCES artifacts (hash),
    plan         TEXT   NOT NULL,        -- JSON
    planned      BIGINT NOT NULL,        -- the number of planned trials
    report       TEXT   REFERENCES artifacts (hash),
    scratch      TEXT,
    karat        TEXT   NOT NULL,        -- the version that made it
    imported     BIGINT NOT NULL,        -- 1 if it came from another store, else 0
    row_hash     BLOB   NOT NULL
);

CREATE TABLE tool_facts (
    run_id   TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tool     TEXT   NOT NULL,
    position BIGINT NOT NULL,            -- counted from 1; the last one is current
    facts    TEXT   NOT NULL,            -- JSON
    row_hash BLOB   NOT NULL,
    PRIMARY KEY (run_id, tool, position)
);

CREATE TABLE trials (
    run_id   TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tool     TEXT   NOT NULL,
    case_id  TEXT   NOT NULL,
    number   BIGINT NOT NULL,
    attempt  BIGINT NOT NULL,
    position BIGINT NOT NULL,            -- in the order of finishing
    outcome  TEXT   NOT NULL,
    line     TEXT   NOT NULL,            -- JSON, a line of a submission
    detail   TEXT   NOT NULL,            -- JSON
    row_hash BLOB   NOT NULL,
    PRIMARY KEY (run_id, tool, case_id, number, attempt),
    UNIQUE (run_id, position)
);

CREATE TABLE trial_artifacts (
    run_id   TEXT   NOT NULL,
    tool     TEXT   NOT NULL,
    case_id  TEXT   NOT NULL,
    number   BIGINT NOT NULL,
    attempt  BIGINT NOT NULL,
    name     TEXT   NOT NULL,
    hash     TEXT   NOT NULL REFERENCES artifacts (hash),
    row_hash BLOB   NOT NULL,
    PRIMARY KEY (run_id, tool, case_id, number, attempt, name),
    FOREIGN KEY (run_id, tool, case_id, number, attempt)
        REFERENCES trials (run_id, tool, case_id, number, attempt) ON DELETE CASCADE
);

CREATE INDEX trial_artifacts_by_hash ON trial_artifacts (hash);
CREATE INDEX runs_by_snapshot ON runs (snapshot);
CREATE INDEX runs_by_report ON runs (report);

CREATE TABLE judgements (
    run_id   TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,            -- counted from 1
    line     TEXT   NOT NULL,            -- JSON, a line of recorded judgements
    row_hash BLOB   NOT NULL,
    PRIMARY KEY (run_id, position)
);

-- A folder outlives its run here: it is forgotten when it is gone from the disk, not before.
CREATE TABLE scratch_folders (
    folder   TEXT NOT NULL PRIMARY KEY,
    run_id   TEXT NOT NULL,
    row_hash BLOB NOT NULL
);

-- Every exchange with a model, under a hash of everything it depends on.
CREATE TABLE ledger (
    key        TEXT   NOT NULL PRIMARY KEY, -- BLAKE3, in hex
    exchange   TEXT   NOT NULL,             -- JSON
    created_ms BIGINT NOT NULL,
    row_hash   BLOB   NOT NULL
);

-- Questions that were sent to a model and have no answer yet. What is left here was in flight when a process was stopped.
CREATE TABLE sent_questions (
    key      TEXT   NOT NULL PRIMARY KEY, -- the key that the exchange would have
    sent_ms  BIGINT NOT NULL,
    row_hash BLOB   NOT NULL
);

-- What annotators were shown.
CREATE TABLE label_subjects (
    key      TEXT NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of what was shown
    shown    TEXT NOT NULL,             -- JSON: kind, case, golden and finding
    row_hash BLOB NOT NULL
);

-- People's answers about pairs, extras and audited findings.
CREATE TABLE labels (
    sequence   BIGINT NOT NULL PRIMARY KEY,   -- counted from 1
    kind       TEXT   NOT NULL,               -- pair, extra or audit
    subject    TEXT   NOT NULL REFERENCES label_subjects (key),
    case_id    TEXT   NOT NULL,
    golden     TEXT,                          -- of a pair
    annotator  TEXT   NOT NULL,
    revision   BIGINT NOT NULL,               -- counted from 1; the last one is current
    decision   TEXT   NOT NULL,               -- yes or no; the class of an audited finding; or withdrawn
    partial    BIGINT,                        -- of a pair: 1, 0, or null if not stated
    confidence DOUBLE PRECISION,              -- of a pair
    note       TEXT,
    picked_with_probability DOUBLE PRECISION, -- null if it was not sampled
    made_ms    BIGINT NOT NULL,
    source     TEXT   NOT NULL,               -- asked, added or imported
    row_hash   BLOB   NOT NULL,
    UNIQUE (subject, annotator, revision)
);

-- Corrections and withdrawals are further rows.
CREATE TRIGGER labels_are_never_overwritten BEFORE UPDATE ON labels
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER labels_are_never_removed BEFORE DELETE ON labels
BEGIN SELECT RAISE(ABORT, 'labels are never removed'); END;

-- Results of judges on pairs whose answer is known.
CREATE TABLE probes (
    sequence  BIGINT NOT NULL PRIMARY KEY, -- counted from 1; a judge's last one is current
    judge     TEXT   NOT NULL,             -- BLAKE3, in hex, of the identity
    identity  TEXT   NOT NULL,             -- JSON
    scorecard TEXT   NOT NULL,             -- JSON
    made_ms   BIGINT NOT NULL,
    row_hash  BLOB   NOT NULL
);

CREATE INDEX probes_by_judge ON probes (judge, sequence);

-- Probing again adds a row, so that nobody can lose a bad result by trying until a good one comes.
CREATE TRIGGER probes_are_never_overwritten BEFORE UPDATE ON probes
BEGIN SELECT RAISE(ABORT, 'probes are never overwritten'); END;

CREATE TRIGGER probes_are_never_removed BEFORE DELETE ON probes
BEGIN SELECT RAISE(ABORT, 'probes are never removed'); END;

-- Ingested documents, by session.
CREATE TABLE sessions (
    id         TEXT   NOT NULL PRIMARY KEY,
    created_ms BIGINT NOT NULL,
    row_hash   BLOB   NOT NULL
);

CREATE TABLE session_documents (
    session  TEXT   NOT NULL REFERENCES sessions (id),
    name     TEXT   NOT NULL,  -- the file's name, which implies its format
    hash     TEXT   NOT NULL,  -- BLAKE3, in hex, of the file's bytes
    reader   BIGINT NOT NULL,  -- the version of the reader: another one may see other sections
    document TEXT   NOT NULL,  -- JSON, the sections
    kept_ms  BIGINT NOT NULL,
    row_hash BLOB   NOT NULL,
    PRIMARY KEY (session, name, hash, reader)
);
