//! Timestamps: milliseconds since 1970 and their text forms.

use jiff::Timestamp;

pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// A timestamp as UTC text: `2026-03-01 14:05:09`.
pub fn format_utc(ms: i64) -> String {
    let moment = Timestamp::from_millisecond(ms);
    moment.map_or_else(|_| format!("{ms} ms after 1970"), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// The current time in UTC: `2026-03-01T14:05:09.042Z`.
pub fn now_utc() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_shown_in_utc() {
        let check = |ms: i64, expect: &str| assert_eq!(format_utc(ms), expect, "{ms}");
        check(0, "1970-01-01 00:00:00");
        check(1_772_374_000_999, "2026-03-01 14:06:40");
        check(i64::MAX, "9223372036854775807 ms after 1970");
    }
}
