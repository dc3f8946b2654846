//! What tests do to object storage.

use crate::Store;

impl Store {
    pub(crate) fn delete_all_objects(&mut self) {
        let storage = self.connect().unwrap().unwrap();
        for group in storage.groups().unwrap() {
            storage.objects(&group).unwrap().iter().for_each(|object| storage.delete(&object.name).unwrap());
        }
    }

    pub(crate) fn listed_objects(&mut self) -> usize {
        let storage = self.connect().unwrap().unwrap();
        storage.groups().unwrap().iter().map(|group| storage.objects(group).unwrap().len()).sum()
    }
}
