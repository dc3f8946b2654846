use super::*;
use std::collections::BTreeSet;

#[test]
fn every_built_in_rule_fires_on_its_hit_alone() {
    let patterns = Patterns::built_in().unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert!((60..=140).contains(&patterns.rules.len()), "{}", patterns.rules.len());
    let path = |rule: &RuleV1| {
        let extension = extensions(rule).into_iter().next().unwrap();
        RepoPath::new(&format!("src/x.{}", if extension.is_empty() { "txt" } else { &extension })).unwrap()
    };
    for Compiled { rule, .. } in &patterns.rules {
        let fired = |line: &str| -> BTreeSet<String> {
            let found = patterns.scan(std::iter::once((path(rule), line.to_owned())), None);
            found.into_iter().filter_map(|finding| finding.rule_id).collect()
        };
        assert!(fired(&rule.hit).contains(&rule.id), "{}", rule.id);
        assert!(!fired(&rule.miss).contains(&rule.id), "{}", rule.id);
        assert!(rule.title.chars().count() <= 70 && !rule.title.ends_with('.'), "{}: {}", rule.id, rule.title);
        assert!(rule.message.ends_with('.'), "{}: {}", rule.id, rule.message);
    }
}

#[test]
fn every_language_is_covered() {
    let patterns = Patterns::built_in().unwrap();
    for language in ["python", "javascript", "typescript", "java", "go", "rust", "c", "cpp", "ruby", "solidity", "any"]
    {
        let own = patterns.rules.iter().filter(|rule| rule.rule.languages.iter().any(|l| l == language)).count();
        assert!(own >= 5, "{language} has {own} rules");
    }
}

const SMALL: &str = r#"
[[rules]]
id = "b"
languages = ["python"]
regex = 'eval\('
unless = 'literal'
title = "Eval"
message = "Do not."
severity = "high"
category = "injection"
cwe = [95]
hit = "eval(x)"
miss = "literal_eval(x)"

[[rules]]
id = "a"
languages = ["any"]
regex = 'TODO'
title = "Todo"
message = "Do it."
severity = "info"
category = "todo"
hit = "TODO"
miss = "todo"
"#;

fn scanned(files: &[(&str, &str)], touched: Option<&[(&str, u32, u32)]>) -> String {
    let patterns = Patterns::load(SMALL, "rules.toml").unwrap();
    let change = touched.map(|touched| {
        let mut change = Change::default();
        for (path, start, end) in touched {
            change.touched.entry(RepoPath::new(path).unwrap()).or_default().push(Lines { start: *start, end: *end });
        }
        change
    });
    let files = files.iter().map(|(path, text)| (RepoPath::new(path).unwrap(), (*text).to_owned()));
    let found = patterns.scan(files, change.as_ref());
    let line = |f: &Finding| {
        let lines = (f.line_start.unwrap(), f.line_end.unwrap());
        assert_eq!(lines.0, lines.1);
        format!("{} {} {}:{}\n", f.id, f.rule_id.as_ref().unwrap(), f.file.as_ref().unwrap(), lines.0)
    };
    found.iter().map(line).collect()
}

#[test]
fn only_changed_lines_are_scanned() {
    let text = "eval(a)\neval(b)  # TODO\nliteral_eval(c)\neval(d)\r\n";
    let check =
        |touched: Option<&[(&str, u32, u32)]>, expect: &str| assert_eq!(scanned(&[("a.py", text)], touched), expect);
    check(None, "f1 b a.py:1\nf2 b a.py:2\nf3 a a.py:2\nf4 b a.py:4\n");
    check(Some(&[("a.py", 2, 3)]), "f1 b a.py:2\nf2 a a.py:2\n");
    check(Some(&[("b.py", 1, 9)]), "");
    check(Some(&[]), "");
}

#[test]
fn order_does_not_depend_on_the_files() {
    let expect = "f1 a a.txt:1\nf2 b b.py:1\n";
    assert_eq!(scanned(&[("b.py", "eval(x)"), ("a.txt", "TODO eval(x)")], None), expect);
    assert_eq!(scanned(&[("a.txt", "TODO eval(x)"), ("b.py", "eval(x)")], None), expect);
}

#[test]
fn what_nobody_wrote_is_left_alone() {
    assert_eq!(scanned(&[("a.py", "eval(x)\n\0")], None), "");
    assert_eq!(scanned(&[("a.py", &format!("eval(x)\n{}", " ".repeat(1 << 20)))], None), "");
    assert_eq!(scanned(&[("a.py", &format!("eval({})", "x".repeat(3000)))], None), "");
    assert_eq!(scanned(&[("eval", "eval(x)"), (".py", "eval(x)")], None), "f1 b .py:1\n");
}

#[test]
fn faults_of_a_file_come_at_once_and_with_places() {
    let check = |from: &str, to: &str, expect: &[&str]| {
        let said = match Patterns::load(&SMALL.replacen(from, to, 1), "mine.toml") {
            Ok(_) => Vec::new(),
            Err(faults) => faults.0.iter().map(|d| format!("{} {}:{}", d.code, d.file, d.line)).collect::<Vec<_>>(),
        };
        assert_eq!(said, expect, "{to}");
    };
    check("", "", &[]);
    check("'eval\\('", "'eval('", &["bad-regex mine.toml:5"]);
    check("unless = 'literal'", "unless = '('", &["bad-regex mine.toml:6"]);
    check("\"python\"", "\"pyhton\"", &["unknown-language mine.toml:4"]);
    check("id = \"a\"", "id = \"b\"", &["duplicate-id mine.toml:16"]);
    check(
        "hit = \"TODO\"\nmiss = \"todo\"",
        "hit = \"x\"\nmiss = \"TODO\"",
        &["no-hit mine.toml:23", "no-miss mine.toml:24"],
    );
    check("languages = [\"any\"]\n", "", &["no-language mine.toml:16"]);
    check("severity = \"high\"", "severity = \"awful\"", &["unknown-value mine.toml:9"]);
    assert!(Patterns::load("", "mine.toml").is_err());
}
