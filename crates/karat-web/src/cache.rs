//! Values that are costly to make, each made once for everyone who asks.

use super::reply::Fault;
use axum::http::StatusCode;
use quick_cache::sync::{Cache as Entries, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use std::sync::Arc;

/// A bounded cache. One request makes a value while others for the same key wait; failures are not cached.
pub(crate) struct Cache<V>(Entries<String, V, Weight<V>>);

struct Weight<V>(fn(&V) -> usize);

// Derived, it would ask for `V: Clone`.
impl<V> Clone for Weight<V> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<V> Weighter<String, V> for Weight<V> {
    fn weight(&self, _: &String, value: &V) -> u64 {
        ((self.0)(value) as u64).max(1)
    }
}

impl<V: Clone + Send + Sync + 'static> Cache<V> {
    pub(crate) fn new(entries: usize, capacity: u64, weigh: fn(&V) -> usize) -> Arc<Self> {
        let mut options = OptionsBuilder::new();
        // With more shards a value could fill no more than its shard.
        options.shards(1).estimated_items_capacity(entries).weight_capacity(capacity);
        #[expect(clippy::expect_used, reason = "both required options are set above")]
        let options = options.build().expect("a complete set of options");
        let hasher = DefaultHashBuilder::default();
        Arc::new(Self(Entries::with_options(options, Weight(weigh), hasher, DefaultLifecycle::default())))
    }

    pub(crate) async fn get(
        self: &Arc<Self>,
        key: String,
        make: impl Future<Output = Result<V, Fault>> + Send + 'static,
    ) -> Result<V, Fault> {
        if let Some(value) = self.0.get(&key) {
            return Ok(value);
        }
        let cache = Arc::clone(self);
        // On a task of its own, so that the others still get it if the first client disconnects.
        let made = tokio::spawn(async move { cache.0.get_or_insert_async(&key, make).await });
        let panicked = |_| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error; please report it.");
        made.await.map_err(panicked)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn concurrent_requests_compute_a_value_once() {
        let computed = Arc::new(AtomicUsize::new(0));
        block_on(async {
            let cache: Arc<Cache<String>> = Cache::new(4, 100, String::len);
            let mut requests = Vec::new();
            for _ in 0..50 {
                let cache = Arc::clone(&cache);
                let computed = Arc::clone(&computed);
                requests.push(tokio::spawn(async move {
                    let make = async move {
                        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
                        computed.fetch_add(1, Ordering::SeqCst);
                        Ok("page".to_owned())
                    };
                    cache.get("a".to_owned(), make).await
                }));
            }
            for request in requests {
                assert_eq!(request.await.unwrap().unwrap(), "page");
            }
        });
        assert_eq!(computed.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn cache_is_bounded_and_errors_are_not_cached() {
        block_on(async {
            let cache: Arc<Cache<String>> = Cache::new(4, 10, String::len);
            for key in ["a", "b", "c", "d"] {
                cache.get(key.to_owned(), async { Ok("xxxx".to_owned()) }).await.unwrap();
            }
            assert!(cache.0.weight() <= 10);
            cache.get("e".to_owned(), async { Ok("x".repeat(50)) }).await.unwrap();
            assert!(cache.0.weight() <= 10, "a value heavier than the cache was cached");
            let failed = cache.get("f".to_owned(), async { Err(Fault::new(StatusCode::NOT_FOUND, "no")) }).await;
            assert!(failed.is_err());
            assert_eq!(cache.get("f".to_owned(), async { Ok("now".to_owned()) }).await.unwrap(), "now");
        });
    }
}
