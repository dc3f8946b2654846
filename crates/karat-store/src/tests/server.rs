//! What only a server does: conflicts of writers, lost connections, roles, leases, and its own errors.

use super::*;
use crate::database::Access;
use crate::lease::Leases;
use crate::queue::{Claim, ClaimRequest, QueueOptions, QueuedTrial, UnitKind};
use crate::record::TrialKey;
use crate::{Database, ServerUrl, StoreError, schema};
use karat_llm::ledger::Ledger;
use karat_llm::permits::{Permit, SettledRequest, SharedLimits};
use karat_test_servers::{Options, PgBouncer, Postgres, or_skip, wait_for};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

macro_rules! on_postgres {
    ($($test:ident),+ $(,)?) => {
        $(#[test]
        fn $test() {
            crate::tests::on_postgres(cases::$test);
        })+
    };
}

on_postgres!(
    deadlocked_writes_are_repeated,
    write_survives_a_killed_connection,
    write_is_repeated_if_the_connection_dies_before_commit,
    write_is_not_repeated_if_the_answer_to_commit_is_lost,
    failed_statement_cannot_be_committed,
    errors_of_the_server_say_what_to_do,
    refused_connections_say_what_to_do,
    documented_roles_have_the_rights_they_need,
    lease_is_renewed_and_can_be_lost,
    stores_of_other_versions_are_refused,
    foreign_and_empty_databases_are_no_stores,
    every_changed_column_is_detected,
    text_that_the_server_cannot_store_is_refused,
    store_works_through_a_pool_in_transaction_mode,
    ledger_outlasts_a_full_disk_and_locked_tables,
);

fn server_url(dir: &StoreDir) -> ServerUrl {
    dir.location().as_server().unwrap().clone()
}

/// Ends the server's side of the connection over which `victim` is being used.
fn kill_connection(dir: &StoreDir, victim: &mut Database) {
    let pid = victim.query_number("SELECT pg_backend_pid()::bigint", Vec::new()).unwrap().unwrap();
    let mut other = Database::open_server(&server_url(dir), Access::Write).unwrap();
    other.query("SELECT pg_terminate_backend($1::int)", vec![pid.into()]).unwrap();
    wait_for("the killed connection to end", || {
        let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = $1";
        (other.query_count(sql, vec![pid.into()]).unwrap() == 0).then_some(())
    })
    .unwrap();
}

/// Without a server of its own a test cannot stop it.
#[test]
fn saving_waits_for_a_restarted_server() {
    let Some(server) = or_skip(karat_test_servers::Postgres::start(&Options::default())) else { return };
    let url = server.new_database().unwrap();
    let mut store = Store::create(StoreLocation::parse(&url).unwrap()).unwrap();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    server.kill9().unwrap();
    std::thread::scope(|scope| {
        let saving = scope.spawn(|| store.save(&run, &[record("zeta", "b", 1)]));
        server.restart().unwrap();
        saving.join().unwrap().unwrap();
    });
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported", "zeta b 1 1 reported"]);
    server.stop().unwrap();
    // What need not be kept at any price gives up soon.
    store.database.set_busy_timeouts(Duration::from_millis(200), Duration::from_millis(400));
    let error = store.save(&run, &[record("zeta", "b", 2)]).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    server.restart().unwrap();
    assert_eq!(store.verify().unwrap(), []);
}

/// After a crash the server may give the id of a lost transaction to another one, so that it proves nothing.
#[test]
fn lost_answer_to_commit_is_undecided_if_the_server_was_restarted() {
    let Some(server) = or_skip(karat_test_servers::Postgres::start(&Options::default())) else { return };
    let server = Arc::new(server);
    let mut store = Store::create(StoreLocation::parse(server.new_database().unwrap()).unwrap()).unwrap();
    let (own, mut killed) = (Arc::clone(&server), false);
    store.database.before_commit(move |connection, runtime| {
        if !std::mem::replace(&mut killed, true) {
            runtime.block_on(sqlx::raw_sql("COMMIT").execute(&mut *connection)).unwrap();
            own.kill9().unwrap();
            own.restart().unwrap();
        }
    });
    let sql = "INSERT INTO sessions (id, created_ms, row_hash) VALUES ('s', 1, '')";
    let error = store.database.write(|database| database.execute(sql, Vec::new())).unwrap_err();
    assert!(matches!(error, StoreError::Undecided { .. }), "{error}");
    assert_eq!(store.database.query_count("SELECT COUNT(*) FROM sessions", Vec::new()).unwrap(), 1);
}

/// A certificate for `localhost` with its key, and that of the authority that signed it.
fn certificates(folder: &Path) -> Result<[String; 3], String> {
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    for line in [
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.crt",
        "req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr",
        "x509 -req -days 1 -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -extfile names -out server.crt",
    ] {
        let output = Command::new("openssl").args(line.split(' ')).current_dir(folder).output();
        let output = output.map_err(|error| format!("openssl cannot be started: {error}"))?;
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(["server.crt", "server.key", "ca.crt"].map(|file| std::fs::read_to_string(folder.join(file)).unwrap()))
}

#[test]
fn certificate_of_the_server_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = or_skip(Postgres::start(&Options::default())) else { return };
    let Some([certificate, key, authority]) = or_skip(certificates(folder.path())) else { return };
    server.restart_with_tls(&certificate, &key).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (right, wrong) = (write("right.crt", &authority), write("wrong.crt", &certificate));
    let url = server.new_database().unwrap();
    let open = |host: &str, mode: &str, authority: &str| {
        let url = format!("{}?sslmode={mode}&sslrootcert={authority}", url.replace("127.0.0.1", host));
        let mut store = Store::create(StoreLocation::parse(&url).unwrap())?;
        let sql = "SELECT COUNT(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
        Ok::<_, StoreError>(store.database.query_count(sql, Vec::new())? == 1)
    };
    assert!(open("localhost", "verify-full", &right).unwrap());
    assert!(open("127.0.0.1", "verify-ca", &right).unwrap());
    assert!(open("127.0.0.1", "require", &right).unwrap());
    for (host, mode, authority) in
        [("127.0.0.1", "verify-full", &right), ("localhost", "verify-full", &wrong), ("localhost", "verify-ca", &wrong)]
    {
        let error = open(host, mode, authority).unwrap_err().to_string();
        assert!(error.contains("peer certificate") && !error.contains("karat:karat"), "{host} {mode}: {error}");
    }
}

mod cases {
    use super::*;

    pub(super) fn deadlocked_writes_are_repeated() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let runs = [begin(&mut store), begin(&mut store)];
        let (meeting, tries) = (Barrier::new(2), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for order in [[0, 1], [1, 0]] {
                let (dir, runs, meeting, tries) = (&dir, &runs, &meeting, &tries);
                scope.spawn(move || {
                    let mut store = Store::open(dir.location()).unwrap();
                    let mut first = true;
                    let sql = "UPDATE runs SET planned = planned + 1 WHERE id = $1";
                    let twice = |database: &mut Database| {
                        tries.fetch_add(1, Ordering::SeqCst);
                        database.execute(sql, vec![(&runs[order[0]]).into()])?;
                        if std::mem::take(&mut first) {
                            meeting.wait();
                        }
                        database.execute(sql, vec![(&runs[order[1]]).into()])
                    };
                    store.database.write(twice).unwrap();
                });
            }
        });
        assert!(tries.into_inner() > 2, "nothing was repeated");
        let planned = store.database.query_number("SELECT MIN(planned) FROM runs", Vec::new()).unwrap();
        assert_eq!(planned, Some(10));
    }

    pub(super) fn write_survives_a_killed_connection() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let run = begin(&mut store);
        let mut tries = 0;
        let insert = |database: &mut Database| {
            tries += 1;
            crate::runs::lock_run(database, &run)?;
            database.execute("INSERT INTO sessions (id, created_ms, row_hash) VALUES ('s', 1, '')", Vec::new())?;
            if tries == 1 {
                kill_connection(&dir, database);
            }
            database.query_number("SELECT COUNT(*) FROM sessions", Vec::new())
        };
        assert_eq!(store.database.write(insert).unwrap(), Some(1));
        assert_eq!(tries, 2);
        // Between two operations the connection is made anew.
        kill_connection(&dir, &mut store.database);
        assert_eq!(store.find("latest").unwrap().id, run);
        kill_connection(&dir, &mut store.database);
        store.save(&run, &[record("zeta", "a", 1)]).unwrap();
        assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
    }

    pub(super) fn write_is_repeated_if_the_connection_dies_before_commit() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let run = begin(&mut store);
        let mut killed = false;
        store.database.before_commit(move |connection, runtime| {
            if !std::mem::replace(&mut killed, true) {
                let kill = sqlx::raw_sql("SELECT pg_terminate_backend(pg_backend_pid())").execute(connection);
                assert!(runtime.block_on(kill).is_err());
            }
        });
        store.save(&run, &all_records()).unwrap();
        assert_eq!(store.trials(&run).unwrap().len(), 8);
        assert_eq!(store.verify().unwrap(), []);
    }

    pub(super) fn write_is_not_repeated_if_the_answer_to_commit_is_lost() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let mut killed = false;
        store.database.before_commit(move |connection, runtime| {
            if !std::mem::replace(&mut killed, true) {
                runtime.block_on(sqlx::raw_sql("COMMIT").execute(&mut *connection)).unwrap();
                let kill = sqlx::raw_sql("SELECT pg_terminate_backend(pg_backend_pid())").execute(connection);
                assert!(runtime.block_on(kill).is_err());
            }
        });
        let mut tries = 0;
        let add = |database: &mut Database| {
            tries += 1;
            let number = i64::from(tries);
            let sql = "INSERT INTO sessions (id, created_ms, row_hash) VALUES ('s' || $1::text, $1, '')";
            database.execute(sql, vec![number.into()])
        };
        store.database.write(add).unwrap();
        assert_eq!(tries, 1);
        assert_eq!(store.database.query_count("SELECT COUNT(*) FROM sessions", Vec::new()).unwrap(), 1);
    }

    pub(super) fn failed_statement_cannot_be_committed() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let careless = |database: &mut Database| {
            database.execute("INSERT INTO sessions (id, created_ms, row_hash) VALUES ('s', 1, '')", Vec::new())?;
            let _ = database.execute("SELECT 1 / 0", Vec::new());
            Ok(())
        };
        assert!(matches!(store.database.write(careless), Err(StoreError::Database { .. })));
        assert_eq!(store.database.query_count("SELECT COUNT(*) FROM sessions", Vec::new()).unwrap(), 0);
    }

    pub(super) fn errors_of_the_server_say_what_to_do() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        store.database.set_busy_timeouts(Duration::from_millis(50), Duration::from_millis(50));
        let url = server_url(&dir).to_string();
        let mut check = |code: &str, expect: &str| {
            let sql = format!("DO 'BEGIN RAISE EXCEPTION ''simulated'' USING ERRCODE = ''{code}''; END'");
            let error = store.database.write(|database| database.script_result(sql.clone())).unwrap_err().to_string();
            assert!(error.contains(expect) && error.contains(&url), "{code}: {error}");
            assert!(!error.contains("karat:karat"), "{error}");
        };
        check("53100", "free some space");
        check("53300", "PgBouncer");
        check("42501", "roles.sql grants the rights");
        check("25006", "cannot be written");
        check("XX001", "is damaged: simulated");
        check("58030", "check the disk");
        check("40001", "in use by another process");
        check("23505", "nothing was changed");
        check("57P01", "check that the server is running");
        check("08006", "check that the server is running");
        check("42P01", "karat store verify");
    }

    /// An error would end the requests under way, and lose what was paid for.
    pub(super) fn ledger_outlasts_a_full_disk_and_locked_tables() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let exchange = super::super::ledger::exchange("a", true);
        // Sequences count also what is undone.
        store.database.script_sql(
            "CREATE SEQUENCE refusals; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('refusals') < 4 THEN RAISE EXCEPTION 'simulated' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION refuse()"
                .to_owned(),
        );
        store.put(&[&exchange]).unwrap();
        assert_eq!(store.database.query_number("SELECT last_value FROM refusals", Vec::new()).unwrap(), Some(4));
        let mut other = Database::open_server(&server_url(&dir), Access::Write).unwrap();
        other.begin_without_end();
        other.script_sql("LOCK TABLE ledger IN ACCESS EXCLUSIVE MODE".to_owned());
        store.database.set_busy_timeouts(Duration::from_millis(20), Duration::from_secs(240));
        let reading = std::thread::scope(|scope| {
            let reading = scope.spawn(|| store.get_many(&[&exchange.key]));
            std::thread::sleep(Duration::from_millis(500));
            drop(other);
            reading.join().unwrap()
        });
        assert_eq!(reading.unwrap(), [Some(exchange)]);
    }

    pub(super) fn refused_connections_say_what_to_do() {
        let dir = StoreDir::new();
        let url = dir.url.clone().unwrap();
        let check = |url: String, expect: &str| {
            let error = Store::open(StoreLocation::parse(&url).unwrap()).err().unwrap().to_string();
            assert!(error.contains(expect), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        };
        check(url.replace(":karat@", ":secret@"), "does not let this user in");
        check(url.replace("/test_", "/nothing_"), "createdb --encoding=UTF8");
        check(url.replace(&format!(":{}/", server_url(&dir).port()), ":1/"), "check that the server is running");
        check(format!("{url}?sslmode=require"), "sslmode in the URL");
        check(url, "there is no store in postgres://karat@127.0.0.1");
    }

    /// Runs deploy/postgres/roles.sql and uses the roles that it makes.
    pub(super) fn documented_roles_have_the_rights_they_need() {
        let dir = StoreDir::new();
        let url = dir.url.clone().unwrap();
        let name = url.rsplit('/').next().unwrap().to_owned();
        let mut owner = dir.store();
        let run = begin(&mut owner);
        owner.set_suite_parts(&run, &[b"part".to_vec()]).unwrap();
        let trials: Vec<QueuedTrial> = all_records()
            .iter()
            .map(|record| QueuedTrial { key: TrialKey::from_trial(&record.trial), attempt: 1, needs: Vec::new() })
            .collect();
        let queue = |store: &mut Store, run: &RunId| {
            store.queue_trials(run, &trials, &QueueOptions { max_tries: 2, judging: true, follow: false }).unwrap();
        };
        queue(&mut owner, &run);
        // Roles belong to the server, and other tests use it too.
        let own = |text: &str| {
            let text = text.replace("karat_worker", &format!("{name}_worker"));
            text.replace("karat_reader", &format!("{name}_reader"))
        };
        let mut admin = Database::open_server(&server_url(&dir), Access::Write).unwrap();
        // Twice, as after an upgrade.
        for _ in 0..2 {
            admin.script_sql(own(include_str!("../../../../deploy/postgres/roles.sql")));
        }
        for role in ["karat_worker", "karat_reader"] {
            admin.script_sql(own(&format!("ALTER ROLE {role} PASSWORD 'secret'")));
        }
        let role = |role: &str| {
            let url = url.replace("karat:karat@", &format!("{name}_{role}:secret@"));
            StoreLocation::parse(&url).unwrap()
        };

        let mut worker = Store::open(role("worker")).unwrap();
        worker.ask_as("w", Duration::from_secs(60));
        let claim = |worker: &mut Store, most: usize| {
            let (none, tools, runs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            let request = ClaimRequest {
                worker: "w",
                run: None,
                offers: &none,
                without: &tools,
                without_runs: &runs,
                without_judge: &runs,
                fresh_only: false,
                most,
                lease: Duration::from_secs(60),
            };
            worker.claim(&request).unwrap()
        };
        assert_eq!(worker.suite_part_hashes(&run).unwrap().len(), 1);
        worker.suite_parts(&run, &mut |_| Ok(())).unwrap();
        for tool in worker.tools_left(&run).unwrap() {
            worker.set_tool(&run, &tool, &Default::default()).unwrap();
        }
        let claims = claim(&mut worker, 8);
        worker.give_back(&claims[..1], true).unwrap();
        assert_eq!(worker.renew("w", Duration::from_secs(60)).unwrap().len(), 7);
        worker.give_back_all("w").unwrap();
        let mut done = 0;
        let mut judging = Vec::new();
        while done < 8 {
            let claims = claim(&mut worker, 8);
            let (trials, others): (Vec<Claim>, Vec<Claim>) =
                claims.into_iter().partition(|claim| claim.unit.kind == UnitKind::Trial);
            judging.extend(others);
            let results: Vec<_> = trials
                .into_iter()
                .map(|claim| {
                    let key = claim.unit.trial.clone().unwrap();
                    (claim, record(key.tool.as_str(), key.case.as_str(), key.number))
                })
                .collect();
            done += worker.complete_trials(&run, &results).unwrap().len();
        }
        let limits = crate::tests::queue::limits();
        let limits = SharedLimits { requests_per_minute: Some(60_000), budget_micro_usd: Some(10), ..limits };
        let exchange = super::super::ledger::exchange("a", true);
        let asked = crate::tests::queue::request(exchange.key.as_str(), 1);
        assert!(matches!(worker.permit(&limits, &[asked]).unwrap()[0], Permit::Granted { .. }));
        let retry_after = Some(Duration::ZERO);
        let settled = SettledRequest { reserved_micro_usd: 1, micro_usd: 1, retry_after };
        worker.settle_requests(&limits, &[settled]).unwrap();
        worker.ledger_put(&[&exchange]).unwrap();
        worker.forget_sent(&[&exchange.key]).unwrap();
        worker.give_questions_back().unwrap();
        judging.extend(claim(&mut worker, 8));
        worker.complete_judging(&run, &judging).unwrap();
        let scoring = claim(&mut worker, 1);
        assert!(worker.stop_scoring(&scoring[0], "the judge failed").unwrap());
        owner.reopen(&run).unwrap();
        queue(&mut owner, &run);
        let scoring = claim(&mut worker, 1);
        assert!(worker.complete_scoring(&scoring[0], &[judgement("f1", 0.5)], b"report").unwrap());
        owner.reopen(&run).unwrap();
        worker.stop(&run).unwrap();
        assert_eq!(worker.verify().unwrap(), []);
        let refused = worker.begin(&new_run(&["a"])).unwrap_err();
        assert!(matches!(refused, StoreError::NoRights { .. }), "{refused}");
        for sql in [
            "DELETE FROM runs",
            "DELETE FROM trials",
            "DELETE FROM ledger",
            "DROP TABLE probes",
            "DELETE FROM labels",
            "INSERT INTO run_locks (run_id, token, holder, until_ms) SELECT id, '', '', 0 FROM runs",
            "UPDATE run_queues SET max_tries = 1",
        ] {
            let error = worker.database.write(|database| database.script_result(sql.to_owned())).unwrap_err();
            assert!(matches!(error, StoreError::NoRights { .. }), "{sql}: {error}");
        }
        let mut reader = Store::read_only(role("reader")).unwrap();
        assert_eq!(reader.find("latest").unwrap().id, run);
        assert_eq!(reader.verify().unwrap(), []);
        assert!(!reader.is_locked(&run));
        let mut reader = Store::open(role("reader")).unwrap();
        let error = reader.set_tool(&run, &ToolName::new("other"), &Default::default()).unwrap_err();
        assert!(matches!(error, StoreError::NoRights { .. }), "{error}");
        owner.gc(&crate::GcOptions { keep: Some(0), ..Default::default() }).unwrap();
        assert_eq!(owner.runs().unwrap(), []);
    }

    pub(super) fn lease_is_renewed_and_can_be_lost() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let run = begin(&mut store);
        // A busy machine may take long between two renewals.
        let length = Duration::from_secs(6);
        let leases = Arc::new(Leases::with_length(server_url(&dir), length));
        let until =
            |store: &mut Store| store.database.query_number("SELECT until_ms FROM run_locks", Vec::new()).unwrap();
        let lease = leases.take(&run).unwrap().unwrap();
        assert!(leases.take(&run).unwrap().is_none());
        let first = until(&mut store);
        wait_for("the lease to be renewed", || (until(&mut store) > first).then_some(())).unwrap();
        assert!(lease.is_held() && store.is_locked(&run));
        // Another process took it, as if this one had been stopped for longer than the lease.
        store.database.script("UPDATE run_locks SET token = 'other', until_ms = until_ms + 3600000").unwrap();
        wait_for("the loss to be noticed", || (!lease.is_held()).then_some(())).unwrap();
        drop(lease);
        assert!(store.is_locked(&run), "the lock of another process was removed");
        // Nobody renews it.
        store.database.script("UPDATE run_locks SET until_ms = 1").unwrap();
        assert!(!store.is_locked(&run));
        let lease = leases.take(&run).unwrap().unwrap();
        assert!(lease.is_held() && store.is_locked(&run));
        drop(lease);
        assert!(!store.is_locked(&run));
    }

    pub(super) fn stores_of_other_versions_are_refused() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        store.database.script("DELETE FROM karat_schema WHERE version > 11").unwrap();
        let mut check = |sql: &'static str, expect: fn(&StoreError) -> bool| {
            store.database.script(sql).unwrap();
            for error in [Store::create(dir.location()).err(), Store::read_only(dir.location()).err()] {
                assert!(error.as_ref().is_some_and(expect), "{sql}: {error:?}");
            }
        };
        check("UPDATE karat_schema SET version = 10", |error| matches!(error, StoreError::Older { found: 10, .. }));
        check("UPDATE karat_schema SET version = 99", |error| matches!(error, StoreError::Newer { found: 99, .. }));
        let latest = schema::latest_version();
        store.database.script_sql(format!("UPDATE karat_schema SET version = {latest}"));
        drop(Store::open(dir.location()).unwrap());
        let mut check = |sql: &'static str| {
            store.database.script(sql).unwrap();
            let error = Store::open(dir.location()).err();
            assert!(matches!(error, Some(StoreError::Damaged { .. })), "{sql}: {error:?}");
        };
        check("ALTER TABLE labels DISABLE TRIGGER labels_are_never_removed");
    }

    pub(super) fn foreign_and_empty_databases_are_no_stores() {
        let dir = StoreDir::new();
        assert!(!Store::is_at(dir.location()));
        let mut database = Database::open_server(&server_url(&dir), Access::Write).unwrap();
        database.script("CREATE TABLE invoices (id BIGINT)").unwrap();
        let error = Store::create(dir.location()).err().unwrap();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert_eq!(database.tables().unwrap(), ["invoices"]);
        database.script("DROP TABLE invoices").unwrap();
        drop(dir.store());
        assert!(Store::is_at(dir.location()));
    }

    /// Changes each column of each table in turn.
    pub(super) fn every_changed_column_is_detected() {
        let dir = StoreDir::new();
        super::super::hashes::fill(&dir);
        let mut database = dir.store().database;
        database.ignore_foreign_keys();
        for table in crate::tables::TABLES {
            assert_eq!(database.damaged_rows(table).unwrap(), [""; 0]);
            for column in table.columns() {
                let kind =
                    "SELECT data_type::text FROM information_schema.columns WHERE table_name = $1 AND column_name = $2";
                let kind = database.query_one(kind, vec![table.name.into(), column.into()]).unwrap().unwrap();
                let change = match kind.get::<&str>(0).unwrap() {
                    "bigint" => format!("COALESCE({column}, 0) + 1000"),
                    "double precision" => format!("COALESCE({column}, 0) / 2 + 1"),
                    "bytea" => format!("{column} || 'x'"),
                    _ => format!("COALESCE({column}, '') || 'x'"),
                };
                let sql = format!(
                    "UPDATE {0} SET {column} = {change} WHERE rowid = (SELECT MIN(rowid) FROM {0})",
                    table.name
                );
                let mut damaged = Vec::new();
                // The change is undone.
                let undone: Result<(), _> = database.write(|database| {
                    database.script_result(sql.clone())?;
                    damaged = database.damaged_rows(table)?;
                    Err(StoreError::Twice { trial: String::new() })
                });
                assert!(matches!(undone, Err(StoreError::Twice { .. })), "{undone:?}");
                assert_eq!(damaged.len(), 1, "{} {column}", table.name);
            }
        }
    }

    pub(super) fn text_that_the_server_cannot_store_is_refused() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let error = store.begin(&NewRun { name: None, ..new_run(&["a"]) }).and_then(|run| {
            let mut nul = record("zeta", "a", 1);
            nul.artifacts[0].name = "std\0out".to_owned();
            store.save(&run, &[nul])
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("the character NUL"), "{error}");
    }

    pub(super) fn store_works_through_a_pool_in_transaction_mode() {
        let dir = StoreDir::new();
        let Some(pool) = or_skip(PgBouncer::start(Postgres::shared().unwrap())) else { return };
        let location = StoreLocation::parse(pool.through(dir.url.as_ref().unwrap())).unwrap();
        let cases: Vec<String> = (0..20).map(|n| format!("case-{n}")).collect();
        let names: Vec<&str> = cases.iter().map(String::as_str).collect();
        let run = Store::create(&location).unwrap().begin(&new_run(&names)).unwrap();
        // More writers than the pool has connections.
        std::thread::scope(|scope| {
            for (tool, number) in [("zeta", 1), ("zeta", 2), ("alpha", 1), ("alpha", 2)] {
                let (location, names, run) = (&location, &names, &run);
                scope.spawn(move || {
                    let mut store = Store::open(location).unwrap();
                    for case in names {
                        store.save(run, &[record(tool, case, number)]).unwrap();
                        assert!(store.overview().unwrap().len() == 1);
                    }
                });
            }
        });
        let mut store = Store::open(&location).unwrap();
        let lock = store.lock(&run).unwrap();
        assert!(store.is_locked(&run));
        drop(lock);
        assert_eq!(store.trials(&run).unwrap().len(), 80);
        assert_eq!(store.verify().unwrap(), []);
        store.gc(&crate::GcOptions { keep: Some(0), ..Default::default() }).unwrap();
    }
}
