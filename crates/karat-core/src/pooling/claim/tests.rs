use super::*;

/// `a.py:3-5 words`, `- words`.
fn finding(line: &str) -> Finding {
    let (place, words) = line.split_once(' ').unwrap_or((line, ""));
    let (file, lines) = place.split_once(':').unwrap_or((place, ""));
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    Finding {
        file: RepoPath::new(file).filter(|_| file != "-"),
        line_start: start.parse().ok(),
        line_end: end.parse().ok(),
        message: Some(words.to_owned()),
        ..Finding::new("f")
    }
}

#[track_caller]
fn check(a: &str, b: &str, expect: bool) {
    let (a, b) = (finding(a), finding(b));
    let (a, b) = (Claim::from_finding(&a), Claim::from_finding(&b));
    assert_eq!(a.likeness(&b, 5).is_some(), expect, "{a:?} and {b:?}");
    assert_eq!(a.likeness(&b, 5), b.likeness(&a, 5));
}

#[test]
fn claims_are_alike_by_place_and_words() {
    let long = "The query is built from user input, which allows SQL injection by whoever calls the search";
    check(&format!("a.py:10 {long}"), "a.py:12 SQL injection", true);
    check(&format!("a.py:10 {long}"), "a.py:16 SQL injection", false);
    check(&format!("a.py:10-14 {long}"), "a.py:16 SQL injections", true);
    check(&format!("a.py:10 {long}"), "b.py:10 SQL injection", false);
    check(&format!("a.py:10 {long}"), "a.py:10 the socket is never closed", false);
    check("a.py:10 unused import", "a.py:10 unused variable", false);
}

#[test]
fn without_lines_words_must_agree_both_ways() {
    let long = "The query is built from user input, which allows SQL injection by whoever calls the search";
    check(&format!("a.py {long}"), "a.py:12 SQL injection", false);
    check("- SQL injection in the search query", "a.py:12 search query has an SQL injection", true);
    check("- SQL injection", "- SQL injection", true);
    check("a.py SQL injection", "b.py SQL injection", false);
    check("-", "-", true);
    check("-", "- SQL injection", false);
}

#[test]
fn goldens_claim_as_findings_do() {
    let golden = Golden {
        file: FilePattern::new("a.py"),
        lines: Lines::from_start(Some(10), None),
        description: Some("SQL injection by the search".to_owned()),
        ..Golden::new("g")
    };
    let near = |line: &str| Claim::from_golden(&golden).likeness(&Claim::from_finding(&finding(line)), 5).is_some();
    assert!(near("a.py:12 SQL injection"));
    assert!(!near("a.py:19 SQL injection"));
    assert!(!near("b.py:10 SQL injection"));
}
