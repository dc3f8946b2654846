//! Secrets that are shown at the door, and how long they count.

use crate::exit::Failure;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A secret. One that was made is printed once, and one that somebody chose never.
#[derive(Clone)]
pub(crate) struct Token {
    secret: String,
    chosen: bool,
}

/// A token of fewer characters could be guessed.
const SHORTEST: usize = 16;
/// A longer one would not fit into a cookie with everything else.
const LONGEST: usize = 256;

impl Token {
    /// A token that somebody chose.
    pub(crate) fn chosen(text: &str) -> Result<Self, Failure> {
        let advice = "make one with `openssl rand -hex 24`, or leave --token out, and Karat makes one";
        // What is in an address, a cookie and a header must mean the same in all three.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        if text.len() < SHORTEST || text.len() > LONGEST {
            return Err(Failure::usage(format!("a token has from {SHORTEST} to {LONGEST} characters; {advice}")));
        }
        if !text.chars().all(plain) {
            return Err(Failure::usage(format!("a token has letters, digits, -, ., _ and ~ alone; {advice}")));
        }
        Ok(Self { secret: text.to_owned(), chosen: true })
    }

    /// A new one, from the system's random bytes.
    pub(crate) fn made() -> Result<Self, Failure> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes)
            .map_err(|error| Failure::failed(format!("the system gives no random bytes: {error}")))?;
        Ok(Self { secret: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), chosen: false })
    }

    /// Whether this is what was shown. How long that takes does not tell how much of it is right.
    pub(crate) fn is(&self, shown: &str) -> bool {
        let (own, shown) = (self.secret.as_bytes(), shown.as_bytes());
        let differ = own.iter().zip(shown).fold(0, |differ, (a, b)| std::hint::black_box(differ | (a ^ b)));
        own.len() == shown.len() && differ == 0
    }

    /// The secret itself, for an address or a cookie.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether somebody chose it, and so knows it.
    pub(crate) fn is_chosen(&self) -> bool {
        self.chosen
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(secret)")
    }
}

/// What lets people in: a token, which they show once, and the secret of the cookie that their browser gets for it.
///
/// The cookie does not hold the token: many wrong tokens are refused unseen, and a browser that was let in before must not be
/// kept out by that. So its secret is always made here, too long to be guessed.
#[derive(Debug)]
pub(crate) struct Access {
    credentials: Mutex<Credentials>,
    /// Without a request for so long, browsers must show the token again, and one that was made is replaced.
    lifetime: Duration,
}

#[derive(Debug)]
struct Credentials {
    token: Token,
    cookie: Token,
    last_used: Instant,
}

impl Access {
    /// Access by a token, from now on.
    pub(crate) fn new(token: Token, lifetime: Duration) -> Result<Self, Failure> {
        let credentials = Credentials { token, cookie: Token::made()?, last_used: Instant::now() };
        Ok(Self { credentials: Mutex::new(credentials), lifetime })
    }

    /// The token as it is now.
    pub(crate) fn token(&self) -> Token {
        self.credentials().token.clone()
    }

    /// The secret of the cookie as it is now.
    pub(super) fn cookie(&self) -> Token {
        self.credentials().cookie.clone()
    }

    /// Ends what was not used for its lifetime. Tells whether there is another token now: one that somebody chose stays, since
    /// nobody else could tell them another.
    pub(super) fn expire(&self, now: Instant) -> Result<bool, Failure> {
        let mut credentials = self.credentials();
        if now.saturating_duration_since(credentials.last_used) < self.lifetime {
            return Ok(false);
        }
        credentials.cookie = Token::made()?;
        credentials.last_used = now;
        if credentials.token.is_chosen() {
            return Ok(false);
        }
        credentials.token = Token::made()?;
        Ok(true)
    }

    /// Whether this is the token; then it was used.
    pub(super) fn takes_token(&self, shown: &str, now: Instant) -> bool {
        self.takes(shown, now, |credentials| &credentials.token)
    }

    /// Whether this is the secret of the cookie; then it was used.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_keeps_a_token_and_a_pause_ends_it() {
        let hour = Duration::from_secs(3600);
        let access = Access::new(Token::made().unwrap(), hour).unwrap();
        let (token, cookie, began) = (access.token(), access.cookie(), access.credentials().last_used);
        assert!(!access.expire(began + hour / 2).unwrap() && access.takes_cookie(cookie.secret(), began + hour / 2));
        assert!(!access.expire(began + hour).unwrap(), "it was used meanwhile");
        assert!(access.takes_token(token.secret(), began + hour));
        assert!(
            !access.takes_token("wrong", began + hour * 3 / 2) && !access.takes_cookie("wrong", began + hour * 3 / 2)
        );
        assert!(access.expire(began + 2 * hour).unwrap(), "wrong ones are no use");
        assert!(!access.takes_token(token.secret(), began) && !access.takes_cookie(cookie.secret(), began));
        assert!(access.takes_token(access.token().secret(), began));
    }

    #[test]
    fn a_chosen_token_stays_and_its_cookies_end() {
        let access = Access::new(Token::chosen("0123456789abcdef").unwrap(), Duration::from_secs(1)).unwrap();
        let (cookie, began) = (access.cookie(), access.credentials().last_used);
        assert!(!access.expire(began + Duration::from_secs(1)).unwrap());
        assert!(access.takes_token("0123456789abcdef", began) && !access.takes_cookie(cookie.secret(), began));
    }

    #[test]
    fn a_token_is_itself_and_nothing_else() {
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
    fn tokens_are_long_plain_and_never_the_same() {
        let check = |text: &str, taken: bool| assert_eq!(Token::chosen(text).is_ok(), taken, "{text:?}");
        check("0123456789abcdef", true);
        check("0123456789abcde", false);
        check("0123456789abcde ", false);
        check("0123456789abcde;", false);
        check(&"x".repeat(257), false);
        let (a, b) = (Token::made().unwrap(), Token::made().unwrap());
        assert!(!a.is(b.secret()) && Token::chosen(a.secret()).is_ok());
    }
}
