//! Moments as they are stored and shown.

use jiff::Timestamp;

/// Now, in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// A moment as people read it, in UTC: `2026-03-01 14:05:09`.
pub fn shown(ms: i64) -> String {
    let moment = Timestamp::from_millisecond(ms);
    moment.map_or_else(|_| format!("{ms} ms after 1970"), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// This moment to the millisecond, in UTC: `2026-03-01T14:05:09.042Z`.
pub fn shown_exactly() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_in_utc() {
        let check = |ms: i64, expect: &str| assert_eq!(shown(ms), expect, "{ms}");
        check(0, "1970-01-01 00:00:00");
        check(1_772_374_000_999, "2026-03-01 14:06:40");
        check(i64::MAX, "9223372036854775807 ms after 1970");
    }
}
