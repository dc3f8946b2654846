//! Adds extras that people confirmed to a suite as acceptable goldens.

use super::LoadedSuite;
use super::edit::{decoded, edit_cases, line_start, parse, splice};
use super::from_commit::slug;
use super::yaml_text::{block_or_quoted, quoted};
use karat_core::finding::Finding;
use karat_core::golden::Acceptance;
use karat_core::matching::outcome::ExtraReason;
use karat_core::pooling::{Claim, Pool, pool_extras};
use karat_core::profile::{Method, Profile, Requirement};
use karat_core::scorecard::{Scorecard, TrialScore};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::case::IssueV1;
use karat_format::document::{Node, Segment, Syntax, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The part of a message that becomes the title of a finding without one.
const LONGEST_TITLE: usize = 100;

/// A golden that the suite should have.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Proposal<'a> {
    pub case: &'a Case,
    pub pool: Pool<'a>,
    pub issue: IssueV1,
}

/// The goldens proposed for confirmed extras.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Proposals<'a> {
    pub goldens: Vec<Proposal<'a>>,
    /// How many things an acceptable golden names already.
    pub named_already: usize,
    pub left_out: Vec<String>,
}

/// Proposes goldens for confirmed extras. What an acceptable golden already describes is not proposed again.
pub fn proposals<'a>(
    loaded: &'a LoadedSuite,
    trials: &'a [Trial],
    scorecard: &Scorecard,
    profile: &Profile,
) -> Proposals<'a> {
    let reach = profile.line.reach;
    let confirmed = |score: &TrialScore| {
        let extras = score.result.extras.iter().filter(|extra| extra.why == ExtraReason::Confirmed);
        extras.map(|extra| extra.finding).collect()
    };
    let mut pools = pool_extras(&loaded.suite, trials, scorecard, reach, confirmed);
    pools.sort_by_key(|pool| pool.case);
    let mut found = Proposals::default();
    let mut ids: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for pool in pools {
        let case = &loaded.suite.cases[pool.case];
        let claim = Claim::from_finding(pool.lead);
        let acceptable = case.goldens.iter().filter(|golden| golden.acceptance == Acceptance::Acceptable);
        if acceptable.into_iter().any(|golden| claim.likeness(&Claim::from_golden(golden), reach).is_some()) {
            found.named_already += 1;
            continue;
        }
        if let Some(why) = misplaced(loaded, case, pool.lead) {
            found.left_out.push(format!("{}: {}: {why}", case.id, first_line(pool.lead.headline())));
            continue;
        }
        let taken = ids.entry(pool.case).or_insert_with(|| case.goldens.iter().map(|g| g.id.to_string()).collect());
        let issue = issue(pool.lead, taken, profile);
        found.goldens.push(Proposal { case, pool, issue });
    }
    found
}

/// Why `karat check` would refuse a golden at the place of a finding.
fn misplaced(loaded: &LoadedSuite, case: &Case, finding: &Finding) -> Option<String> {
    let file = finding.file.as_ref().filter(|_| loaded.has_tree(&case.id))?;
    if !loaded.has_file(&case.id, file) {
        return Some(format!("the case has no file {file}; add the golden by hand"));
    }
    let all = loaded.source(&case.id, file)?.lines().count();
    let lines = finding.lines().filter(|lines| lines.end as usize > all)?;
    let all = count(all, "line");
    Some(format!("line {} lies outside {file}, which has {all}; add the golden by hand", lines.end))
}

fn issue(finding: &Finding, taken: &mut BTreeSet<String>, profile: &Profile) -> IssueV1 {
    let title = finding.title.clone().unwrap_or_else(|| first_line(finding.headline()).to_owned());
    let plain = slug(&title).unwrap_or_else(|| "adopted".to_owned());
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    let id = std::iter::once(plain.clone()).chain(numbered).find(|id| !taken.contains(id)).unwrap_or_default();
    taken.insert(id.clone());
    // A golden without a field that the profile compares would match nothing.
    let by_key = profile.method == Method::Identity;
    let compares = |what: Requirement| profile.require.contains(&what);
    IssueV1 {
        id,
        description: finding.message.clone().filter(|message| *message != title),
        title: Some(title),
        file: finding.file.as_ref().map(ToString::to_string),
        line_start: finding.lines().map(|lines| lines.start),
        line_end: finding.lines().map(|lines| lines.end),
        severity: finding.severity,
        category: finding.category.clone(),
        rule_id: finding.rule_id.clone().filter(|_| by_key || compares(Requirement::Rule)),
        anchor: finding.anchor.clone().filter(|_| by_key),
        cwe: if compares(Requirement::Cwe) { finding.cwe.clone() } else { Vec::new() },
        acceptance: Acceptance::Acceptable,
        ..IssueV1::default()
    }
}

/// The first line of a text, cut at the end of a word.
fn first_line(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(LONGEST_TITLE) {
        None => line,
        Some((end, _)) => line[..end].rfind(' ').map_or(&line[..end], |blank| &line[..blank]),
    }
}

/// A comment on where a golden comes from.
pub fn origin(pool: &Pool<'_>) -> String {
    let tools = pool.tools().len();
    let who = if tools == 1 { "a tool".to_owned() } else { count(tools, "tool") };
    format!("Adopted: {who} reported it, and people confirmed it.")
}

/// A golden as YAML of a case.
pub fn as_yaml(issue: &IssueV1, origin: &str, indent: &str) -> String {
    let mut out = format!("{indent}# {origin}\n{indent}- id: {}\n", quoted(&issue.id));
    let mut line = |key: &str, value: Option<String>| {
        out.extend(value.map(|value| format!("{indent}  {key}: {value}\n")));
    };
    line("title", issue.title.as_deref().map(quoted));
    let deeper = format!("{indent}    ");
    line("description", issue.description.as_deref().map(|text| block_or_quoted(text, &deeper)));
    line("file", issue.file.as_deref().map(quoted));
    line("line_start", issue.line_start.map(|line| line.to_string()));
    line("line_end", issue.line_end.map(|line| line.to_string()));
    line("severity", issue.severity.map(|severity| severity.to_string()));
    line("category", issue.category.as_deref().map(quoted));
    line("rule_id", issue.rule_id.as_deref().map(quoted));
    line("anchor", issue.anchor.as_deref().map(quoted));
    line("cwe", (!issue.cwe.is_empty()).then(|| format!("{:?}", issue.cwe)));
    line("acceptance", Some("acceptable".to_owned()));
    out
}

/// The new content of each file that changes with these goldens, or why nothing can be added. Nothing is written.
pub fn adopt(loaded: &LoadedSuite, goldens: &[Proposal<'_>]) -> Result<BTreeMap<String, String>, String> {
    let advice =
        ["; try again. Nothing was written", "; add the goldens by hand, which --dry-run prints. Nothing was written"];
    edit_cases(loaded, goldens, |golden| &golden.case.id, edited, advice)
}

/// The text of a case with further goldens; `None` if it would not read as just that.
fn edited(text: &str, new: &[&Proposal<'_>], syntax: Syntax) -> Option<String> {
    let mut expect = decoded(text, syntax)?;
    let out = splice(text, insertion(text, &parse(text, syntax)?, new, syntax)?);
    // An unusual layout must not damage the suite: the result must read as the old case with the new goldens.
    expect.issues.extend(new.iter().map(|golden| golden.issue.clone()));
    (decoded(&out, syntax)? == expect).then_some(out)
}

fn insertion(text: &str, node: &Node, new: &[&Proposal<'_>], syntax: Syntax) -> Option<Vec<(Range<usize>, String)>> {
    let flow = new.iter().filter_map(|golden| serde_json::to_string(&golden.issue).ok()).collect::<Vec<_>>().join(", ");
    let break_before = |end: usize| if text[..end].ends_with('\n') { "" } else { "\n" };
    let Value::Object(entries) = &node.value else { return None };
    let stated = entries.iter().find(|(key, _)| key.name == "issues");
    let Some((key, issues)) = stated else {
        if syntax == Syntax::Json {
            let end = node.span.end.checked_sub(1)?;
            let comma = if entries.is_empty() { "" } else { ", " };
            return Some(vec![(end..end, format!("{comma}\"issues\": [{flow}]"))]);
        }
        let end = text.len();
        return Some(vec![(end..end, format!("{}issues:\n{}", break_before(end), block(new, "  ")))]);
    };
    let opens_flow = text.get(issues.span.clone()).is_some_and(|value| value.starts_with('['));
    match &issues.value {
        Value::Array(items) if opens_flow && (syntax == Syntax::Json || !items.is_empty()) => {
            let end = items.last().map_or(issues.span.start + 1, |last| last.span.end);
            let comma = if items.is_empty() { "" } else { ", " };
            Some(vec![(end..end, format!("{comma}{flow}"))])
        }
        Value::Array(items) if !items.is_empty() => {
            let first = node.get(&[Segment::Key("issues"), Segment::Index(0)])?.span.start;
            let dash = text[..first].rfind('-')?;
            let indent = text.get(line_start(text, dash)..dash).filter(|lead| lead.chars().all(|c| c == ' '))?;
            let end = after_item(text, items.last()?.span.end, indent.len());
            Some(vec![(end..end, format!("{}{}", break_before(end), block(new, indent)))])
        }
        // An empty list; what stands behind it on its line stays there.
        Value::Array(_) => {
            let start = key.span.start;
            let lead = text.get(line_start(text, start)..start).filter(|lead| lead.chars().all(|c| c == ' '))?;
            let empty = issues.span.start..issues.span.start + text[issues.span.start..].find(']')? + 1;
            let end = line_end(text, empty.end);
            let added = format!("{}{}", break_before(end), block(new, &format!("{lead}  ")));
            // Where nothing stands behind the list, the blank before it goes too.
            let alone = text[empty.end..end].trim().is_empty() && text[..empty.start].ends_with(' ');
            Some(vec![(empty.start - usize::from(alone)..empty.end, String::new()), (end..end, added)])
        }
        _ => None,
    }
}

fn block(new: &[&Proposal<'_>], indent: &str) -> String {
    new.iter().map(|golden| as_yaml(&golden.issue, &origin(&golden.pool), indent)).collect()
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// Where an item of a list ends, with the comments that belong to it, which are indented deeper than its dash.
fn after_item(text: &str, end: usize, dash: usize) -> usize {
    let mut at = line_end(text, text[..end].trim_end().len());
    loop {
        let next = line_end(text, at);
        let line = &text[at..next];
        let indent = line.len() - line.trim_start().len();
        if next == at || indent <= dash || !line.trim_start().starts_with('#') {
            return at;
        }
        at = next;
    }
}

#[cfg(test)]
mod tests;
