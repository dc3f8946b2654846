//! What the processes that ask a model through a store on a server share: questions under way, one budget and one rate.

use super::{Database, Result, Store, StoreError, Value};
use karat_llm::ledger::{Exchange, LedgerKey};
use karat_llm::permits::{Permit, PermitRequest, SettledRequest, SharedLimits};
use std::time::Duration;

/// How long to wait for a question that somebody else is asking, or for a budget that is reserved.
const WAIT: Duration = Duration::from_millis(200);

/// The clock of the database, in microseconds.
macro_rules! now_us {
    () => {
        "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT"
    };
}

impl Store {
    /// Names what a budget is for, such as a run: all who ask under the same name share it. Without a name, the budget is this
    /// process's own.
    pub fn share_budget(&mut self, name: &str) {
        self.budget_name = Some(name.to_owned());
    }

    /// Asks questions under the name of a worker: they are taken to be under way as long as the worker renews its claims.
    pub fn ask_as(&mut self, worker: &str, lease: Duration) {
        self.instance = worker.to_owned();
        self.question_lease = Some(lease);
    }

    /// What was spent under a name, in micro-dollars, with what is reserved for requests under way; and the number of requests.
    pub fn spent(&mut self, name: &str) -> Result<(i64, i64)> {
        let sql = "SELECT COALESCE(SUM(spent_micro_usd), 0)::BIGINT, COALESCE(SUM(calls), 0)::BIGINT FROM judge_budgets \
                   WHERE name = $1 OR starts_with(name, $1 || ' ')";
        let row = self.database.query_one(sql, vec![name.into()])?;
        row.map_or(Ok((0, 0)), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn budget_row(&self, limits: &SharedLimits) -> String {
        format!("{} {}", self.budget_name.as_deref().unwrap_or(&self.instance), limits.judge)
    }

    /// Decides about requests in one transaction. Rows are locked in a fixed order: questions by key, then the budget, then the
    /// rate.
    pub(super) fn permit_shared(&mut self, limits: &SharedLimits, requests: &[PermitRequest]) -> Result<Vec<Permit>> {
        let (owner, budget) = (self.instance.clone(), self.budget_row(limits));
        let lease = self.question_lease.unwrap_or(limits.longest_silence);
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|at| &requests[*at].key);
        // Giving up would end requests under way that were paid for. At worst more stays reserved than is needed.
        self.database.write_repeatable(|database| {
            let mut permits: Vec<Option<Permit>> = vec![None; requests.len()];
            for at in &order {
                let request = &requests[*at];
                permits[*at] = claim_question(database, request, &owner, lease)?;
            }
            for at in &order {
                let request = &requests[*at];
                let was_sent = match permits[*at] {
                    Some(Permit::Granted { was_sent }) => was_sent,
                    _ => continue,
                };
                let decided = match reserve(database, request, limits, &budget)? {
                    Some(refused) => refused,
                    None => Permit::Granted { was_sent },
                };
                let is_granted = matches!(decided, Permit::Granted { .. });
                if request.is_first && !is_granted {
                    give_question_back(database, &request.key, &owner)?;
                } else {
                    set_budget(database, &request.key, &owner, is_granted.then_some(budget.as_str()))?;
                }
                permits[*at] = Some(decided);
            }
            Ok(permits.into_iter().map(|permit| permit.unwrap_or(Permit::Wait(WAIT))).collect())
        })
    }

    pub(super) fn settle_shared(&mut self, limits: &SharedLimits, settled: &[SettledRequest]) -> Result<()> {
        let budget = self.budget_row(limits);
        let change: i64 = settled.iter().map(|one| one.micro_usd - one.reserved_micro_usd).sum();
        let blocked = settled.iter().filter_map(|one| one.retry_after).max();
        let number = i64::try_from(settled.len()).unwrap_or(i64::MAX);
        let result = self.database.write_waiting(|database| {
            let values: Vec<Value> = vec![budget.as_str().into(), change.into(), number.into()];
            database.execute(
                "UPDATE judge_budgets SET spent_micro_usd = spent_micro_usd + $2, in_flight = GREATEST(in_flight - $3, 0) \
                 WHERE name = $1",
                values,
            )?;
            if let Some(time) = blocked {
                lock_rate(database, &limits.account)?;
                database.execute(
                    concat!(
                        "UPDATE judge_rates SET blocked_until_us = GREATEST(blocked_until_us, ",
                        now_us!(),
                        " + $2) WHERE account = $1"
                    ),
                    vec![limits.account.as_str().into(), microseconds(time).into()],
                )?;
            }
            Ok(())
        });
        match result {
            // At worst the worst case stays counted.
            Err(StoreError::Undecided { .. }) => Ok(()),
            result => result,
        }
    }

    pub(super) fn forget_shared(&mut self, keys: &[&LedgerKey]) -> Result<()> {
        let owner = self.instance.clone();
        self.database.write_repeatable(|database| {
            let mut keys: Vec<&LedgerKey> = keys.to_vec();
            keys.sort();
            keys.iter().try_for_each(|key| give_question_back(database, key, &owner))
        })
    }
}

/// Claims the question of a first request; for others the claim is extended.
fn claim_question(
    database: &mut Database,
    request: &PermitRequest,
    owner: &str,
    lease: Duration,
) -> Result<Option<Permit>> {
    let values = || -> Vec<Value> { vec![request.key.as_str().into(), owner.into(), microseconds(lease).into()] };
    if !request.is_first {
        database.execute(
            concat!("UPDATE asked_questions SET until_us = ", now_us!(), " + $3 WHERE key = $1 AND owner = $2"),
            values(),
        )?;
        return Ok(Some(Permit::Granted { was_sent: false }));
    }
    let before = "SELECT owner FROM asked_questions WHERE key = $1 FOR UPDATE";
    let before = database.query_one(before, vec![request.key.as_str().into()])?.map(|row| row.get::<String>(0));
    let before = before.transpose()?;
    let rows = database.query(
        concat!(
            "INSERT INTO asked_questions (key, owner, until_us) VALUES ($1, $2, ",
            now_us!(),
            " + $3) ON CONFLICT (key) DO UPDATE SET owner = EXCLUDED.owner, until_us = EXCLUDED.until_us, budget = NULL \
             WHERE asked_questions.until_us < ",
            now_us!(),
            " OR asked_questions.owner = EXCLUDED.owner RETURNING key"
        ),
        values(),
    )?;
    if rows.is_empty() {
        return Ok(Some(Permit::Wait(WAIT)));
    }
    // Whoever asked it before has stored the answer before letting go of it.
    if let Some(exchange) = stored_answer(database, &request.answer_keys)? {
        give_question_back(database, &request.key, owner)?;
        return Ok(Some(Permit::Answered(Box::new(exchange))));
    }
    Ok(Some(Permit::Granted { was_sent: before.is_some_and(|before| before != owner) }))
}

fn stored_answer(database: &mut Database, keys: &[LedgerKey]) -> Result<Option<Exchange>> {
    let found = super::ledger::get_many(database, &keys.iter().collect::<Vec<_>>())?;
    Ok(found.into_iter().flatten().find(|exchange| !exchange.answer.is_unreadable()))
}

fn give_question_back(database: &mut Database, key: &LedgerKey, owner: &str) -> Result<()> {
    let values = vec![key.as_str().into(), owner.into()];
    database.execute("DELETE FROM asked_questions WHERE key = $1 AND owner = $2", values).map(|_| ())
}

/// Notes where a request of a question is reserved, so that others know whether to wait for what it costs.
fn set_budget(database: &mut Database, key: &LedgerKey, owner: &str, budget: Option<&str>) -> Result<()> {
    let values = vec![key.as_str().into(), owner.into(), budget.into()];
    database.execute("UPDATE asked_questions SET budget = $3 WHERE key = $1 AND owner = $2", values).map(|_| ())
}

/// Reserves budget and rate for a request; `None` if it may be sent.
fn reserve(
    database: &mut Database,
    request: &PermitRequest,
    limits: &SharedLimits,
    budget: &str,
) -> Result<Option<Permit>> {
    database.execute(
        "INSERT INTO judge_budgets (name, spent_micro_usd, calls, in_flight, changed_us) VALUES ($1, 0, 0, 0, 0) \
         ON CONFLICT (name) DO NOTHING",
        vec![budget.into()],
    )?;
    let row = database.query_one(
        concat!(
            "SELECT spent_micro_usd, calls, in_flight, ",
            now_us!(),
            " - changed_us FROM judge_budgets WHERE name = $1 FOR UPDATE"
        ),
        vec![budget.into()],
    )?;
    let Some(row) = row else { return Ok(Some(Permit::Wait(WAIT))) };
    let (spent, calls, in_flight): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let since_last_us: i64 = row.get(3)?;
    if limits.budget_calls.is_some_and(|most| calls >= most) {
        return Ok(Some(Permit::OverBudget));
    }
    if limits.budget_micro_usd.is_some_and(|most| spent.saturating_add(request.micro_usd) > most) {
        // Requests under way mostly cost less than was reserved. What a process had under way that died stays reserved, and
        // after so long a time nothing else is.
        let may_cost_less = in_flight > 0
            && since_last_us < microseconds(limits.longest_silence)
            && is_other_question_under_way(database, budget, &request.key)?;
        return Ok(Some(if may_cost_less { Permit::Wait(WAIT) } else { Permit::OverBudget }));
    }
    if let Some(wait) = wait_for_rate(database, request, limits)? {
        return Ok(Some(Permit::Wait(wait)));
    }
    database.execute(
        concat!(
            "UPDATE judge_budgets SET spent_micro_usd = spent_micro_usd + $2, calls = calls + 1, in_flight = in_flight + 1, \
             changed_us = ",
            now_us!(),
            " WHERE name = $1"
        ),
        vec![budget.into(), request.micro_usd.into()],
    )?;
    Ok(None)
}

/// Whether somebody who lives is asking another question than this one under a budget.
fn is_other_question_under_way(database: &mut Database, budget: &str, key: &LedgerKey) -> Result<bool> {
    let sql =
        concat!("SELECT COUNT(*) FROM asked_questions WHERE budget = $1 AND key <> $2 AND until_us >= ", now_us!());
    Ok(database.query_count(sql, vec![budget.into(), key.as_str().into()])? > 0)
}

/// Takes a place in the rate of an account, or says how long to wait for one.
fn wait_for_rate(database: &mut Database, request: &PermitRequest, limits: &SharedLimits) -> Result<Option<Duration>> {
    lock_rate(database, &limits.account)?;
    let row = database.query_one(
        concat!(
            "SELECT GREATEST(next_request_us, next_token_us, blocked_until_us) - ",
            now_us!(),
            " FROM judge_rates WHERE account = $1"
        ),
        vec![limits.account.as_str().into()],
    )?;
    let wait: i64 = row.map_or(Ok(0), |row| row.get(0))?;
    if wait > 0 {
        return Ok(Some(Duration::from_micros(u64::try_from(wait).unwrap_or(0)).min(Duration::from_secs(5))));
    }
    const MINUTE_US: i64 = 60_000_000;
    let per_request = limits.requests_per_minute.map_or(0, |most| MINUTE_US / i64::from(most.max(1)));
    let for_tokens =
        limits.tokens_per_minute.map_or(0, |most| request.tokens.saturating_mul(MINUTE_US) / i64::from(most.max(1)));
    database.execute(
        concat!(
            "UPDATE judge_rates SET next_request_us = ",
            now_us!(),
            " + $2, next_token_us = ",
            now_us!(),
            " + $3 WHERE account = $1"
        ),
        vec![limits.account.as_str().into(), per_request.into(), for_tokens.into()],
    )?;
    Ok(None)
}

fn lock_rate(database: &mut Database, account: &str) -> Result<()> {
    database.execute(
        "INSERT INTO judge_rates (account, next_request_us, next_token_us, blocked_until_us) VALUES ($1, 0, 0, 0) \
         ON CONFLICT (account) DO NOTHING",
        vec![account.into()],
    )?;
    database.query("SELECT account FROM judge_rates WHERE account = $1 FOR UPDATE", vec![account.into()])?;
    Ok(())
}

fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
