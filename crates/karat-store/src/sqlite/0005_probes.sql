-- How judges did on pairs whose answer is known.

CREATE TABLE probes (
    sequence  BIGINT NOT NULL PRIMARY KEY, -- counted from 1; of a judge's the last one counts
    judge     TEXT   NOT NULL,             -- BLAKE3, in hex, of who it is
    identity  TEXT   NOT NULL,             -- JSON, who it is
    scorecard TEXT   NOT NULL,             -- JSON
    made_ms   BIGINT NOT NULL
);

CREATE INDEX probes_by_judge ON probes (judge, sequence);

-- Probing again is one more row, so that nobody can lose a bad result by trying until a good one comes.
CREATE TRIGGER probes_are_never_overwritten BEFORE UPDATE ON probes
BEGIN SELECT RAISE(ABORT, 'probes are never overwritten'); END;

CREATE TRIGGER probes_are_never_removed BEFORE DELETE ON probes
BEGIN SELECT RAISE(ABORT, 'probes are never removed'); END;
