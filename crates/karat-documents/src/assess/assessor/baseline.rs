//! The rule-based assessor: it looks for the signs stated by a template.
//!
//! It makes everything work without a model, and is the baseline that a model should beat.

use super::{CitedPart, Opinion, RequirementInput};
use karat_core::assessment::record::{Compliance, Role};
use std::collections::BTreeSet;

const MOST_SUPPORTING: usize = 2;

/// Without signs: the share of query words in one part that counts as a yes.
const SHARE_OF_YES: f64 = 0.6;
const SHARE_OF_PARTIAL: f64 = 0.35;

/// Assesses a requirement. `words` splits a text into stems without stop words.
pub fn assess(input: &RequirementInput<'_>, query: &str, words: &dyn Fn(&str) -> Vec<String>) -> Opinion {
    if let Some(reason) = not_applicable(input) {
        return opinion(Compliance::NotApplicable, Vec::new(), reason);
    }
    let parts: Vec<_> = input.parts.iter().map(|part| words(&format!("{}\n\n{}", part.heading, part.text))).collect();
    if input.requirement.signs.is_empty() { by_words(&words(query), &parts) } else { by_signs(input, &parts, words) }
}

/// The answer that makes a requirement not applicable.
fn not_applicable(input: &RequirementInput<'_>) -> Option<String> {
    let known = |question: &str| input.answers.iter().find(|known| known.question == question);
    input.requirement.applies_when.iter().find_map(|(question, wanted)| {
        let answer = known(question)?.answer.to_string();
        let differs = !answer.eq_ignore_ascii_case(wanted.trim());
        differs.then(|| format!("It applies when {question} is {wanted}, and it is {answer}."))
    })
}

fn by_signs(input: &RequirementInput<'_>, parts: &[Vec<String>], words: &dyn Fn(&str) -> Vec<String>) -> Opinion {
    let signs = &input.requirement.signs;
    let phrases: Vec<Vec<Vec<String>>> =
        signs.iter().map(|sign| sign.any.iter().map(|phrase| words(phrase)).collect()).collect();
    let shows = |part: &Vec<String>| -> BTreeSet<usize> {
        let holds = |phrase: &Vec<String>| !phrase.is_empty() && part.windows(phrase.len()).any(|own| own == phrase);
        (0..signs.len()).filter(|sign| phrases[*sign].iter().any(holds)).collect()
    };
    let shown: Vec<BTreeSet<usize>> = parts.iter().map(shows).collect();
    let found: BTreeSet<usize> = shown.iter().flatten().copied().collect();
    let verdict = match found.len() {
        0 => Compliance::No,
        n if n == signs.len() => Compliance::Yes,
        _ => Compliance::Partial,
    };
    // The part with most signs decides; ties go to the better rank.
    let mut order: Vec<usize> = (0..parts.len()).filter(|part| !shown[*part].is_empty()).collect();
    order.sort_by_key(|part| std::cmp::Reverse(shown[*part].len()));
    let about = |signs_of: &dyn Fn(&usize) -> bool| -> String {
        let named: Vec<&str> = (0..signs.len()).filter(signs_of).map(|sign| signs[sign].about.as_str()).collect();
        named.join(", ")
    };
    let [says, lacks] = [about(&|sign| found.contains(sign)), about(&|sign| !found.contains(sign))];
    let reason = match verdict {
        Compliance::No => format!("Nothing that was found speaks of {lacks}."),
        Compliance::Yes => format!("What was found speaks of {says}."),
        _ => format!("What was found speaks of {says}, and not of {lacks}."),
    };
    opinion(verdict, order, reason)
}

fn by_words(query: &[String], parts: &[Vec<String>]) -> Opinion {
    let wanted: BTreeSet<&String> = query.iter().collect();
    let share = |part: &Vec<String>| {
        let own: BTreeSet<&String> = part.iter().collect();
        wanted.intersection(&own).count() as f64 / wanted.len().max(1) as f64
    };
    let shares: Vec<f64> = parts.iter().map(share).collect();
    let best = shares.iter().copied().fold(0.0, f64::max);
    let verdict = match best {
        share if share >= SHARE_OF_YES => Compliance::Yes,
        share if share >= SHARE_OF_PARTIAL => Compliance::Partial,
        _ => Compliance::No,
    };
    let mut order: Vec<usize> = (0..parts.len()).filter(|part| shares[*part] >= SHARE_OF_PARTIAL).collect();
    order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    opinion(verdict, order, format!("The best part has {:.0} % of the words that are searched for.", 100.0 * best))
}

/// The first part decides; a few others support it.
fn opinion(verdict: Compliance, order: Vec<usize>, rationale: String) -> Opinion {
    let role = |at: usize| if at == 0 { Role::Primary } else { Role::Supporting };
    let cited =
        |(at, part): (usize, &usize)| CitedPart { role: role(at), part: Some(*part), name: format!("P{}", part + 1) };
    let citations = order.iter().take(1 + MOST_SUPPORTING).enumerate().map(cited).collect();
    Opinion { verdict, citations, relevant: order, rationale }
}

#[cfg(test)]
mod tests {
    use super::super::{GivenAnswer, ShownPart};
    use super::*;
    use crate::assess::bundle::RequirementRef;
    use karat_core::assessment::record::AnswerValue;
    use karat_format::template::{SignV1, TemplateRequirementV1};

    fn plain(text: &str) -> Vec<String> {
        let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).trim_end_matches('s').to_lowercase();
        text.split_whitespace().map(word).filter(|word| !word.is_empty()).collect()
    }

    fn requirement(signs: &[&[&str]]) -> TemplateRequirementV1 {
        let sign = |any: &&[&str]| SignV1 { about: any[0].into(), any: any.iter().map(|&word| word.into()).collect() };
        TemplateRequirementV1 { signs: signs.iter().map(sign).collect(), ..TemplateRequirementV1::default() }
    }

    #[track_caller]
    fn check(requirement: &TemplateRequirementV1, parts: &[&str], answer: Option<&AnswerValue>, expect: &str) {
        let shown = |text: &&str| ShownPart { document: "d".into(), heading: "h".into(), text: (*text).into() };
        let answers = answer.map(|answer| GivenAnswer { question: "q", words: "", answer });
        let input = RequirementInput {
            about: RequirementRef { bundle_id: "b", template_id: "t", requirement_id: "r" },
            requirement,
            answers: answers.into_iter().collect(),
            parts: parts.iter().map(shown).collect(),
        };
        let opinion_found = assess(&input, "report incident authority", &plain);
        let cited: Vec<String> =
            opinion_found.citations.iter().map(|cited| format!("{:?} {}", cited.role, cited.name)).collect();
        assert_eq!(
            format!("{} [{}] {}", opinion_found.verdict.as_str(), cited.join(", "), opinion_found.rationale),
            expect
        );
    }

    #[test]
    fn signs_decide() {
        let wanted = requirement(&[&["notify the customer"], &["within 24 hours", "one day"]]);
        check(
            &wanted,
            &["Nothing here.", "We notify the customer.", "Notify the customers within 24 hours."],
            None,
            "yes [Primary P3, Supporting P2] What was found speaks of notify the customer, within 24 hours.",
        );
        check(
            &wanted,
            &["We notify the customer some day."],
            None,
            "partial [Primary P1] What was found speaks of notify the customer, and not of within 24 hours.",
        );
        check(
            &wanted,
            &["The customer may notify us."],
            None,
            "no [] Nothing that was found speaks of notify the customer, within 24 hours.",
        );
        check(&wanted, &[], None, "no [] Nothing that was found speaks of notify the customer, within 24 hours.");
    }

    #[test]
    fn inapplicable_requirement_needs_no_evidence() {
        let mut wanted = requirement(&[&["backup"]]);
        wanted.applies_when.insert("q".into(), "yes".into());
        check(
            &wanted,
            &["Backups are made."],
            Some(&AnswerValue::Flag(false)),
            "not_applicable [] It applies when q is yes, and it is no.",
        );
        check(
            &wanted,
            &["Backups are made."],
            Some(&AnswerValue::Flag(true)),
            "yes [Primary P1] What was found speaks of backup.",
        );
        // Without an answer the requirement applies.
        check(&wanted, &["Backups are made."], None, "yes [Primary P1] What was found speaks of backup.");
    }

    #[test]
    fn without_signs_word_overlap_decides() {
        let wanted = requirement(&[]);
        let expected = |verdict: &str, cited: &str, share: &str| {
            format!("{verdict} [{cited}] The best part has {share} % of the words that are searched for.")
        };
        check(&wanted, &["Report incidents."], None, &expected("yes", "Primary P1", "67"));
        check(&wanted, &["Each incident is logged."], None, &expected("no", "", "33"));
    }
}
