//! Secrets that are shown at the door.

use crate::exit::{Exit, Failure};
use std::fmt;

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
        let advice = "make one with `openssl rand -hex 24`, or let Karat make one with --token auto";
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
            .map_err(|error| Failure::Message(Exit::Failed, format!("the system gives no random bytes: {error}")))?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
