-- Runs, their trials, and what the trials left behind.

CREATE TABLE artifacts (
    hash    TEXT   NOT NULL PRIMARY KEY, -- BLAKE3 of the bytes as they were, in hex
    size    BIGINT NOT NULL,             -- of the bytes as they were
    coding  TEXT   NOT NULL,             -- how content holds them: plain or deflate
    content BLOB   NOT NULL
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
    planned      BIGINT NOT NULL,        -- how many trials the plan comes to
    report       TEXT   REFERENCES artifacts (hash),
    scratch      TEXT,
    karat        TEXT   NOT NULL         -- the version that made it
);

CREATE TABLE run_tools (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tool   TEXT NOT NULL,
    facts  TEXT NOT NULL,                -- JSON
    PRIMARY KEY (run_id, tool)
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
    PRIMARY KEY (run_id, tool, case_id, number, attempt),
    UNIQUE (run_id, position)
);

CREATE TABLE trial_artifacts (
    run_id  TEXT   NOT NULL,
    tool    TEXT   NOT NULL,
    case_id TEXT   NOT NULL,
    number  BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    name    TEXT   NOT NULL,
    hash    TEXT   NOT NULL REFERENCES artifacts (hash),
    PRIMARY KEY (run_id, tool, case_id, number, attempt, name),
    FOREIGN KEY (run_id, tool, case_id, number, attempt)
        REFERENCES trials (run_id, tool, case_id, number, attempt) ON DELETE CASCADE
);

CREATE INDEX trial_artifacts_by_hash ON trial_artifacts (hash);
CREATE INDEX runs_by_snapshot ON runs (snapshot);
CREATE INDEX runs_by_report ON runs (report);
