//! How questions are asked.

use crate::format::judge::JudgeConfigV1;
use crate::format::quantity;
use crate::judge::ledger::CacheMode;
use crate::judge::provider::ProviderError;
use std::time::Duration;

/// How questions are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOptions {
    /// What the ledger is used for.
    pub cache: CacheMode,
    /// How many requests are under way at once.
    pub concurrency: usize,
    /// The most requests in a minute.
    pub requests_per_minute: Option<u32>,
    /// The longest one request may take.
    pub timeout: Duration,
    /// How often a request that failed for a passing reason is made again.
    pub retries: u32,
    /// The longest wait after the first failure; it doubles with every further one.
    pub backoff: Duration,
    /// The longest wait there is, also where a server asks for more.
    pub longest_wait: Duration,
    /// The longest answer, in tokens, where it differs from the question's own limit.
    pub max_tokens: Option<u32>,
    /// What tokens cost.
    pub prices: Option<Prices>,
    /// The most it may cost, in USD.
    pub budget_usd: Option<f64>,
    /// The most requests, those made again included.
    pub budget_calls: Option<u64>,
    /// Waits are drawn from this, so that they are the same the next time.
    pub seed: u64,
    /// How the first questions are asked.
    pub start: Start,
}

/// How the first questions are asked, and when a provider is given up that answers none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// One at a time until one is answered. When three in a row fail with the same words, the rest are not asked.
    #[default]
    Cautious,
    /// The first one alone, and then all at once: each question is a measurement, and its failure a result. Only where twenty
    /// are rejected and none is answered, the rest are not asked.
    Independent,
}

/// What a million tokens cost, in USD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Of those that are sent.
    pub input: f64,
    /// Of those that are answered.
    pub output: f64,
}

impl Prices {
    /// What so many tokens cost, in USD.
    pub fn of(self, tokens_in: u64, tokens_out: u64) -> f64 {
        (tokens_in as f64 * self.input + tokens_out as f64 * self.output) / 1e6
    }
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            cache: CacheMode::default(),
            concurrency: 16,
            requests_per_minute: None,
            timeout: Duration::from_secs(120),
            // Where three requests in ten fail, one question in half a million is left without an answer.
            retries: 10,
            backoff: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            max_tokens: None,
            prices: None,
            budget_usd: None,
            budget_calls: None,
            seed: 0,
            start: Start::Cautious,
        }
    }
}

impl EngineOptions {
    /// The options a judge states, and the usual ones for the rest.
    pub fn of(config: &JudgeConfigV1, cache: CacheMode) -> Result<Self, ProviderError> {
        let bad = |field, reason: String| ProviderError::BadValue { field, reason };
        let usual = Self::default();
        let timeout =
            config.timeout.as_deref().map(quantity::duration).transpose().map_err(|why| bad("timeout", why))?;
        let price = |field, price: Option<f64>| match price {
            Some(price) if !(price.is_finite() && price >= 0.0) => Err(bad(field, format!("{price} is no price"))),
            price => Ok(price),
        };
        let prices = match (price("price_in", config.price_in)?, price("price_out", config.price_out)?) {
            (Some(input), Some(output)) => Some(Prices { input, output }),
            (None, None) => None,
            (Some(_), None) => return Err(bad("price_out", "`price_in` is given without it; give both".to_owned())),
            (None, Some(_)) => return Err(bad("price_in", "`price_out` is given without it; give both".to_owned())),
        };
        let budget_usd = price("budget_usd", config.budget_usd)?;
        if budget_usd.is_some() && prices.is_none() {
            return Err(bad("budget_usd", "what tokens cost is not known; give `price_in` and `price_out`".to_owned()));
        }
        Ok(Self {
            cache,
            concurrency: config.concurrency.map_or(usual.concurrency, |most| (most.max(1)) as usize),
            requests_per_minute: config.requests_per_minute,
            timeout: timeout.unwrap_or(usual.timeout),
            retries: config.retries.unwrap_or(usual.retries),
            max_tokens: config.max_tokens,
            prices,
            budget_usd,
            budget_calls: config.budget_calls,
            ..usual
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_options() {
        let options = |toml: &str| {
            let config: JudgeConfigV1 = toml::from_str(&format!("provider = \"openai\"\n{toml}")).unwrap();
            EngineOptions::of(&config, CacheMode::Only).map_err(|error| error.to_string())
        };
        assert_eq!(options("").unwrap(), EngineOptions { cache: CacheMode::Only, ..EngineOptions::default() });
        let stated =
            options("timeout = \"90s\"\nprice_in = 3\nprice_out = 15\nbudget_usd = 1\nconcurrency = 4\nretries = 0")
                .unwrap();
        assert_eq!((stated.timeout, stated.concurrency, stated.retries), (Duration::from_secs(90), 4, 0));
        assert_eq!(stated.prices.unwrap().of(1_000_000, 100_000), 4.5);
        let check = |toml: &str, expect: &str| assert!(options(toml).unwrap_err().contains(expect), "{toml}");
        check("timeout = \"soon\"", "`timeout` of the judge");
        check("budget_usd = 1", "give `price_in` and `price_out`");
        check("price_in = 1", "give both");
        check("price_in = -1\nprice_out = 1", "no price");
    }
}
