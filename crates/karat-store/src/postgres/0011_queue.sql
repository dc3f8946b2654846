-- Runs that workers of several machines work on. These tables hold what is under way, and no results, so their rows change and
-- have no hashes.

CREATE TABLE run_queues (
    run_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    max_tries BIGINT NOT NULL,                    -- a unit is given up when so many workers ended while they had it
    judging   BIGINT NOT NULL,                    -- 1 if trials are followed by a judging unit, else 0
    stopped   TEXT COLLATE "C"                    -- why a worker stopped the run
);

-- The suite of a run, for workers: what is unpacked in this order gives its folder.
CREATE TABLE suite_parts (
    run_id   TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    hash     TEXT COLLATE "C" NOT NULL REFERENCES artifacts (hash),
    PRIMARY KEY (run_id, position)
);

CREATE INDEX suite_parts_by_hash ON suite_parts (hash);

CREATE TABLE queue_units (
    run_id    TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind      TEXT COLLATE "C" NOT NULL,          -- trial, judge or score
    tool      TEXT COLLATE "C" NOT NULL,          -- empty for score, as the next two
    case_id   TEXT COLLATE "C" NOT NULL,
    number    BIGINT NOT NULL,
    position  BIGINT NOT NULL,                    -- the order in which units are begun
    attempt   BIGINT NOT NULL,
    needs     TEXT COLLATE "C" NOT NULL,          -- what a worker must offer, separated by commas
    state     TEXT COLLATE "C" NOT NULL,          -- waiting, claimed or done
    fence     BIGINT NOT NULL,                    -- grows with every claim; a result with an older one is refused
    tries     BIGINT NOT NULL,                    -- claims that did not end with a result or a release
    worker    TEXT COLLATE "C",
    until_ms  BIGINT,                             -- the end of the lease, by the clock of the database
    PRIMARY KEY (run_id, kind, tool, case_id, number)
);

CREATE INDEX queue_units_in_order ON queue_units (run_id, position);
CREATE INDEX queue_units_fresh ON queue_units (run_id, position) WHERE state = 'waiting' AND tries = 0;
CREATE INDEX queue_units_tried ON queue_units (run_id, position) WHERE state <> 'done' AND tries > 0;
CREATE INDEX queue_units_by_worker ON queue_units (worker) WHERE state = 'claimed';

-- Questions that somebody is asking a model now.
CREATE TABLE asked_questions (
    key      TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the key that the question is known under
    owner    TEXT COLLATE "C" NOT NULL,
    until_us BIGINT NOT NULL,                       -- when its owner is taken to have died
    budget   TEXT COLLATE "C"                       -- where a request of it is reserved; null while it waits for permission
);

-- What judges cost. A request counts with its worst case until its cost is known, so that a death cannot overdraw a budget.
CREATE TABLE judge_budgets (
    name            TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- a run, or one process; and the judge
    spent_micro_usd BIGINT NOT NULL,
    calls           BIGINT NOT NULL,
    in_flight       BIGINT NOT NULL,
    changed_us      BIGINT NOT NULL                 -- when the last request was permitted
);

-- When the next request may be sent to a provider.
CREATE TABLE judge_rates (
    account          TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the provider's host and a hash of the key
    next_request_us  BIGINT NOT NULL,
    next_token_us    BIGINT NOT NULL,
    blocked_until_us BIGINT NOT NULL                -- as the provider asked
);
