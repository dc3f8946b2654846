//! Tokens and session secrets, their expiry, and the rate limit for wrong ones.

use karat::failure::Failure;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A secret. A generated one is printed once, a chosen one never.
#[derive(Clone)]
pub(crate) struct Token {
    pub(crate) secret: String,
    pub(crate) chosen: bool,
}

/// A shorter token could be guessed.
const SHORTEST: usize = 16;
/// A longer one would not fit into a cookie.
const LONGEST: usize = 256;

impl Token {
    pub(crate) fn chosen(text: &str) -> Result<Self, Failure> {
        let advice = "generate one with `openssl rand -hex 24`, or omit --token to let Karat generate one";
        // The token must need no escaping in an address, a cookie or a header.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let invalid = |expected: &str| Failure::usage(format!("invalid token: expected {expected}; {advice}"));
        if text.len() < SHORTEST || text.len() > LONGEST {
            return Err(invalid(&format!("{SHORTEST} to {LONGEST} characters")));
        }
        if !text.chars().all(plain) {
            return Err(invalid("only letters, digits, -, ., _ and ~"));
        }
        Ok(Self { secret: text.to_owned(), chosen: true })
    }

    pub(crate) fn made() -> Result<Self, Failure> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes)
            .map_err(|error| Failure::failed(format!("could not read random bytes from the system: {error}")))?;
        Ok(Self { secret: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), chosen: false })
    }

    /// Compares a presented token in constant time.
    pub(crate) fn is(&self, shown: &str) -> bool {
        let (own, shown) = (self.secret.as_bytes(), shown.as_bytes());
        let differ = own.iter().zip(shown).fold(0, |differ, (a, b)| std::hint::black_box(differ | (a ^ b)));
        own.len() == shown.len() && differ == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(secret)")
    }
}

/// A token, which a browser presents once, and the secret of the session cookie that it gets in return.
///
/// The cookie does not contain the token: after many wrong tokens, tokens are refused unchecked, and that must not lock out
/// browsers with a session. So its secret is always generated here, too long to be guessed.
#[derive(Debug)]
pub(crate) struct Access {
    credentials: Mutex<Credentials>,
    /// After this time without a request, browsers must present the token again, and a generated token is replaced.
    lifetime: Duration,
}

#[derive(Debug)]
struct Credentials {
    token: Token,
    cookie: Token,
    last_used: Instant,
}

impl Access {
    pub(crate) fn new(token: Token, lifetime: Duration) -> Result<Self, Failure> {
        let credentials = Credentials { token, cookie: Token::made()?, last_used: Instant::now() };
        Ok(Self { credentials: Mutex::new(credentials), lifetime })
    }

    pub(crate) fn token(&self) -> Token {
        self.credentials().token.clone()
    }

    pub(super) fn cookie(&self) -> Token {
        self.credentials().cookie.clone()
    }

    /// Expires secrets unused for their lifetime; returns whether there is a new token. A chosen token stays.
    pub(super) fn expire(&self, now: Instant) -> Result<bool, Failure> {
        let mut credentials = self.credentials();
        if now.saturating_duration_since(credentials.last_used) < self.lifetime {
            return Ok(false);
        }
        credentials.cookie = Token::made()?;
        credentials.last_used = now;
        if credentials.token.chosen {
            return Ok(false);
        }
        credentials.token = Token::made()?;
        Ok(true)
    }

    /// Whether this is the token; if so, it counts as used.
    pub(super) fn takes_token(&self, shown: &str, now: Instant) -> bool {
        self.takes(shown, now, |credentials| &credentials.token)
    }

    pub(super) fn takes_cookie(&self, shown: &str, now: Instant) -> bool {
        self.takes(shown, now, |credentials| &credentials.cookie)
    }

    fn takes(&self, shown: &str, now: Instant, expected: fn(&Credentials) -> &Token) -> bool {
        let mut credentials = self.credentials();
        let is_right = expected(&credentials).is(shown);
        if is_right {
            credentials.last_used = now;
        }
        is_right
    }

    fn credentials(&self) -> MutexGuard<'_, Credentials> {
        self.credentials.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of wrong tokens from one address within [`WINDOW`].
const MOST_OF_ONE: u32 = 10;

/// Maximum number of wrong tokens from all addresses, which also bounds the memory used.
const MOST_OF_ALL: u32 = 100;

const WINDOW: Duration = Duration::from_secs(60);

/// Wrong tokens in the current window, by address.
#[derive(Debug)]
pub(crate) struct Attempts(Mutex<Counted>);

#[derive(Debug)]
struct Counted {
    since: Instant,
    all: u32,
    by_address: HashMap<IpAddr, u32>,
}

impl Attempts {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Counted { since: Instant::now(), all: 0, by_address: HashMap::new() }))
    }

    /// Checks a token unless there were too many wrong ones, in one step, so that parallel requests gain nothing.
    /// `Err` is the time after which tokens are checked again.
    pub(crate) fn attempt(
        &self,
        address: IpAddr,
        now: Instant,
        check: impl FnOnce() -> bool,
    ) -> Result<bool, Duration> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let age = now.saturating_duration_since(counted.since);
        if age >= WINDOW {
            *counted = Counted { since: now, all: 0, by_address: HashMap::new() };
        }
        let own = counted.by_address.get(&address).copied().unwrap_or(0);
        if own >= MOST_OF_ONE || counted.all >= MOST_OF_ALL {
            return Err(WINDOW.saturating_sub(age));
        }
        if check() {
            return Ok(true);
        }
        counted.all += 1;
        counted.by_address.insert(address, own + 1);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_expires_only_when_unused() {
        let hour = Duration::from_secs(3600);
        let access = Access::new(Token::made().unwrap(), hour).unwrap();
        let (token, cookie, start) = (access.token(), access.cookie(), access.credentials().last_used);
        assert!(!access.expire(start + hour / 2).unwrap() && access.takes_cookie(&cookie.secret, start + hour / 2));
        assert!(!access.expire(start + hour).unwrap(), "a used token expired");
        assert!(access.takes_token(&token.secret, start + hour));
        assert!(
            !access.takes_token("wrong", start + hour * 3 / 2) && !access.takes_cookie("wrong", start + hour * 3 / 2)
        );
        assert!(access.expire(start + 2 * hour).unwrap(), "wrong tokens counted as use");
        assert!(!access.takes_token(&token.secret, start) && !access.takes_cookie(&cookie.secret, start));
        assert!(access.takes_token(&access.token().secret, start));
    }

    #[test]
    fn chosen_token_never_expires_but_its_cookies_do() {
        let access = Access::new(Token::chosen("0123456789abcdef").unwrap(), Duration::from_secs(1)).unwrap();
        let (cookie, start) = (access.cookie(), access.credentials().last_used);
        assert!(!access.expire(start + Duration::from_secs(1)).unwrap());
        assert!(access.takes_token("0123456789abcdef", start) && !access.takes_cookie(&cookie.secret, start));
    }

    #[test]
    fn token_comparison_is_exact() {
        let token = Token::chosen("0123456789abcdef").unwrap();
        let check = |shown: &str, expect: bool| assert_eq!(token.is(shown), expect, "{shown}");
        check("0123456789abcdef", true);
        check("0123456789abcdeF", false);
        check("0123456789abcde", false);
        check("0123456789abcdef0", false);
        check("", false);
        assert_eq!(format!("{token:?}"), "Token(secret)");
    }

    #[test]
    fn tokens_are_long_plain_and_unique() {
        let check = |text: &str, valid: bool| assert_eq!(Token::chosen(text).is_ok(), valid, "{text:?}");
        check("0123456789abcdef", true);
        check("0123456789abcde", false);
        check("0123456789abcde ", false);
        check("0123456789abcde;", false);
        check(&"x".repeat(257), false);
        let (a, b) = (Token::made().unwrap(), Token::made().unwrap());
        assert!(!a.is(&b.secret) && Token::chosen(&a.secret).is_ok());
    }

    #[test]
    fn wrong_tokens_are_rate_limited_per_address() {
        let attempts = Attempts::new();
        let start = Instant::now();
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        for _ in 0..MOST_OF_ONE {
            assert_eq!(attempts.attempt(address(1), start, || false), Ok(false));
            assert_eq!(attempts.attempt(address(2), start, || true), Ok(true), "right tokens are counted");
        }
        assert!(attempts.attempt(address(1), start, || true).is_err(), "the token was checked");
        assert_eq!(attempts.attempt(address(2), start, || false), Ok(false));
        assert_eq!(attempts.attempt(address(1), start + 2 * WINDOW, || true), Ok(true));
    }

    #[test]
    fn wrong_tokens_are_rate_limited_over_all_addresses() {
        let attempts = Attempts::new();
        let now = Instant::now();
        let wrong =
            (0..=255).filter(|last| attempts.attempt(IpAddr::from([10, 0, 0, *last]), now, || false) == Ok(false));
        assert_eq!(wrong.count(), MOST_OF_ALL as usize);
    }
}
