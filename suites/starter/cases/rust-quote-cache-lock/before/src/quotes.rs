//! Prices for a currency exchange, asked of the upstream market.

use std::sync::Arc;

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

/// Answers quote requests.
pub struct QuoteDesk<M> {
    market: Arc<M>,
}

impl<M: Market> QuoteDesk<M> {
    pub fn new(market: Arc<M>) -> Self {
        Self { market }
    }

    /// Asks the market.
    pub async fn quote(&self, request: &QuoteRequest) -> Result<Quote, QuoteError> {
        self.market.fetch(request).await
    }
}
