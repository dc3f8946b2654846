-- Questions that were sent to a model and have no answer yet. What is left here was in flight when a process was stopped.

CREATE TABLE sent_questions (
    key      TEXT   NOT NULL PRIMARY KEY, -- what the exchange would be kept under
    sent_ms  BIGINT NOT NULL,
    row_hash BLOB   NOT NULL
);
