-- What judges said of a run, every state a tool was found in, every folder a run has used, and whether it came from elsewhere.

CREATE TABLE judgements (
    run_id   TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,            -- counted from 1
    line     TEXT   NOT NULL,            -- JSON, a line of recorded judgements
    PRIMARY KEY (run_id, position)
);

CREATE TABLE tool_facts (
    run_id   TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tool     TEXT   NOT NULL,
    position BIGINT NOT NULL,            -- counted from 1; the last one holds now
    facts    TEXT   NOT NULL,            -- JSON
    PRIMARY KEY (run_id, tool, position)
);

INSERT INTO tool_facts (run_id, tool, position, facts) SELECT run_id, tool, 1, facts FROM run_tools;

DROP TABLE run_tools;

-- A folder outlives its run here: it is forgotten when it is gone from the disk, not before.
CREATE TABLE scratch_folders (
    folder TEXT NOT NULL PRIMARY KEY,
    run_id TEXT NOT NULL
);

INSERT INTO scratch_folders (folder, run_id) SELECT DISTINCT scratch, id FROM runs WHERE scratch IS NOT NULL
    ON CONFLICT (folder) DO NOTHING;

ALTER TABLE runs ADD COLUMN imported BIGINT NOT NULL DEFAULT 0;
