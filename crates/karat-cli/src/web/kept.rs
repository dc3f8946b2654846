//! What is costly to make, made once for everyone who asks for it.

use super::fault::Fault;
use axum::http::StatusCode;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// Values by key. Of each, one is made while others wait for it; those that were asked for longest ago go first.
#[derive(Debug)]
pub(crate) struct Kept<V> {
    /// Asked for last at the end.
    slots: Mutex<Vec<Slot<V>>>,
    most: usize,
    weight: usize,
    weigh: fn(&V) -> usize,
}

#[derive(Debug)]
struct Slot<V> {
    key: String,
    cell: Arc<OnceCell<V>>,
}

impl<V: Clone + Send + Sync + 'static> Kept<V> {
    /// So many values at most, that together weigh so much at most.
    pub(crate) fn new(most: usize, weight: usize, weigh: fn(&V) -> usize) -> Arc<Self> {
        Arc::new(Self { slots: Mutex::default(), most, weight, weigh })
    }

    /// The value of a key: the one that is there, the one that is being made, or a new one. A failure is not kept.
    pub(crate) async fn get(
        self: &Arc<Self>,
        key: String,
        make: impl Future<Output = Result<V, Fault>> + Send + 'static,
    ) -> Result<V, Fault> {
        let cell = self.cell(&key);
        if let Some(there) = cell.get() {
            return Ok(there.clone());
        }
        let own = Arc::clone(self);
        // On a task of its own, so that it is made for the others when the first who asked has gone away.
        let made = tokio::spawn(async move {
            let value = cell.get_or_try_init(|| make).await.cloned();
            own.lighten(&key);
            value
        });
        let broken =
            |_| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "Karat made a mistake of its own; please report it.");
        made.await.map_err(broken)?
    }

    fn cell(&self, key: &str) -> Arc<OnceCell<V>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match slots.iter().position(|slot| slot.key == key) {
            Some(at) => slots.remove(at),
            None => Slot { key: key.to_owned(), cell: Arc::default() },
        };
        let cell = Arc::clone(&slot.cell);
        slots.push(slot);
        let over = slots.len().saturating_sub(self.most);
        slots.drain(..over);
        cell
    }

    /// Drops what was asked for longest ago until the rest is light enough. The one that was just made stays.
    fn lighten(&self, key: &str) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let weigh = |slot: &Slot<V>| slot.cell.get().map_or(0, self.weigh);
        let mut total: usize = slots.iter().map(weigh).sum();
        while total > self.weight {
            let Some(at) = slots.iter().position(|slot| slot.key != key && slot.cell.initialized()) else { return };
            total -= weigh(&slots.remove(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn within<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn what_many_ask_for_is_made_once() {
        let made = Arc::new(AtomicUsize::new(0));
        within(async {
            let kept: Arc<Kept<String>> = Kept::new(4, 100, String::len);
            let mut asked = Vec::new();
            for _ in 0..50 {
                let (kept, made) = (Arc::clone(&kept), Arc::clone(&made));
                asked.push(tokio::spawn(async move {
                    let make = async move {
                        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
                        made.fetch_add(1, Ordering::SeqCst);
                        Ok("page".to_owned())
                    };
                    kept.get("a".to_owned(), make).await
                }));
            }
            for one in asked {
                assert_eq!(one.await.unwrap().unwrap(), "page");
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn what_was_asked_for_longest_ago_goes_and_failures_are_not_kept() {
        within(async {
            let kept: Arc<Kept<String>> = Kept::new(3, 10, String::len);
            let keys = |kept: &Kept<String>| {
                let slots = kept.slots.lock().unwrap();
                slots
                    .iter()
                    .filter(|slot| slot.cell.initialized())
                    .map(|slot| slot.key.clone())
                    .collect::<Vec<_>>()
                    .join("")
            };
            for key in ["a", "b", "c"] {
                kept.get(key.to_owned(), async { Ok("xxx".to_owned()) }).await.unwrap();
            }
            kept.get("a".to_owned(), async { Ok("other".to_owned()) }).await.unwrap();
            kept.get("d".to_owned(), async { Ok("x".to_owned()) }).await.unwrap();
            assert_eq!(keys(&kept), "cad", "b was asked for longest ago");
            kept.get("e".to_owned(), async { Ok("xxxxxxxxxxxx".to_owned()) }).await.unwrap();
            assert_eq!(keys(&kept), "e", "too heavy for company, and kept nevertheless");
            let failed = kept.get("f".to_owned(), async { Err(Fault::new(StatusCode::NOT_FOUND, "no")) }).await;
            assert!(failed.is_err());
            assert_eq!(kept.get("f".to_owned(), async { Ok("now".to_owned()) }).await.unwrap(), "now");
        });
    }
}
