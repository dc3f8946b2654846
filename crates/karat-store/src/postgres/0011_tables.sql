-- Every row has a hash of its other columns: the first 16 bytes of BLAKE3. It is the same as in a SQLite store.
-- rowid gives rows a place in the order of insertion, as in SQLite; it is not hashed.

CREATE TABLE karat_schema (
    version    BIGINT NOT NULL PRIMARY KEY,
    applied_ms BIGINT NOT NULL,
    row_hash   BYTEA  NOT NULL,
    rowid      BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE
);

CREATE TABLE artifacts (
    hash     TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of the uncompressed bytes
    size     BIGINT           NOT NULL,             -- of the uncompressed bytes
    coding   TEXT COLLATE "C" NOT NULL,             -- of content: plain or deflate; with object- in front if it is in object storage
    content  BYTEA            NOT NULL,
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- The content is compressed already.
ALTER TABLE artifacts ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE runs (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name         TEXT COLLATE "C" UNIQUE,
    created_ms   BIGINT           NOT NULL,
    ended_ms     BIGINT,
    state        TEXT COLLATE "C" NOT NULL,  -- running, complete or stopped
    suite_name   TEXT COLLATE "C" NOT NULL,
    suite_digest TEXT COLLATE "C" NOT NULL,
    snapshot     TEXT COLLATE "C" NOT NULL REFERENCES artifacts (hash),
    plan         TEXT COLLATE "C" NOT NULL,  -- JSON
    planned      BIGINT           NOT NULL,  -- the number of planned trials
    report       TEXT COLLATE "C" REFERENCES artifacts (hash),
    scratch      TEXT COLLATE "C",
    karat        TEXT COLLATE "C" NOT NULL,  -- the version that made it
    imported     BIGINT           NOT NULL,  -- 1 if it came from another store, else 0
    row_hash     BYTEA            NOT NULL,
    rowid        BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

CREATE TABLE tool_facts (
    run_id   TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tool     TEXT COLLATE "C" NOT NULL,
    position BIGINT           NOT NULL,      -- counted from 1; the last one is current
    facts    TEXT COLLATE "C" NOT NULL,      -- JSON
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE,
    PRIMARY KEY (run_id, tool, position)
);

CREATE TABLE trials (
    run_id   TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tool     TEXT COLLATE "C" NOT NULL,
    case_id  TEXT COLLATE "C" NOT NULL,
    number   BIGINT           NOT NULL,
    attempt  BIGINT           NOT NULL,
    position BIGINT           NOT NULL,      -- in the order of finishing
    outcome  TEXT COLLATE "C" NOT NULL,
    line     TEXT COLLATE "C" NOT NULL,      -- JSON, a line of a submission
    detail   TEXT COLLATE "C" NOT NULL,      -- JSON
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE,
    PRIMARY KEY (run_id, tool, case_id, number, attempt),
    UNIQUE (run_id, position)
);

CREATE TABLE trial_artifacts (
    run_id   TEXT COLLATE "C" NOT NULL,
    tool     TEXT COLLATE "C" NOT NULL,
    case_id  TEXT COLLATE "C" NOT NULL,
    number   BIGINT           NOT NULL,
    attempt  BIGINT           NOT NULL,
    name     TEXT COLLATE "C" NOT NULL,
    hash     TEXT COLLATE "C" NOT NULL REFERENCES artifacts (hash),
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE,
    PRIMARY KEY (run_id, tool, case_id, number, attempt, name),
    FOREIGN KEY (run_id, tool, case_id, number, attempt)
        REFERENCES trials (run_id, tool, case_id, number, attempt) ON DELETE CASCADE
);

CREATE INDEX trial_artifacts_by_hash ON trial_artifacts (hash);
CREATE INDEX runs_by_snapshot ON runs (snapshot);
CREATE INDEX runs_by_report ON runs (report);

CREATE TABLE judgements (
    run_id   TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position BIGINT           NOT NULL,      -- counted from 1
    line     TEXT COLLATE "C" NOT NULL,      -- JSON, a line of recorded judgements
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE,
    PRIMARY KEY (run_id, position)
);

-- A folder outlives its run here: it is forgotten when it is gone from the disk, not before.
CREATE TABLE scratch_folders (
    folder   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    run_id   TEXT COLLATE "C" NOT NULL,
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- Every exchange with a model, under a hash of everything it depends on.
CREATE TABLE ledger (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- BLAKE3, in hex
    exchange   TEXT COLLATE "C" NOT NULL,             -- JSON
    created_ms BIGINT           NOT NULL,
    row_hash   BYTEA            NOT NULL,
    rowid      BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- Questions that were sent to a model and have no answer yet. What is left here was in flight when a process was stopped.
CREATE TABLE sent_questions (
    key      TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the key that the exchange would have
    sent_ms  BIGINT           NOT NULL,
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- What annotators were shown.
CREATE TABLE label_subjects (
    key      TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- BLAKE3, in hex, of what was shown
    shown    TEXT COLLATE "C" NOT NULL,             -- JSON: kind, case, golden and finding
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- People's answers about pairs, extras and audited findings.
CREATE TABLE labels (
    sequence   BIGINT           NOT NULL PRIMARY KEY, -- counted from 1
    kind       TEXT COLLATE "C" NOT NULL,             -- pair, extra or audit
    subject    TEXT COLLATE "C" NOT NULL REFERENCES label_subjects (key),
    case_id    TEXT COLLATE "C" NOT NULL,
    golden     TEXT COLLATE "C",                      -- of a pair
    annotator  TEXT COLLATE "C" NOT NULL,
    revision   BIGINT           NOT NULL,             -- counted from 1; the last one is current
    decision   TEXT COLLATE "C" NOT NULL,             -- yes or no; the class of an audited finding; or withdrawn
    partial    BIGINT,                                -- of a pair: 1, 0, or null if not stated
    confidence DOUBLE PRECISION,                      -- of a pair
    note       TEXT COLLATE "C",
    picked_with_probability DOUBLE PRECISION,         -- null if it was not sampled
    made_ms    BIGINT           NOT NULL,
    source     TEXT COLLATE "C" NOT NULL,             -- asked, added or imported
    row_hash   BYTEA            NOT NULL,
    rowid      BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE,
    UNIQUE (subject, annotator, revision)
);

CREATE FUNCTION karat_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || '' are never '' || TG_ARGV[0]; END';

-- Corrections and withdrawals are further rows.
CREATE TRIGGER labels_are_never_overwritten BEFORE UPDATE ON labels
FOR EACH ROW EXECUTE FUNCTION karat_refuse_change('overwritten');

CREATE TRIGGER labels_are_never_removed BEFORE DELETE ON labels
FOR EACH ROW EXECUTE FUNCTION karat_refuse_change('removed');

CREATE TRIGGER labels_are_never_truncated BEFORE TRUNCATE ON labels
FOR EACH STATEMENT EXECUTE FUNCTION karat_refuse_change('removed');

-- Results of judges on pairs whose answer is known.
CREATE TABLE probes (
    sequence  BIGINT           NOT NULL PRIMARY KEY, -- counted from 1; a judge's last one is current
    judge     TEXT COLLATE "C" NOT NULL,             -- BLAKE3, in hex, of the identity
    identity  TEXT COLLATE "C" NOT NULL,             -- JSON
    scorecard TEXT COLLATE "C" NOT NULL,             -- JSON
    made_ms   BIGINT           NOT NULL,
    row_hash  BYTEA            NOT NULL,
    rowid     BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

CREATE INDEX probes_by_judge ON probes (judge, sequence);

-- Probing again adds a row, so that nobody can lose a bad result by trying until a good one comes.
CREATE TRIGGER probes_are_never_overwritten BEFORE UPDATE ON probes
FOR EACH ROW EXECUTE FUNCTION karat_refuse_change('overwritten');

CREATE TRIGGER probes_are_never_removed BEFORE DELETE ON probes
FOR EACH ROW EXECUTE FUNCTION karat_refuse_change('removed');

CREATE TRIGGER probes_are_never_truncated BEFORE TRUNCATE ON probes
FOR EACH STATEMENT EXECUTE FUNCTION karat_refuse_change('removed');

-- Ingested documents, by session.
CREATE TABLE sessions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    created_ms BIGINT           NOT NULL,
    row_hash   BYTEA            NOT NULL,
    rowid      BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE
);

CREATE TABLE session_documents (
    session  TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
    name     TEXT COLLATE "C" NOT NULL,  -- the file's name, which implies its format
    hash     TEXT COLLATE "C" NOT NULL,  -- BLAKE3, in hex, of the file's bytes
    reader   BIGINT           NOT NULL,  -- the version of the reader: another one may see other sections
    document TEXT COLLATE "C" NOT NULL,  -- JSON, the sections
    kept_ms  BIGINT           NOT NULL,
    row_hash BYTEA            NOT NULL,
    rowid    BIGINT           GENERATED ALWAYS AS IDENTITY UNIQUE,
    PRIMARY KEY (session, name, hash, reader)
);

-- Who is working on a run. Its rows change with every renewal and are in no other store, so they have no hash.
CREATE TABLE run_locks (
    run_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token    TEXT COLLATE "C" NOT NULL,  -- of this taking of the lock
    holder   TEXT COLLATE "C" NOT NULL,  -- host and process, for messages
    until_ms BIGINT           NOT NULL   -- on the database's clock
);
