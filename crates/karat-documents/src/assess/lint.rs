//! Lints for golden records that are valid but measure less than they could.

use super::bundle::{Bundle, EvidenceLocation, listed};
use super::evidence::quoted;
use super::record::BLOCKS;
use crate::ingest::Section;
use karat_core::assessment::part_match::{Category, Matches, PartIndex, compare};
use karat_core::assessment::record::{Compliance, GoldenPart, Requirement, Role};
use karat_core::assessment::text::{Tokens, Vocabulary, tokens};
use karat_core::wording::count;
use karat_format::diagnostic::{Diagnostic, Level};
use karat_format::document::Segment;
use std::collections::{BTreeMap, BTreeSet};

/// A lint for golden records.
#[expect(missing_docs, reason = "field names say it")]
pub struct Lint {
    /// As shown by `karat check`.
    pub name: &'static str,
    pub level: Level,
    pub why: &'static str,
    pub fix: &'static str,
    find: Find,
}

/// Looks for something, and says what is wrong with it.
enum Find {
    Part(fn(&LintContext<'_>, &PartRef<'_>) -> Option<String>),
    /// The primary evidence of a requirement.
    Primary(fn(&Requirement) -> Option<String>),
    Requirement(fn(&LintContext<'_>, usize) -> Option<String>),
    Record(fn(&Bundle) -> Option<String>),
}

/// All lints, in the order of the authors' checklist.
pub static LINTS: &[Lint] = &[
    Lint {
        name: "part-of-clause",
        level: Level::Warning,
        why: "searches return whole sections, so a part of one is always found together with the rest of its section",
        fix: "give the whole text of the section, without its heading",
        find: Find::Part(part_of_clause),
    },
    Lint {
        name: "several-clauses",
        level: Level::Warning,
        why: "searches return single sections, so no citation can contain a text that spans several",
        fix: "make each section a golden part of its own",
        find: Find::Part(several_clauses),
    },
    Lint {
        name: "ambiguous-part",
        level: Level::Warning,
        why: "a citation of another section would count as this part",
        fix: "choose the longer of the two, or a part with distinctive words",
        find: Find::Part(ambiguous_part),
    },
    Lint {
        name: "no-primary",
        level: Level::Warning,
        why: "a verdict of yes or partial needs evidence, and evidence that is not named cannot be found",
        fix: "name the part that decides under primary_evidence, or set the verdict to no",
        find: Find::Primary(no_primary),
    },
    Lint {
        name: "primary-not-applicable",
        level: Level::Warning,
        why: "whether a requirement applies depends on the kind of documents, rarely on a part of them",
        fix: "move the part to supporting_evidence, or check the verdict",
        find: Find::Primary(primary_not_applicable),
    },
    Lint {
        name: "many-primary",
        level: Level::Warning,
        why: "few parts decide a verdict; if all are primary, the weights have no effect",
        fix: "keep the one to three parts that decide, and move the others to supporting_evidence",
        find: Find::Primary(many_primary),
    },
    Lint {
        name: "supporting-repeats-primary",
        level: Level::Warning,
        why: "one citation counts for both, so the same evidence has double weight",
        fix: "remove the supporting part",
        find: Find::Part(supporting_repeats_primary),
    },
    Lint {
        name: "no-rationale",
        level: Level::Warning,
        why: "nobody can check a verdict later without its reason",
        fix: "explain in a sentence or two why this verdict is right and the next one is not",
        find: Find::Requirement(no_rationale),
    },
    Lint {
        name: "missing-requirement",
        level: Level::Warning,
        why: "a requirement that the record leaves out is not measured",
        fix: "add them with their verdicts",
        find: Find::Record(missing_requirement),
    },
    Lint {
        name: "one-verdict",
        level: Level::Warning,
        why: "an assessor that always gives the same verdict would be right everywhere",
        fix: "add requirements or documents with other verdicts",
        find: Find::Record(one_verdict),
    },
    Lint {
        name: "no-neighbour",
        level: Level::Note,
        why: "if no other section is about a similar subject, every search finds the evidence",
        fix: "add a near miss, such as a section with the same duty of another party",
        find: Find::Requirement(no_neighbour),
    },
];

/// All remarks on a record, in its order.
pub fn lint(bundle: &Bundle) -> Vec<Diagnostic> {
    let context = LintContext::new(bundle);
    let requirements = &bundle.record.requirements;
    let mut placed = Vec::new();
    for lint in LINTS {
        let mut remark = |path: &[&str], message: Option<String>| {
            placed.extend(message.map(|message| diagnostic(bundle, lint, path, message)));
        };
        match lint.find {
            Find::Part(find) => context.parts().for_each(|own| {
                let requirement = requirements[own.requirement].id.as_str();
                let path = ["requirements", requirement, BLOCKS[own.role as usize], own.part.id.as_str()];
                remark(&path, find(&context, &own));
            }),
            Find::Primary(find) => {
                requirements.iter().for_each(|own| remark(&["requirements", own.id.as_str(), BLOCKS[0]], find(own)))
            }
            Find::Requirement(find) => requirements
                .iter()
                .enumerate()
                .for_each(|(at, own)| remark(&["requirements", own.id.as_str()], find(&context, at))),
            Find::Record(find) => remark(&["requirements"], find(bundle)),
        }
    }
    // Stable: remarks on one place keep the order of the table.
    placed.sort_by_key(|remark| (remark.line, remark.column));
    placed
}

/// Points to the value's key if it has one.
fn diagnostic(bundle: &Bundle, lint: &Lint, path: &[&str], message: String) -> Diagnostic {
    let placed = bundle.source.at_key(path, lint.name, &message).unwrap_or_else(|| {
        let steps: Vec<Segment<'_>> = path.iter().map(|&key| Segment::Key(key)).collect();
        bundle.source.document.at(&steps, lint.name, message)
    });
    placed.with_level(lint.level).with_help(format!("{}: {}", lint.why, lint.fix))
}

struct LintContext<'b> {
    bundle: &'b Bundle,
    /// By requirement: golden parts without their headings.
    goldens: Vec<Vec<Tokens>>,
    /// Document and section.
    sections: Vec<(usize, usize)>,
    /// All sections with all golden parts.
    matches: Matches,
    /// The content words of each section.
    words: Vec<BTreeSet<String>>,
    /// Words in most sections, which are not distinctive.
    common: BTreeSet<String>,
}

/// A golden part and its requirement, by index.
struct PartRef<'b> {
    requirement: usize,
    /// Among all golden parts.
    golden: usize,
    /// Among those of the requirement.
    at: usize,
    role: Role,
    part: &'b GoldenPart,
    location: &'b EvidenceLocation,
}

impl<'b> LintContext<'b> {
    fn new(bundle: &'b Bundle) -> Self {
        let mut vocabulary = Vocabulary::default();
        let (mut sections, mut parts, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (d, document) in bundle.documents.iter().enumerate() {
            for (s, section) in document.sections.iter().enumerate() {
                sections.push((d, s));
                parts.push(vocabulary.read(&section.heading, &section.body));
                words.push(content_words(&format!("{}\n\n{}", section.heading, section.body)));
            }
        }
        let (mut goldens, mut combined) = (Vec::new(), Vec::new());
        for requirement in &bundle.record.requirements {
            let mut own = Vec::new();
            for (_, part) in requirement.evidence_parts() {
                own.push(vocabulary.read("", &part.text));
                combined.push(vocabulary.read(&part.title, &part.text));
            }
            goldens.push(own);
        }
        let matches = PartIndex::new(parts).matches(&combined, &bundle.template.config.scoring.thresholds);
        let mut uses: BTreeMap<&String, usize> = BTreeMap::new();
        for word in words.iter().flatten() {
            *uses.entry(word).or_default() += 1;
        }
        // Unless there are only a few sections.
        let common = |n: usize| words.len() >= 6 && n * 2 > words.len();
        let common = uses.into_iter().filter(|(_, n)| common(*n)).map(|(word, _)| word.clone()).collect();
        Self { bundle, goldens, sections, matches, words, common }
    }

    fn parts(&self) -> impl Iterator<Item = PartRef<'b>> {
        let bundle = self.bundle;
        let requirements = bundle.record.requirements.iter().enumerate();
        let parts = requirements.flat_map(move |(r, own)| own.evidence_parts().enumerate().map(move |at| (r, at)));
        parts.enumerate().filter_map(|(golden, (requirement, (at, (role, part))))| {
            let location = bundle.evidence_locations[requirement][at].as_ref()?;
            Some(PartRef { requirement, golden, at, role, part, location })
        })
    }

    fn section(&self, document: usize, section: usize) -> &'b Section {
        &self.bundle.documents[document].sections[section]
    }
}

fn part_of_clause(context: &LintContext<'_>, PartRef { part, location, .. }: &PartRef<'_>) -> Option<String> {
    let share = (location.coverage * 100.0).floor();
    let section = context.section(location.document, location.section);
    // What an inexact part lacks of its section is reported where it is located.
    (location.sections == 1 && location.golden_coverage >= 1.0 && location.coverage < 1.0)
        .then(|| format!("`{}` is {share:.0} % of {}", part.id, quoted(section)))
}

fn several_clauses(context: &LintContext<'_>, PartRef { part, location, .. }: &PartRef<'_>) -> Option<String> {
    let spanned = count(location.sections, "section");
    let section = context.section(location.document, location.section);
    (location.sections > 1).then(|| format!("`{}` spans {spanned}, from {} on", part.id, quoted(section)))
}

fn ambiguous_part(context: &LintContext<'_>, own: &PartRef<'_>) -> Option<String> {
    let hits = context.matches.near_parts(own.golden).iter().filter(|near| near.found.category.is_hit());
    let others = hits
        .map(|near| context.sections[near.part])
        .filter(|&place| place != (own.location.document, own.location.section));
    let name = |(d, s)| format!("{} of {}", quoted(context.section(d, s)), context.bundle.documents[d].name);
    let names: Vec<String> = others.map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("`{}` stands in other sections, too: {}", own.part.id, listed(&names)))
}

fn no_primary(requirement: &Requirement) -> Option<String> {
    let verdict = requirement.assessment;
    (matches!(verdict, Compliance::Yes | Compliance::Partial) && requirement.primary.is_empty())
        .then(|| format!("`{}` is `{}` without primary evidence", requirement.id, verdict.as_str()))
}

fn primary_not_applicable(requirement: &Requirement) -> Option<String> {
    (requirement.assessment == Compliance::NotApplicable && !requirement.primary.is_empty())
        .then(|| format!("`{}` is `not_applicable` and has primary evidence", requirement.id))
}

fn many_primary(requirement: &Requirement) -> Option<String> {
    let parts = requirement.primary.len();
    (parts > 3).then(|| format!("`{}` has {parts} primary parts", requirement.id))
}

fn supporting_repeats_primary(context: &LintContext<'_>, own: &PartRef<'_>) -> Option<String> {
    if own.role != Role::Supporting {
        return None;
    }
    let thresholds = &context.bundle.template.config.scoring.thresholds;
    let goldens = &context.goldens[own.requirement];
    let primary = &context.bundle.record.requirements[own.requirement].primary;
    let alike = |at: &usize| {
        let other = context.bundle.evidence_locations[own.requirement][*at].as_ref();
        let here = (own.location.document, own.location.section);
        let same_place = other.is_some_and(|other| (other.document, other.section) == here);
        let found = compare(&goldens[*at], &goldens[own.at], thresholds).category;
        found == Category::Exact || same_place && found.is_hit()
    };
    // Limited, since records may have hundreds of parts per requirement.
    let other = (0..primary.len().min(50)).find(alike)?;
    Some(format!("`{}` says nearly the same as the primary `{}`", own.part.id, primary[other].id))
}

fn no_rationale(context: &LintContext<'_>, at: usize) -> Option<String> {
    let Requirement { id, rationale, .. } = &context.bundle.record.requirements[at];
    rationale.trim().is_empty().then(|| format!("`{id}` has no rationale"))
}

fn missing_requirement(bundle: &Bundle) -> Option<String> {
    let stated: BTreeSet<&str> = bundle.record.requirements.iter().map(|own| own.id.as_str()).collect();
    let missing: Vec<&str> = bundle.template.config.requirements.names().filter(|id| !stated.contains(id)).collect();
    (!missing.is_empty()).then(|| format!("of the template, these requirements are missing: {}", listed(&missing)))
}

fn one_verdict(bundle: &Bundle) -> Option<String> {
    let requirements = &bundle.record.requirements;
    let first = requirements.first()?.assessment;
    // Two that agree are no pattern.
    (requirements.len() > 2 && requirements.iter().all(|requirement| requirement.assessment == first))
        .then(|| format!("all of its {} are `{}`", count(requirements.len(), "requirement"), first.as_str()))
}

/// A section is similar if it shares this many distinctive words with a requirement and its evidence …
const SHARED_WORDS: usize = 2;
/// … and at least this share of its own distinctive words.
const SHARED_SHARE: f64 = 0.1;

fn no_neighbour(context: &LintContext<'_>, at: usize) -> Option<String> {
    let requirement = &context.bundle.record.requirements[at];
    let locations: Vec<&EvidenceLocation> = context.bundle.evidence_locations[at].iter().flatten().collect();
    if locations.is_empty() {
        return None;
    }
    let mut about = String::new();
    if let Some(stated) = context.bundle.template.config.requirements.get(requirement.id.as_str()) {
        let queries = stated.queries.values().map(String::as_str);
        about = [stated.title.as_str(), &stated.description].into_iter().chain(queries).collect::<Vec<_>>().join("\n");
    }
    for (_, part) in requirement.evidence_parts() {
        about.push_str(&format!("\n{}\n{}", part.title, part.text));
    }
    let about = content_words(&about);
    let stands = |&(document, section): &(usize, usize)| {
        let spans = |s: &EvidenceLocation| (s.section..s.section + s.sections).contains(&section);
        locations.iter().any(|location| location.document == document && spans(location))
    };
    let near = |words: &BTreeSet<String>| {
        let shared = words.iter().filter(|word| about.contains(*word) && !context.common.contains(*word)).count();
        shared >= SHARED_WORDS && shared as f64 >= SHARED_SHARE * words.len() as f64
    };
    let neighbour = context.sections.iter().zip(&context.words).any(|(place, words)| !stands(place) && near(words));
    (!neighbour).then(|| format!("no other section is near the evidence of `{}`", requirement.id))
}

/// Short words are mostly function words, in all languages of contracts.
fn content_words(text: &str) -> BTreeSet<String> {
    tokens(text).into_iter().filter(|word| word.chars().nth(4).is_some()).collect()
}
