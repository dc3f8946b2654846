use super::*;

fn part(id: &str) -> GoldenPart {
    GoldenPart { id: id.into(), document: "a.md".into(), title: String::new(), text: String::new() }
}

fn requirement(primary: &[&str], supporting: &[&str]) -> Requirement {
    Requirement {
        id: "r".into(),
        assessment: Compliance::Partial,
        primary: primary.iter().map(|id| part(id)).collect(),
        supporting: supporting.iter().map(|id| part(id)).collect(),
        rationale: String::new(),
    }
}

#[test]
fn primary_parts_come_first() {
    let requirement = requirement(&["c", "a"], &["b"]);
    let actual: Vec<String> =
        requirement.evidence_parts().map(|(role, part)| format!("{role:?} {}", part.id)).collect();
    assert_eq!(actual, ["Primary c", "Primary a", "Supporting b"]);
}

#[test]
fn verdicts_have_the_names_of_files() {
    for verdict in Compliance::ALL {
        assert_eq!(Compliance::parse(verdict.as_str()), Some(verdict));
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
    }
    assert_eq!(Compliance::parse("Yes"), None);
}

#[test]
fn answers_are_displayed_in_words() {
    let given = AnswerValue::List(vec![
        AnswerValue::Flag(true),
        AnswerValue::Number(2.5),
        AnswerValue::Text("EU".into()),
        AnswerValue::Nothing,
    ]);
    assert_eq!(given.to_string(), "yes, 2.5, EU, not answered");
}
