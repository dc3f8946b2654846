//! Lints for golden records that are valid but measure less than they could.

use super::bundle::{Bundle, EvidenceLocation, listed};
use super::evidence::quoted;
use super::record::BLOCKS;
use crate::ingest::Section;
use karat_core::assessment::part_match::{Category, PartIndex, compare};
use karat_core::assessment::record::{Compliance, GoldenPart, Requirement, Role};
use karat_core::assessment::text::{Tokens, Vocabulary, tokens};
use karat_core::wording::count;
use karat_format::diagnostic::{Diagnostic, Level};
use karat_format::document::{Fault, Segment};
use std::collections::{BTreeMap, BTreeSet};

/// A lint for golden records.
#[expect(missing_docs, reason = "field names say it")]
pub struct Lint {
    /// As shown by `karat check`.
    pub name: &'static str,
    pub level: Level,
    pub why: &'static str,
    pub fix: &'static str,
    find: fn(&LintContext<'_>, &mut Vec<Remark>),
}

/// All lints, in the order of the authors' checklist.
pub static LINTS: &[Lint] = &[
    Lint {
        name: "part-of-clause",
        level: Level::Warning,
        why: "searches give whole sections, so a piece of one is found only by what holds more than it",
        fix: "give the whole text of the section, without its heading",
        find: part_of_clause,
    },
    Lint {
        name: "several-clauses",
        level: Level::Warning,
        why: "searches give single sections, so no citation of one can count for a text that spans several",
        fix: "make each section a golden part of its own",
        find: several_clauses,
    },
    Lint {
        name: "ambiguous-part",
        level: Level::Warning,
        why: "a citation of another section would count as this part",
        fix: "give the longer one of them, or a part that says the same in words of its own",
        find: ambiguous_part,
    },
    Lint {
        name: "no-primary",
        level: Level::Warning,
        why: "a verdict of yes or partial rests on something, and evidence that nobody names cannot be found",
        fix: "name the part that decides under primary_evidence, or set the verdict to no",
        find: no_primary,
    },
    Lint {
        name: "primary-not-applicable",
        level: Level::Warning,
        why: "what is not applicable is decided by what the documents are, rarely by a part of them",
        fix: "move the part to supporting_evidence, or look at the verdict again",
        find: primary_not_applicable,
    },
    Lint {
        name: "many-primary",
        level: Level::Warning,
        why: "parts that decide are few; where all are primary the weights say nothing",
        fix: "keep the one to three parts that decide, and move the others to supporting_evidence",
        find: many_primary,
    },
    Lint {
        name: "supporting-repeats-primary",
        level: Level::Warning,
        why: "one citation counts for both, so the same thing is weighed twice",
        fix: "remove the supporting part",
        find: supporting_repeats_primary,
    },
    Lint {
        name: "no-rationale",
        level: Level::Warning,
        why: "nobody can check a verdict later without its reason",
        fix: "say in a sentence or two why the verdict is this one and not its neighbour",
        find: no_rationale,
    },
    Lint {
        name: "missing-requirement",
        level: Level::Warning,
        why: "nobody is asked about a requirement that the record leaves out, so nothing is measured on it",
        fix: "add them with their verdicts",
        find: missing_requirement,
    },
    Lint {
        name: "one-verdict",
        level: Level::Warning,
        why: "an assessor that always says the same would be right everywhere",
        fix: "add requirements or documents with other verdicts",
        find: one_verdict,
    },
    Lint {
        name: "no-neighbour",
        level: Level::Note,
        why: "where no other section is about the like, any search finds the evidence and none can go wrong",
        fix: "add a section that comes close and misses, such as the same duty of another party",
        find: no_neighbour,
    },
];

/// All remarks on a record, in its order.
pub fn lint(bundle: &Bundle) -> Vec<Diagnostic> {
    let context = LintContext::new(bundle);
    let mut placed = Vec::new();
    for lint in LINTS {
        let mut found = Vec::new();
        (lint.find)(&context, &mut found);
        placed.extend(found.into_iter().map(|remark| diagnostic(bundle, lint, remark)));
    }
    // Stable: remarks on one place keep the order of the table.
    placed.sort_by_key(|remark| (remark.line, remark.column));
    placed
}

struct Remark {
    path: Vec<String>,
    message: String,
}

fn remark(path: &[&str], message: String) -> Remark {
    Remark { path: path.iter().map(|&step| step.to_owned()).collect(), message }
}

/// Points to the value's key if it has one.
fn diagnostic(bundle: &Bundle, lint: &Lint, remark: Remark) -> Diagnostic {
    let path: Vec<&str> = remark.path.iter().map(String::as_str).collect();
    let placed = bundle.source.at_key(&path, lint.name, &remark.message).unwrap_or_else(|| {
        let steps: Vec<Segment<'_>> = path.iter().map(|&key| Segment::Key(key)).collect();
        let fault = Fault::new(lint.name, bundle.source.0.node.place(&steps), &remark.message);
        bundle.source.0.source.diagnostic(fault)
    });
    placed.with_level(lint.level).with_help(format!("{}: {}", lint.why, lint.fix))
}

struct LintContext<'b> {
    bundle: &'b Bundle,
    /// By requirement: golden parts without and with their headings.
    goldens: Vec<Vec<(Tokens, Tokens)>>,
    sections: Vec<(usize, usize)>,
    index: PartIndex,
}

impl<'b> LintContext<'b> {
    fn new(bundle: &'b Bundle) -> Self {
        let mut vocabulary = Vocabulary::default();
        let (mut sections, mut parts) = (Vec::new(), Vec::new());
        for (d, document) in bundle.documents.iter().enumerate() {
            for (s, section) in document.sections.iter().enumerate() {
                sections.push((d, s));
                parts.push(vocabulary.read(&section.heading, &section.body));
            }
        }
        let mut read = |(_, part): (Role, &GoldenPart)| {
            (vocabulary.read("", &part.text), vocabulary.read(&part.title, &part.text))
        };
        let goldens =
            bundle.record.requirements.iter().map(|stated| stated.evidence_parts().map(&mut read).collect()).collect();
        Self { bundle, goldens, sections, index: PartIndex::new(parts) }
    }

    fn requirements(&self) -> &'b [Requirement] {
        &self.bundle.record.requirements
    }

    /// Every golden part: requirement, index, role and part.
    fn parts(&self) -> impl Iterator<Item = (usize, usize, Role, &'b GoldenPart)> {
        self.requirements().iter().enumerate().flat_map(|(r, requirement)| {
            requirement.evidence_parts().enumerate().map(move |(p, (role, part))| (r, p, role, part))
        })
    }

    fn location(&self, requirement: usize, part: usize) -> (&'b EvidenceLocation, &'b Section) {
        let standing = &self.bundle.evidence_locations[requirement][part];
        (standing, &self.bundle.documents[standing.document].sections[standing.section])
    }

    fn on_part(&self, requirement: usize, role: Role, part: &GoldenPart, message: String) -> Remark {
        let requirement = self.requirements()[requirement].id.as_str();
        remark(&["requirements", requirement, BLOCKS[role as usize], part.id.as_str()], message)
    }
}

fn part_of_clause(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    for (r, p, role, part) in context.parts() {
        let (standing, section) = context.location(r, p);
        if standing.sections == 1 && standing.coverage < 1.0 {
            let share = (standing.coverage * 100.0).floor();
            let message = format!("`{}` is {share:.0} % of {}", part.id, quoted(section));
            found.push(context.on_part(r, role, part, message));
        }
    }
}

fn several_clauses(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    for (r, p, role, part) in context.parts() {
        let (standing, section) = context.location(r, p);
        if standing.sections > 1 {
            let spanned = count(standing.sections, "section");
            let message = format!("`{}` spans {spanned}, from {} on", part.id, quoted(section));
            found.push(context.on_part(r, role, part, message));
        }
    }
}

fn ambiguous_part(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    let thresholds = &context.bundle.template.config.scoring.thresholds;
    let all: Vec<Tokens> = context.goldens.iter().flatten().map(|(_, combined)| combined.clone()).collect();
    let matches = context.index.matches(&all, thresholds);
    for (golden, (r, p, role, part)) in context.parts().enumerate() {
        let standing = &context.bundle.evidence_locations[r][p];
        let own = (standing.document, standing.section);
        let hits = matches.near_parts(golden).iter().filter(|near| near.found.category.is_hit());
        let others = hits.map(|near| context.sections[near.part]).filter(|&place| place != own);
        let names: Vec<String> = others
            .map(|(d, s)| {
                let document = &context.bundle.documents[d];
                format!("{} of {}", quoted(&document.sections[s]), document.name)
            })
            .collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!("`{}` stands in other sections, too: {}", part.id, listed(&names));
            found.push(context.on_part(r, role, part, message));
        }
    }
}

fn no_primary(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    for requirement in context.requirements() {
        let verdict = requirement.assessment;
        if matches!(verdict, Compliance::Yes | Compliance::Partial) && requirement.primary.is_empty() {
            let message = format!("`{}` is `{}` without primary evidence", requirement.id, verdict.name());
            found.push(on_primary(requirement, message));
        }
    }
}

fn primary_not_applicable(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    for requirement in context.requirements() {
        if requirement.assessment == Compliance::NotApplicable && !requirement.primary.is_empty() {
            let message = format!("`{}` is `not_applicable` and has primary evidence", requirement.id);
            found.push(on_primary(requirement, message));
        }
    }
}

fn many_primary(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    for requirement in context.requirements().iter().filter(|requirement| requirement.primary.len() > 3) {
        let message = format!("`{}` has {} primary parts", requirement.id, requirement.primary.len());
        found.push(on_primary(requirement, message));
    }
}

fn on_primary(requirement: &Requirement, message: String) -> Remark {
    remark(&["requirements", requirement.id.as_str(), BLOCKS[0]], message)
}

fn supporting_repeats_primary(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    let thresholds = &context.bundle.template.config.scoring.thresholds;
    for (r, p, role, part) in context.parts().filter(|(_, _, role, _)| *role == Role::Supporting) {
        let goldens = &context.goldens[r];
        let primary = &context.requirements()[r].primary;
        // Limited, since records may have hundreds of parts per requirement.
        let alike = |at: &usize| {
            let standing = &context.bundle.evidence_locations[r];
            let same_place =
                standing[*at].document == standing[p].document && standing[*at].section == standing[p].section;
            let found = compare(&goldens[*at].0, &goldens[p].0, thresholds).category;
            found == Category::Exact || same_place && found.is_hit()
        };
        if let Some(other) = (0..primary.len().min(50)).find(alike) {
            let message = format!("`{}` says nearly the same as the primary `{}`", part.id, primary[other].id);
            found.push(context.on_part(r, role, part, message));
        }
    }
}

fn no_rationale(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    for requirement in context.requirements().iter().filter(|requirement| requirement.rationale.trim().is_empty()) {
        let message = format!("`{}` has no rationale", requirement.id);
        found.push(remark(&["requirements", requirement.id.as_str()], message));
    }
}

fn missing_requirement(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    let stated: BTreeSet<&str> = context.requirements().iter().map(|requirement| requirement.id.as_str()).collect();
    let known = context.bundle.template.config.requirements.names();
    let missing: Vec<&str> = known.filter(|id| !stated.contains(id)).collect();
    if !missing.is_empty() {
        let message = format!("of the template, these requirements are missing: {}", listed(&missing));
        found.push(remark(&["requirements"], message));
    }
}

fn one_verdict(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    let requirements = context.requirements();
    let Some(first) = requirements.first().map(|requirement| requirement.assessment) else { return };
    // Two that agree are no pattern.
    if requirements.len() > 2 && requirements.iter().all(|requirement| requirement.assessment == first) {
        let message = format!("all of its {} are `{}`", count(requirements.len(), "requirement"), first.name());
        found.push(remark(&["requirements"], message));
    }
}

/// A section is similar if it shares this many distinctive words with a requirement and its evidence …
const SHARED_WORDS: usize = 2;
/// … and at least this share of its own distinctive words.
const SHARED_SHARE: f64 = 0.1;

fn no_neighbour(context: &LintContext<'_>, found: &mut Vec<Remark>) {
    let telling = |text: &str| -> BTreeSet<String> {
        // Short words are mostly function words, in all languages of contracts.
        tokens(text).into_iter().filter(|word| word.chars().nth(4).is_some()).collect()
    };
    let section = |&(d, s): &(usize, usize)| telling(&context.bundle.documents[d].sections[s].combined());
    let words: Vec<BTreeSet<String>> = context.sections.iter().map(section).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *uses.entry(word).or_default() += 1;
    }
    // Words in most sections are not distinctive, unless there are only a few sections.
    let everywhere = |word: &str| words.len() >= 6 && uses.get(word).is_some_and(|&n| n * 2 > words.len());
    for (r, requirement) in context.requirements().iter().enumerate() {
        let stands = |place: &(usize, usize)| {
            let spans =
                |s: &EvidenceLocation| s.document == place.0 && (s.section..s.section + s.sections).contains(&place.1);
            context.bundle.evidence_locations[r].iter().any(spans)
        };
        if context.bundle.evidence_locations[r].is_empty() {
            continue;
        }
        let mut about = String::new();
        if let Some(stated) = context.bundle.template.config.requirements.get(requirement.id.as_str()) {
            let queries = stated.queries.values().map(String::as_str);
            about =
                [stated.title.as_str(), &stated.description].into_iter().chain(queries).collect::<Vec<_>>().join("\n");
        }
        for (_, part) in requirement.evidence_parts() {
            about.push_str(&format!("\n{}\n{}", part.title, part.text));
        }
        let about = telling(&about);
        let near = |words: &BTreeSet<String>| {
            let shared = words.iter().filter(|word| about.contains(*word) && !everywhere(word)).count();
            shared >= SHARED_WORDS && shared as f64 >= SHARED_SHARE * words.len() as f64
        };
        if !context.sections.iter().zip(&words).any(|(place, words)| !stands(place) && near(words)) {
            let message = format!("no other section is near the evidence of `{}`", requirement.id);
            found.push(remark(&["requirements", requirement.id.as_str()], message));
        }
    }
}
