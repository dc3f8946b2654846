//! What tests do to object storage.

use super::sweep::delete;
use crate::Store;
use crate::object_storage::ListedObject;
use std::time::Duration;

impl Store {
    pub(crate) fn delete_all_objects(&mut self) {
        let storage = self.connect().unwrap().unwrap();
        for group in storage.groups().unwrap() {
            storage.objects(&group).unwrap().iter().for_each(|object| storage.delete(&object.name).unwrap());
        }
    }

    pub(crate) fn listed_objects(&mut self) -> usize {
        self.list_objects().len()
    }

    pub(crate) fn list_objects(&mut self) -> Vec<ListedObject> {
        let storage = self.connect().unwrap().unwrap();
        storage.groups().unwrap().iter().flat_map(|group| storage.objects(group).unwrap()).collect()
    }

    /// What garbage collection does with objects that it has listed; returns how many it deleted.
    pub(crate) fn delete_listed(&mut self, listed: &[ListedObject], grace: Duration) -> u64 {
        let storage = self.connect().unwrap().unwrap();
        let oldest_ms = storage.now_ms().unwrap() - i64::try_from(grace.as_millis()).unwrap();
        self.database.write(|database| delete(database, &storage, listed, (oldest_ms, oldest_ms))).unwrap().0
    }
}
