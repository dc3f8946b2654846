//! Options of the engine.

use crate::ledger::CacheMode;
use crate::provider::{Provider, ProviderError};
use karat_format::judge::JudgeConfigV1;
use karat_format::models::ModelV1;
use karat_format::quantity;
use std::time::Duration;

/// Options of an [`Engine`](super::Engine).
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct EngineOptions {
    pub cache: CacheMode,
    pub concurrency: usize,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
    pub timeout: Duration,
    pub retries: u32,
    /// The longest wait after the first failure; doubles with every further one.
    pub backoff: Duration,
    /// The longest wait, even where a server asks for more.
    pub longest_wait: Duration,
    /// Overrides the question's own limit on the answer, in tokens.
    pub max_tokens: Option<u32>,
    pub prices: Option<Prices>,
    pub budget_usd: Option<f64>,
    /// The most requests, retries included.
    pub budget_calls: Option<u64>,
    pub seed: u64,
    pub start: StartMode,
}

/// How the first questions are sent, and when to give up on a provider that answers none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartMode {
    /// One at a time until one is answered. Gives up after three consecutive failures with the same message.
    #[default]
    Cautious,
    /// The first one alone, then all at once. Gives up only after twenty were rejected and none was answered.
    Independent,
}

/// USD for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Prices {
    pub input: f64,
    pub output: f64,
}

impl Prices {
    /// Those of a model, where they are known.
    pub fn of_model(model: &ModelV1) -> Option<Self> {
        Some(Self { input: model.input?, output: model.output? })
    }

    /// The cost of a number of tokens, in USD.
    pub fn cost(self, tokens_in: u64, tokens_out: u64) -> f64 {
        (tokens_in as f64 * self.input + tokens_out as f64 * self.output) / 1e6
    }
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            cache: CacheMode::default(),
            concurrency: 16,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout: Duration::from_secs(120),
            // If three requests in ten fail, one question in half a million stays unanswered.
            retries: 10,
            backoff: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            max_tokens: None,
            prices: None,
            budget_usd: None,
            budget_calls: None,
            seed: 0,
            start: StartMode::Cautious,
        }
    }
}

impl EngineOptions {
    /// The options of a judge with this provider: prices that are not configured are those of the table of models.
    pub fn for_provider(
        config: &JudgeConfigV1,
        cache: CacheMode,
        provider: &dyn Provider,
    ) -> Result<Self, ProviderError> {
        let own = Self::from_config(config, cache)?;
        let prices = own.prices.or_else(|| provider.known_model().and_then(Prices::of_model));
        if own.budget_usd.is_some() && prices.is_none() {
            let reason = "what tokens of the model cost is not known; give `price_in` and `price_out`".to_owned();
            return Err(ProviderError::BadValue { field: "budget_usd", reason });
        }
        Ok(Self { prices, ..own })
    }

    /// The options that the configuration itself states, with defaults for the rest.
    pub fn from_config(config: &JudgeConfigV1, cache: CacheMode) -> Result<Self, ProviderError> {
        let bad = |field, reason: String| ProviderError::BadValue { field, reason };
        let defaults = Self::default();
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
        Ok(Self {
            cache,
            concurrency: config.concurrency.map_or(defaults.concurrency, |most| (most.max(1)) as usize),
            requests_per_minute: config.requests_per_minute,
            tokens_per_minute: config.tokens_per_minute,
            timeout: timeout.unwrap_or(defaults.timeout),
            retries: config.retries.unwrap_or(defaults.retries),
            max_tokens: config.max_tokens,
            prices,
            budget_usd,
            budget_calls: config.budget_calls,
            ..defaults
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ProviderEnv;
    use crate::providers;
    use std::path::Path;

    #[test]
    fn settings_are_converted_to_options() {
        let options = |toml: &str| {
            let config: JudgeConfigV1 = toml::from_str(&format!("provider = \"openai\"\n{toml}")).unwrap();
            EngineOptions::from_config(&config, CacheMode::Only).map_err(|error| error.to_string())
        };
        assert_eq!(options("").unwrap(), EngineOptions { cache: CacheMode::Only, ..EngineOptions::default() });
        let stated =
            options("timeout = \"90s\"\nprice_in = 3\nprice_out = 15\nbudget_usd = 1\nconcurrency = 4\nretries = 0")
                .unwrap();
        assert_eq!((stated.timeout, stated.concurrency, stated.retries), (Duration::from_secs(90), 4, 0));
        assert_eq!(stated.prices.unwrap().cost(1_000_000, 100_000), 4.5);
        let check = |toml: &str, expect: &str| assert!(options(toml).unwrap_err().contains(expect), "{toml}");
        check("timeout = \"soon\"", "`timeout` of the judge");
        check("price_in = 1", "give both");
        check("price_in = -1\nprice_out = 1", "no price");
    }

    #[test]
    fn prices_are_configured_or_those_of_the_model() {
        let options = |toml: &str| {
            let config: JudgeConfigV1 = toml::from_str(&format!("provider = \"anthropic\"\n{toml}")).unwrap();
            let env = ProviderEnv { variable: &|_| None, folder: Path::new("") };
            let provider = providers::open(&config, &env).unwrap();
            let options = EngineOptions::for_provider(&config, CacheMode::Only, &*provider);
            options.map(|options| options.prices).map_err(|error| error.to_string())
        };
        assert_eq!(options(""), Ok(Some(Prices { input: 2.0, output: 10.0 })));
        assert_eq!(options("budget_usd = 1"), Ok(Some(Prices { input: 2.0, output: 10.0 })));
        assert_eq!(options("price_in = 1\nprice_out = 3"), Ok(Some(Prices { input: 1.0, output: 3.0 })));
        assert_eq!(options("model = \"claude-of-mine\""), Ok(None));
        let message = options("model = \"claude-of-mine\"\nbudget_usd = 1").unwrap_err();
        assert!(message.contains("give `price_in` and `price_out`"), "{message}");
    }
}
