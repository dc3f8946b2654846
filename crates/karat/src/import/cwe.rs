//! Weakness numbers, in the many ways in which tools write them.

/// The first weakness number a text names, as in `CWE-89: SQL injection`, `external/cwe/cwe-089`, the address of its page, or a
/// bare number.
pub fn from_text(text: &str) -> Option<u32> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    for marker in ["cwe", "definitions/"] {
        let mut rest = lower.as_str();
        while let Some(at) = rest.find(marker) {
            rest = &rest[at + marker.len()..];
            if let Some(number) = leading_number(rest.trim_start_matches(['-', '_', ':', '#', ' ', '='])) {
                return Some(number);
            }
        }
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) { leading_number(text) } else { None }
}

/// The number a text starts with; the catalogue has no weakness 0 and none of more than five digits.
fn leading_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    (1..100_000).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_however_they_are_written() {
        let check = |text: &str, expect: Option<u32>| assert_eq!(from_text(text), expect, "{text:?}");
        check("CWE-89: Improper Neutralization", Some(89));
        check("cwe-079", Some(79));
        check("external/cwe/cwe-089", Some(89));
        check("CWE:22", Some(22));
        check("CWE 22", Some(22));
        check("https://cwe.mitre.org/data/definitions/605.html", Some(605));
        check(" 327 ", Some(327));
        check("cwe: see CWE-12", Some(12));
        check("CWE-", None);
        check("CWE-0", None);
        check("CWE-99999999999", None);
        check("89 bottles", None);
        check("naïve cwé", None);
        check("", None);
    }
}
