//! The tables of a store. Every row has a hash of its other columns, written and checked by the database module, so damaged
//! rows are never read.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// All columns but the hash, in the order in which they are written, read and hashed.
    pub(super) columns: &'static [&'static str],
    /// The number of leading columns that form the key.
    pub(super) key: usize,
    /// A consecutively numbered column and the expression that groups its numbering; a missing row leaves a gap.
    pub(super) counted: Option<(&'static str, &'static str)>,
}

pub(super) const ROW_HASH: &str = "row_hash";

/// A truncated BLAKE3; enough to detect any accident.
pub(super) const ROW_HASH_LEN: usize = 16;

pub(super) const TABLES: &[&Table] = &[
    &SCHEMA,
    &ARTIFACTS,
    &RUNS,
    &TOOL_FACTS,
    &TRIALS,
    &TRIAL_ARTIFACTS,
    &JUDGEMENTS,
    &SCRATCH_FOLDERS,
    &LEDGER,
    &SENT_QUESTIONS,
    &LABEL_SUBJECTS,
    &LABELS,
    &PROBES,
    &SESSIONS,
    &SESSION_DOCUMENTS,
];

pub(super) const SCHEMA: Table = table("karat_schema", &["version", "applied_ms"], 1);

pub(super) const ARTIFACTS: Table = table("artifacts", &["hash", "size", "coding", "content"], 1);

pub(super) const RUNS: Table = table(
    "runs",
    &[
        "id",
        "name",
        "created_ms",
        "ended_ms",
        "state",
        "suite_name",
        "suite_digest",
        "snapshot",
        "plan",
        "planned",
        "report",
        "scratch",
        "karat",
        "imported",
    ],
    1,
);

pub(super) const TOOL_FACTS: Table =
    table("tool_facts", &["run_id", "tool", "position", "facts"], 3).counting("position", "run_id || ' ' || tool");

pub(super) const TRIALS: Table =
    table("trials", &["run_id", "tool", "case_id", "number", "attempt", "position", "outcome", "line", "detail"], 5)
        .counting("position", "run_id");

pub(super) const TRIAL_ARTIFACTS: Table =
    table("trial_artifacts", &["run_id", "tool", "case_id", "number", "attempt", "name", "hash"], 6);

pub(super) const JUDGEMENTS: Table =
    table("judgements", &["run_id", "position", "line"], 2).counting("position", "run_id");

pub(super) const SCRATCH_FOLDERS: Table = table("scratch_folders", &["folder", "run_id"], 1);

pub(super) const LEDGER: Table = table("ledger", &["key", "exchange", "created_ms"], 1);

pub(super) const SENT_QUESTIONS: Table = table("sent_questions", &["key", "sent_ms"], 1);

pub(super) const LABEL_SUBJECTS: Table = table("label_subjects", &["key", "shown"], 1);

pub(super) const LABELS: Table = table(
    "labels",
    &[
        "sequence",
        "kind",
        "subject",
        "case_id",
        "golden",
        "annotator",
        "revision",
        "decision",
        "partial",
        "confidence",
        "note",
        "picked_with_probability",
        "made_ms",
        "source",
    ],
    1,
)
.counting("sequence", "''");

pub(super) const PROBES: Table =
    table("probes", &["sequence", "judge", "identity", "scorecard", "made_ms"], 1).counting("sequence", "''");

pub(super) const SESSIONS: Table = table("sessions", &["id", "created_ms"], 1);

pub(super) const SESSION_DOCUMENTS: Table =
    table("session_documents", &["session", "name", "hash", "reader", "document", "kept_ms"], 4);

const fn table(name: &'static str, columns: &'static [&'static str], key: usize) -> Table {
    Table { name, columns, key, counted: None }
}

impl Table {
    const fn counting(self, column: &'static str, within: &'static str) -> Self {
        Self { counted: Some((column, within)), ..self }
    }

    pub(super) fn all_columns(&self) -> String {
        format!("{}, {ROW_HASH}", self.columns.join(", "))
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
