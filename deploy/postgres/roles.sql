-- Roles of a store on PostgreSQL, for the owner of its tables to run once they exist, and again after an upgrade of Karat:
--   psql "$KARAT_STORE" -f deploy/postgres/roles.sql
-- Then give each a password: psql "$KARAT_STORE" -c '\password karat_worker'
-- The owner plans runs, removes them (karat store gc) and upgrades the store.

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['karat_worker', 'karat_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', name);
        END IF;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), name);
        -- What an earlier version granted and nobody needs any more.
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', current_schema(), name);
        -- Both read everything.
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), name);
    END LOOP;
END
$$;

-- Workers add results. They cannot change or remove one, nor touch labels, probes and sessions.
GRANT INSERT ON artifacts, tool_facts, trials, trial_artifacts, judgements, ledger TO karat_worker;
-- The end of a run, its report, and why it was stopped.
GRANT UPDATE (state, ended_ms, report, row_hash) ON runs TO karat_worker;
GRANT UPDATE (stopped) ON run_queues TO karat_worker;
-- A run that is scored again replaces its judgements.
GRANT DELETE ON judgements TO karat_worker;
-- What is under way.
GRANT INSERT, UPDATE ON queue_units, asked_questions, judge_budgets, judge_rates TO karat_worker;
GRANT DELETE ON asked_questions TO karat_worker;
