//! Parses CWE numbers, in the many ways in which tools write them.

/// The first CWE number in a text, as in `CWE-89: SQL injection`, `external/cwe/cwe-089`, the URL of its page, or a
/// bare number.
pub fn from_text(text: &str) -> Option<u32> {
    let page = || text.find("definitions/").and_then(|at| leading_number(&text.as_bytes()[at + 12..]));
    let bare = text.trim();
    let bare = || leading_number(bare.as_bytes()).filter(|_| bare.bytes().all(|byte| byte.is_ascii_digit()));
    numbers(text).next().or_else(page).or_else(bare)
}

/// All CWE numbers in texts such as `CWE-89`, `external/cwe/cwe-089`, `cwe:89` and `CWE-89: SQL injection`.
pub fn numbers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let bytes = text.as_bytes();
    let starts = (0..bytes.len()).filter(move |&at| {
        let boundary = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        boundary && bytes[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"cwe"))
    });
    starts.filter_map(move |at| {
        let rest = &bytes[at + 3..];
        let skipped = rest.iter().take_while(|byte| matches!(byte, b'-' | b'_' | b':' | b'#' | b'=' | b' ')).count();
        leading_number(&rest[skipped..])
    })
}

/// The number at the start; the catalogue has no CWE 0 and none of more than five digits.
fn leading_number(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if bytes.get(digits).is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let number = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
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
