//! Documents that were taken apart, kept under the name of a session.

use super::Store;
use super::database::Taken;
use super::error::StoreError;
use super::moment::now_ms;
use super::tables::{SESSION_DOCUMENTS, SESSIONS};
use crate::format::session::IngestedV1;
use crate::ingest::{self, Document};
use serde::Serialize;

/// A session, and how much it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// What it is called.
    pub id: String,
    /// When it was begun, in milliseconds since 1970.
    pub created_ms: i64,
    /// How many documents it holds.
    pub documents: usize,
}

impl Store {
    /// The document of that name and content in a session; none where it was never kept, or by a reader of another version.
    pub fn session_document(&mut self, session: &str, name: &str, hash: &str) -> Result<Option<Document>, StoreError> {
        let own = "WHERE session = $1 AND name = $2 AND hash = $3 AND reader = $4";
        let values = vec![session.into(), name.into(), hash.into(), ingest::VERSION.into()];
        let Some(row) = self.database.select_one(&SESSION_DOCUMENTS, own, values)? else { return Ok(None) };
        let read = serde_json::from_str::<IngestedV1>(row.str(4)?).map_err(|error| error.to_string());
        let read = read.and_then(|kept| kept.into_document(name).ok_or_else(|| "its format is not known".to_owned()));
        read.map(Some).map_err(|why| self.bad_document(session, name, &why))
    }

    /// Keeps documents with the hashes of their bytes in a session, which is begun where it is not there. What is there already
    /// stays.
    pub fn keep_documents(&mut self, session: &str, documents: &[(&Document, &str)]) -> Result<(), StoreError> {
        let now = now_ms();
        let mut rows = Vec::new();
        for (document, hash) in documents {
            let text = self.json(&IngestedV1::from(*document))?;
            rows.push(vec![
                session.into(),
                document.name.as_str().into(),
                (*hash).into(),
                ingest::VERSION.into(),
                text.into(),
                now.into(),
            ]);
        }
        self.database.write(|database| {
            database.insert(&SESSIONS, vec![vec![session.into(), now.into()]], Taken::Keep)?;
            database.insert(&SESSION_DOCUMENTS, rows, Taken::Keep)
        })
    }

    /// All sessions, the newest last.
    pub fn sessions(&mut self) -> Result<Vec<SessionInfo>, StoreError> {
        let mut infos = Vec::new();
        for row in self.database.select(&SESSIONS, "ORDER BY created_ms, id", Vec::new())? {
            let (id, created_ms) = (row.text(0)?, row.int(1)?);
            let sql = "SELECT COUNT(*) FROM session_documents WHERE session = $1";
            let held = self.database.query_one(sql, vec![id.as_str().into()])?;
            let documents = held.map_or(Ok(0), |row| row.count(0))? as usize;
            infos.push(SessionInfo { id, created_ms, documents });
        }
        Ok(infos)
    }

    /// Removes a session and all that it holds; whether it was there.
    pub fn remove_session(&mut self, session: &str) -> Result<bool, StoreError> {
        self.database.write(|database| {
            database.execute("DELETE FROM session_documents WHERE session = $1", vec![session.into()])?;
            Ok(database.execute("DELETE FROM sessions WHERE id = $1", vec![session.into()])? > 0)
        })
    }

    /// Every kept document read; what is wrong with them comes as damage.
    pub(super) fn check_sessions(&mut self, found: &mut dyn FnMut(StoreError)) -> Result<(), StoreError> {
        for row in self.database.select_each(&SESSION_DOCUMENTS, "", Vec::new())? {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    found(error);
                    continue;
                }
            };
            let (session, name) = (row.text(0)?, row.text(1)?);
            if let Err(error) = serde_json::from_str::<IngestedV1>(row.str(4)?) {
                found(self.bad_document(&session, &name, &error.to_string()));
            }
        }
        Ok(())
    }

    fn bad_document(&self, session: &str, name: &str, why: &str) -> StoreError {
        let detail = format!("the document {name} of the session {session} cannot be read ({why})");
        StoreError::Damaged { file: self.database.file().to_owned(), detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Limits, ingest};

    #[test]
    fn documents_are_kept_by_name_and_content() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(folder.path()).unwrap();
        let document = ingest("a.md", b"# A\n\ntext\n", &Limits::default()).unwrap();
        assert_eq!(store.session_document("s", "a.md", "h1").unwrap(), None);
        store.keep_documents("s", &[(&document, "h1")]).unwrap();
        store.keep_documents("s", &[(&document, "h1")]).unwrap();
        assert_eq!(store.session_document("s", "a.md", "h1").unwrap(), Some(document));
        for (session, name, hash) in [("t", "a.md", "h1"), ("s", "b.md", "h1"), ("s", "a.md", "h2")] {
            assert_eq!(store.session_document(session, name, hash).unwrap(), None);
        }
        let told: Vec<(String, usize)> =
            store.sessions().unwrap().into_iter().map(|info| (info.id, info.documents)).collect();
        assert_eq!(told, [("s".to_owned(), 1)]);
        assert_eq!(store.verify().unwrap(), []);
        assert!(store.remove_session("s").unwrap() && !store.remove_session("s").unwrap());
        assert_eq!(store.sessions().unwrap(), []);
    }

    #[test]
    fn another_reader_may_see_other_sections() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(folder.path()).unwrap();
        let document = ingest("a.md", b"# A\n\ntext\n", &Limits::default()).unwrap();
        store.keep_documents("s", &[(&document, "h1")]).unwrap();
        let older = "UPDATE session_documents SET reader = reader - 1";
        store.database.write(|database| database.execute(older, Vec::new())).unwrap();
        store.database.rehash();
        assert_eq!(store.session_document("s", "a.md", "h1").unwrap(), None);
    }

    #[test]
    fn damage_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(folder.path()).unwrap();
        let document = ingest("a.md", b"# A\n\ntext\n", &Limits::default()).unwrap();
        store.keep_documents("s", &[(&document, "h1")]).unwrap();
        let broken = "UPDATE session_documents SET document = '{'";
        store.database.write(|database| database.execute(broken, Vec::new())).unwrap();
        store.database.rehash();
        let told = store.session_document("s", "a.md", "h1").unwrap_err().to_string();
        assert!(told.contains("the document a.md of the session s cannot be read"), "{told}");
        assert_eq!(store.verify().unwrap().len(), 1);
    }
}
