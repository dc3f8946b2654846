//! Parses durations and sizes as people write them.

use jiff::SignedDuration;
use std::time::Duration;

/// Longer than any tool takes.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);

/// Bytes by unit, ignoring case.
const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("kb", 1000),
    ("mb", 1000 * 1000),
    ("gb", 1000 * 1000 * 1000),
    ("tb", 1000 * 1000 * 1000 * 1000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

/// `90s`, `5m`, `1h30m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Option<SignedDuration> = text.trim().parse().ok();
    match parsed.map(Duration::try_from) {
        Some(Ok(duration)) if !duration.is_zero() && duration <= MAX_DURATION => Ok(duration),
        Some(Ok(duration)) if duration > MAX_DURATION => Err(format!("{text:?} is too long: expected at most 168h")),
        _ => Err(format!("invalid duration {text:?}: expected for example 90s, 5m or 1h30m")),
    }
}

/// `4GiB`, `512MB`, or plain bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("invalid size {text:?}: expected for example 4GiB, 512MB or a number of bytes");
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let bytes = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(*factor),
        // Fractions of a byte are dropped.
        Err(_) => number.parse::<f64>().ok().map(|n| n * *factor as f64).filter(|n| *n < 9e18).map(|n| n as u64),
    };
    bytes.filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(duration(text).ok().map(|d| d.as_secs()), expect, "{text:?}: {:?}", duration(text));
        };
        check("90s", Some(90));
        check("5m", Some(300));
        check(" 1h30m ", Some(5400));
        check("1h 30min", Some(5400));
        check("2 hours", Some(7200));
        check("168h", Some(604_800));
        check("169h", None);
        check("0s", None);
        check("-5m", None);
        check("5m ago", None);
        check("300", None);
        check("1mo", None);
        check("soon", None);
        check("", None);
        assert!(duration("9999h").unwrap_err().contains("expected at most 168h"));
        assert!(duration("soon").unwrap_err().contains("for example 90s, 5m or 1h30m"));
    }

    #[test]
    fn sizes_are_parsed() {
        let check = |text: &str, expect: Option<u64>| assert_eq!(size(text).ok(), expect, "{text:?}");
        check("4GiB", Some(4 << 30));
        check("512MB", Some(512_000_000));
        check("512 mb", Some(512_000_000));
        check("1.5kib", Some(1536));
        check("1048576", Some(1 << 20));
        check("10B", Some(10));
        check("4G", None);
        check("0", None);
        check("-1", None);
        check("GiB", None);
        check(".", None);
        check("1e9", None);
        check("99999999999999999999", None);
        check("18446744073709551615TiB", None);
        check("much", None);
        check("", None);
    }
}
