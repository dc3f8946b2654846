//! Ingested documents, stored by session.

use super::tables::{SESSION_DOCUMENTS, SESSIONS};
use super::verify::Problems;
use super::{OnConflict, Result, Store};
use karat_format::session::IngestedV1;
use serde::Serialize;

/// Summary of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SessionInfo {
    pub id: String,
    pub created_ms: i64,
    pub documents: usize,
}

/// A document of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SessionDocument {
    pub name: String,
    pub hash: String,
    pub reader: i64,
    pub document: IngestedV1,
}

impl Store {
    /// The stored document of that name and content; `None` if missing or read by another reader version.
    pub fn session_document(
        &mut self,
        session: &str,
        name: &str,
        hash: &str,
        reader: i64,
    ) -> Result<Option<IngestedV1>> {
        let own = "WHERE session = $1 AND name = $2 AND hash = $3 AND reader = $4";
        let values = vec![session.into(), name.into(), hash.into(), reader.into()];
        let Some(row) = self.database.select_one(&SESSION_DOCUMENTS, own, values)? else { return Ok(None) };
        self.database.parse_json(row.get(4)?, || document_name(session, name)).map(Some)
    }

    /// All documents of a session, oldest first.
    pub fn session_documents(&mut self, session: &str) -> Result<Vec<SessionDocument>> {
        let own = "WHERE session = $1 ORDER BY kept_ms, name, hash";
        let mut documents = Vec::new();
        for row in self.database.select(&SESSION_DOCUMENTS, own, vec![session.into()])? {
            let (name, hash, reader): (String, String, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let document = self.database.parse_json(row.get(4)?, || document_name(session, &name))?;
            documents.push(SessionDocument { name, hash, reader, document });
        }
        Ok(documents)
    }

    /// Stores documents in a session, creating it if missing; existing ones are kept.
    pub fn save_documents(&mut self, session: &str, documents: &[SessionDocument]) -> Result<()> {
        let mut rows = Vec::new();
        for document in documents {
            rows.push(vec![
                session.into(),
                document.name.as_str().into(),
                document.hash.as_str().into(),
                document.reader.into(),
                self.database.json(&document.document)?.into(),
            ]);
        }
        self.database.write(|database| {
            let now = database.now_ms()?;
            let mut rows = database.consume(&mut rows);
            rows.iter_mut().for_each(|row| row.push(now.into()));
            database.insert(&SESSIONS, vec![vec![session.into(), now.into()]], OnConflict::Ignore)?;
            database.insert(&SESSION_DOCUMENTS, rows, OnConflict::Ignore)
        })
    }

    /// All sessions, newest last.
    pub fn sessions(&mut self) -> Result<Vec<SessionInfo>> {
        let mut infos = Vec::new();
        for row in self.database.select(&SESSIONS, "ORDER BY created_ms, id", Vec::new())? {
            let (id, created_ms): (String, i64) = (row.get(0)?, row.get(1)?);
            let sql = "SELECT COUNT(*) FROM session_documents WHERE session = $1";
            let documents = self.database.query_count(sql, vec![id.as_str().into()])? as usize;
            infos.push(SessionInfo { id, created_ms, documents });
        }
        Ok(infos)
    }

    /// Removes a session; returns whether it existed.
    pub fn remove_session(&mut self, session: &str) -> Result<bool> {
        self.database.write(|database| {
            database.execute("DELETE FROM session_documents WHERE session = $1", vec![session.into()])?;
            Ok(database.execute("DELETE FROM sessions WHERE id = $1", vec![session.into()])? > 0)
        })
    }

    pub(super) fn check_sessions(&mut self, found: &mut Problems) -> Result<()> {
        for row in self.database.select_each(&SESSION_DOCUMENTS, "", Vec::new())? {
            let Some(row) = found.record(row)? else { continue };
            let (session, name): (&str, &str) = (row.get(0)?, row.get(1)?);
            found.record(self.database.parse_json::<IngestedV1>(row.get(4)?, || document_name(session, name)))?;
        }
        Ok(())
    }
}

fn document_name(session: &str, name: &str) -> String {
    format!("the document {name} of the session {session}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{StoreDir, on_each_engine};
    use karat_format::session::{IngestedSectionV1, PlaceV1, UnitV1};

    on_each_engine!(
        documents_are_stored_by_name_and_content,
        documents_are_stored_per_reader_version,
        damaged_documents_are_reported,
    );

    fn document() -> SessionDocument {
        let section = IngestedSectionV1 {
            id: "1".to_owned(),
            heading: "A".to_owned(),
            path: Vec::new(),
            level: 1,
            number: None,
            body: "text".to_owned(),
            place: PlaceV1 { unit: UnitV1::Line, first: 1, last: 3 },
        };
        let document = IngestedV1 { format: "markdown".to_owned(), sections: vec![section], notes: Vec::new() };
        SessionDocument { name: "a.md".to_owned(), hash: "h1".to_owned(), reader: 2, document }
    }

    fn documents_are_stored_by_name_and_content() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        assert_eq!(store.session_document("s", "a.md", "h1", 2).unwrap(), None);
        store.save_documents("s", &[document()]).unwrap();
        store.save_documents("s", &[document()]).unwrap();
        assert_eq!(store.session_document("s", "a.md", "h1", 2).unwrap(), Some(document().document));
        for (session, name, hash) in [("t", "a.md", "h1"), ("s", "b.md", "h1"), ("s", "a.md", "h2")] {
            assert_eq!(store.session_document(session, name, hash, 2).unwrap(), None);
        }
        assert_eq!(store.session_documents("s").unwrap(), [document()]);
        assert_eq!(store.session_documents("t").unwrap(), []);
        let found: Vec<(String, usize)> =
            store.sessions().unwrap().into_iter().map(|info| (info.id, info.documents)).collect();
        assert_eq!(found, [("s".to_owned(), 1)]);
        assert_eq!(store.verify().unwrap(), []);
        assert!(store.remove_session("s").unwrap() && !store.remove_session("s").unwrap());
        assert_eq!(store.sessions().unwrap(), []);
    }

    fn documents_are_stored_per_reader_version() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        store.save_documents("s", &[document()]).unwrap();
        assert_eq!(store.session_document("s", "a.md", "h1", 3).unwrap(), None);
    }

    fn damaged_documents_are_reported() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        store.save_documents("s", &[document()]).unwrap();
        let broken = "UPDATE session_documents SET document = '{'";
        store.database.write(|database| database.execute(broken, Vec::new())).unwrap();
        store.database.rehash();
        let found = store.session_document("s", "a.md", "h1", 2).unwrap_err().to_string();
        assert!(found.contains("the document a.md of the session s cannot be read"), "{found}");
        assert_eq!(store.verify().unwrap().len(), 1);
    }
}
