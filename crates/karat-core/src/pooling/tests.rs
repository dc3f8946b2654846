use super::*;
use crate::ids::CaseId;
use proptest::prelude::*;

const REACH: u32 = 5;

/// `tool trial id file:line words` in lines; `-` for no place.
fn trials(text: &str) -> Vec<Trial> {
    let mut trials: Vec<Trial> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [tool, number, id, place, said] = words[..] else { panic!("{line}") };
        let number = number.parse().unwrap();
        let (file, start) = place.split_once(':').unwrap_or((place, ""));
        let finding = Finding {
            file: RepoPath::new(file).filter(|_| file != "-"),
            line_start: start.parse().ok(),
            title: Some(said.to_owned()),
            ..Finding::new(id)
        };
        let mut trial = Trial::reported(CaseId::new("c"), ToolName::new(tool), number);
        match trials.iter_mut().find(|trial| trial.tool.as_str() == tool && trial.number == number) {
            Some(known) => known.findings.push(finding),
            None => {
                trial.findings.push(finding);
                trials.push(trial);
            }
        }
    }
    trials
}

fn members(trials: &[Trial]) -> Vec<Member<'_>> {
    trials.iter().flat_map(|trial| trial.findings.iter().map(move |finding| Member { trial, finding })).collect()
}

/// Pools in lines: `lead: tool/trial/finding …`, sorted.
fn describe(pools: &[Pool<'_>]) -> Vec<String> {
    let one = |pool: &Pool<'_>| {
        let named = |m: &Member<'_>| format!("{}/{}/{}", m.trial.tool, m.trial.number, m.finding.id);
        let members: Vec<String> = pool.members.iter().map(named).collect();
        format!("{}: {}", pool.lead.headline(), members.join(" "))
    };
    let mut lines: Vec<String> = pools.iter().map(one).collect();
    lines.sort();
    lines
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let trials = trials(text);
    assert_eq!(describe(&pool_findings(0, members(&trials), REACH)), expect);
}

#[test]
fn findings_of_the_same_issue_are_pooled() {
    check(
        "a 1 f1 x.py:10 SQL injection in search
         b 1 f1 x.py:12 injection of SQL
         b 1 f2 x.py:90 SQL injection
         c 1 f1 y.py:10 SQL injection",
        &["SQL injection in search: a/1/f1 b/1/f1", "SQL injection: b/1/f2", "SQL injection: c/1/f1"],
    );
}

#[test]
fn no_chain_joins_what_lies_far_apart() {
    let step = |id: u32, line: u32| format!("a 1 f{id} x.py:{line} SQL injection number {id}\n");
    let text: String = (1..=5).map(|id| step(id, id * 4)).collect();
    let trials = trials(&text);
    let pools = pool_findings(0, members(&trials), REACH);
    assert_eq!(pools.len(), 2, "{:?}", describe(&pools));
    for pool in &pools {
        let lead = Claim::from_finding(pool.lead);
        assert!(pool.members.iter().all(|m| lead.likeness(&Claim::from_finding(m.finding), REACH).is_some()));
    }
}

#[test]
fn the_most_central_finding_leads() {
    check(
        "a 1 f1 x.py:10 SQL injection here
         b 1 f1 x.py:14 SQL injection there
         c 1 f1 x.py:18 SQL injection everywhere",
        &["SQL injection there: a/1/f1 b/1/f1 c/1/f1"],
    );
}

#[test]
fn equal_words_are_one_whatever_they_are() {
    check("a 1 f1 - …\n b 2 f7 - …", &["…: a/1/f1 b/2/f7"]);
    check("a 1 f1 x.py:3 …\n b 1 f1 x.py:300 …", &["…: a/1/f1", "…: b/1/f1"]);
}

type Drawn = (usize, u32, usize, Option<u32>, Vec<usize>);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let one =
        (0..3_usize, 1..3_u32, 0..3_usize, proptest::option::of(1_u32..30), prop::collection::vec(0..5_usize, 0..4));
    prop::collection::vec(one, 0..25)
}

proptest! {
    #[test]
    fn every_extra_is_in_one_pool_and_order_changes_nothing(drawn in drawn(), turn in 0..25_usize) {
        const WORDS: [&str; 5] = ["query", "lock", "token", "socket", "path"];
        let line = |(id, (tool, number, file, line, words)): (usize, &Drawn)| {
            let place = match (["a.py", "b.py", "-"][*file], line) {
                ("-", _) => "-".to_owned(),
                (file, None) => file.to_owned(),
                (file, Some(line)) => format!("{file}:{line}"),
            };
            let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
            format!("t{tool} {number} f{id} {place} !{}", words.join(" "))
        };
        let text: Vec<String> = drawn.iter().enumerate().map(line).collect();
        let given = trials(&text.join("\n"));
        let all = members(&given);
        let pools = pool_findings(0, all.clone(), REACH);
        let mut seen: Vec<String> = pools.iter().flat_map(|p| &p.members).map(|m| m.finding.id.to_string()).collect();
        seen.sort();
        let mut expect: Vec<String> = all.iter().map(|m| m.finding.id.to_string()).collect();
        expect.sort();
        prop_assert_eq!(seen, expect);
        for pool in &pools {
            let lead = Claim::from_finding(pool.lead);
            prop_assert!(pool.members.iter().all(|m| lead.likeness(&Claim::from_finding(m.finding), REACH).is_some()));
        }
        let mut turned = all;
        let by = turn % turned.len().max(1);
        turned.rotate_left(by);
        turned.reverse();
        prop_assert_eq!(pool_findings(0, turned, REACH), pools);
    }
}

/// `a.py:3-5 words`, `- words`.
fn claimed(line: &str) -> Finding {
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
fn check_claims(a: &str, b: &str, expect: bool) {
    let (a, b) = (claimed(a), claimed(b));
    let (a, b) = (Claim::from_finding(&a), Claim::from_finding(&b));
    assert_eq!(a.likeness(&b, 5).is_some(), expect, "{a:?} and {b:?}");
    assert_eq!(a.likeness(&b, 5), b.likeness(&a, 5));
}

#[test]
fn claims_are_alike_by_place_and_words() {
    let long = "The query is built from user input, which allows SQL injection by whoever calls the search";
    check_claims(&format!("a.py:10 {long}"), "a.py:12 SQL injection", true);
    check_claims(&format!("a.py:10 {long}"), "a.py:16 SQL injection", false);
    check_claims(&format!("a.py:10-14 {long}"), "a.py:16 SQL injections", true);
    check_claims(&format!("a.py:10 {long}"), "b.py:10 SQL injection", false);
    check_claims(&format!("a.py:10 {long}"), "a.py:10 the socket is never closed", false);
    check_claims("a.py:10 unused import", "a.py:10 unused variable", false);
}

#[test]
fn without_lines_words_must_agree_both_ways() {
    let long = "The query is built from user input, which allows SQL injection by whoever calls the search";
    check_claims(&format!("a.py {long}"), "a.py:12 SQL injection", false);
    check_claims("- SQL injection in the search query", "a.py:12 search query has an SQL injection", true);
    check_claims("- SQL injection", "- SQL injection", true);
    check_claims("a.py SQL injection", "b.py SQL injection", false);
    check_claims("-", "-", true);
    check_claims("-", "- SQL injection", false);
}

#[test]
fn goldens_claim_as_findings_do() {
    let golden = Golden {
        file: FilePattern::new("a.py"),
        lines: Lines::from_start(Some(10), None),
        description: Some("SQL injection by the search".to_owned()),
        ..Golden::new("g")
    };
    let near = |line: &str| Claim::from_golden(&golden).likeness(&Claim::from_finding(&claimed(line)), 5).is_some();
    assert!(near("a.py:12 SQL injection"));
    assert!(!near("a.py:19 SQL injection"));
    assert!(!near("b.py:10 SQL injection"));
}
