-- Every row has a hash of its other columns: the first 16 bytes of BLAKE3. Rows without one get it in the same transaction.

DROP TRIGGER labels_are_never_overwritten;
DROP TRIGGER extra_labels_are_never_overwritten;
DROP TRIGGER audit_labels_are_never_overwritten;
DROP TRIGGER probes_are_never_overwritten;

ALTER TABLE karat_schema ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE artifacts ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE runs ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE tool_facts ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE trials ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE trial_artifacts ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE judgements ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE scratch_folders ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE ledger ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE label_pairs ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE labels ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE extra_texts ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE extra_labels ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE audit_texts ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE audit_labels ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE probes ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE session_documents ADD COLUMN row_hash BLOB NOT NULL DEFAULT x'';

-- Giving a row its first hash changes nothing that anybody said.
CREATE TRIGGER labels_are_never_overwritten BEFORE UPDATE ON labels WHEN OLD.row_hash <> x''
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER extra_labels_are_never_overwritten BEFORE UPDATE ON extra_labels WHEN OLD.row_hash <> x''
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER audit_labels_are_never_overwritten BEFORE UPDATE ON audit_labels WHEN OLD.row_hash <> x''
BEGIN SELECT RAISE(ABORT, 'labels are never overwritten'); END;

CREATE TRIGGER probes_are_never_overwritten BEFORE UPDATE ON probes WHEN OLD.row_hash <> x''
BEGIN SELECT RAISE(ABORT, 'probes are never overwritten'); END;
