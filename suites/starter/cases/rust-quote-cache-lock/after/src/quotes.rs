//! Prices for a currency exchange, asked of the upstream market and remembered for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// What a client asks for. The amount is in minor units and comes from the request as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuoteRequest {
    pub base: String,
    pub counter: String,
    pub amount: u64,
}

/// A price for one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    pub rate: f64,
    pub amount: u64,
}

/// Why there is no price.
#[derive(Clone, Debug, PartialEq)]
pub enum QuoteError {
    UnknownPair,
    Upstream(String),
}

/// The upstream market; an answer takes 200 ms on a good day.
pub trait Market: Send + Sync {
    fn fetch(&self, request: &QuoteRequest) -> impl Future<Output = Result<Quote, QuoteError>> + Send;
}

struct Remembered {
    quote: Quote,
    at: Instant,
}

/// Answers quote requests, from memory where a price is no older than `keep_for`.
pub struct QuoteDesk<M> {
    market: Arc<M>,
    keep_for: Duration,
    remembered: Mutex<HashMap<QuoteRequest, Remembered>>,
}

impl<M: Market> QuoteDesk<M> {
    pub fn new(market: Arc<M>, keep_for: Duration) -> Self {
        Self { market, keep_for, remembered: Mutex::new(HashMap::new()) }
    }

    /// Answers from memory, or asks the market.
    pub async fn quote(&self, request: &QuoteRequest) -> Result<Quote, QuoteError> {
        let mut remembered = self.remembered.lock().await;
        if let Some(known) = remembered.get(request) {
            if known.at.elapsed() >= self.keep_for {
                return Ok(known.quote.clone());
            }
        }
        let quote = self.market.fetch(request).await?;
        remembered.insert(request.clone(), Remembered { quote: quote.clone(), at: Instant::now() });
        Ok(quote)
    }

    /// How many prices are held in memory, for the metrics page.
    pub async fn held(&self) -> usize {
        self.remembered.lock().await.len()
    }
}
