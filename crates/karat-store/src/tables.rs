//! The tables of a store. Every row has a hash of its other columns, written and checked by the database module, so damaged
//! rows are never read.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// All columns but the hash, separated by commas, in the order in which they are written, read and hashed.
    columns: &'static str,
    /// The number of leading columns that form the key.
    pub(super) key: usize,
    /// A consecutively numbered column and the expression that groups its numbering; a missing row leaves a gap.
    pub(super) counted: Option<(&'static str, &'static str)>,
}

pub(super) const ROW_HASH: &str = "row_hash";

/// A truncated BLAKE3; enough to detect any accident.
pub(super) const ROW_HASH_LEN: usize = 16;

macro_rules! tables {
    ($($name:ident = $table:expr;)+) => {
        $(pub(super) const $name: Table = $table;)+

        pub(super) const TABLES: &[&Table] = &[$(&$name),+];

        /// The tables of a store on a server: those that hold what was stored, and those that hold what is under way.
        pub(super) const SERVER_TABLES: &[&str] = &[
            $($name.name),+,
            "run_locks",
            "run_queues",
            "suite_parts",
            "queue_units",
            "asked_questions",
            "judge_budgets",
            "judge_rates",
        ];
    };
}

tables! {
    SCHEMA = table("karat_schema", "version, applied_ms", 1);
    ARTIFACTS = table("artifacts", "hash, size, coding, content", 1);
    RUNS = table(
        "runs",
        "id, name, created_ms, ended_ms, state, suite_name, suite_digest, snapshot, plan, planned, report, scratch, \
         karat, imported",
        1,
    );
    TOOL_FACTS = table("tool_facts", "run_id, tool, position, facts", 3).counting("position", "run_id || ' ' || tool");
    TRIALS = table("trials", "run_id, tool, case_id, number, attempt, position, outcome, line, detail", 5)
        .counting("position", "run_id");
    TRIAL_ARTIFACTS = table("trial_artifacts", "run_id, tool, case_id, number, attempt, name, hash", 6);
    JUDGEMENTS = table("judgements", "run_id, position, line", 2).counting("position", "run_id");
    SCRATCH_FOLDERS = table("scratch_folders", "folder, run_id", 1);
    LEDGER = table("ledger", "key, exchange, created_ms", 1);
    SENT_QUESTIONS = table("sent_questions", "key, sent_ms", 1);
    LABEL_SUBJECTS = table("label_subjects", "key, shown", 1);
    LABELS = table(
        "labels",
        "sequence, kind, subject, case_id, golden, annotator, revision, decision, partial, confidence, note, \
         picked_with_probability, made_ms, source",
        1,
    )
    .counting("sequence", "''");
    PROBES = table("probes", "sequence, judge, identity, scorecard, made_ms", 1).counting("sequence", "''");
    SESSIONS = table("sessions", "id, created_ms", 1);
    SESSION_DOCUMENTS = table("session_documents", "session, name, hash, reader, document, kept_ms", 4);
    SETTINGS = table("settings", "name, value", 1);
    REMOVED_OBJECTS = table("removed_objects", "object, removed_ms", 1);
}

const fn table(name: &'static str, columns: &'static str, key: usize) -> Table {
    Table { name, columns, key, counted: None }
}

impl Table {
    const fn counting(self, column: &'static str, within: &'static str) -> Self {
        Self { counted: Some((column, within)), ..self }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.split(", ")
    }

    pub(super) fn width(&self) -> usize {
        self.columns().count()
    }

    pub(super) fn all_columns(&self) -> String {
        format!("{}, {ROW_HASH}", self.columns)
    }

    /// Hashes a row unambiguously, including the table and the types of values.
    pub(super) fn hash<'v>(&self, values: impl IntoIterator<Item = Field<'v>>) -> [u8; ROW_HASH_LEN] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.name.as_bytes());
        let mut add = |kind: u8, bytes: &[u8]| {
            hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        for value in values {
            match value {
                Field::Null => add(0, &[]),
                Field::Int(number) => add(1, &number.to_le_bytes()),
                // SQLite does not keep the sign of zero.
                Field::Real(number) => add(2, &(number + 0.0).to_le_bytes()),
                Field::Text(text) => add(3, text),
                Field::Bytes(bytes) => add(4, bytes),
            }
        }
        let mut hash = [0; ROW_HASH_LEN];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }
}

#[derive(Clone, Copy)]
pub(super) enum Field<'v> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'v [u8]),
    Bytes(&'v [u8]),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_hash_depends_on_every_column() {
        let abc = Field::Text(b"abc");
        let rows: [&[Field<'_>]; 8] = [
            &[Field::Text(b"ab"), Field::Text(b"c")],
            &[Field::Text(b"a"), Field::Text(b"bc")],
            &[abc, Field::Null],
            &[abc, Field::Text(b"")],
            &[abc, Field::Int(0)],
            &[abc, Field::Real(0.0)],
            &[Field::Bytes(b"abc"), Field::Null],
            &[abc],
        ];
        let hash = |table: &Table, row: &[Field<'_>]| table.hash(row.iter().copied());
        let mut hashes: Vec<[u8; ROW_HASH_LEN]> = rows.iter().map(|row| hash(&SESSIONS, row)).collect();
        hashes.extend(rows.iter().map(|row| hash(&LEDGER, row)));
        let all = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
        assert_eq!(hash(&SESSIONS, &[Field::Real(-0.0)]), hash(&SESSIONS, &[Field::Real(0.0)]));
    }
}
