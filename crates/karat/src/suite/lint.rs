//! Problems of a suite that loads: goldens that cannot match, lines outside the file, keywords without effect.

mod proofs;

use super::code::{CodeSource, damaged_objects};
use super::{LoadedSuite, StatedIn};
use karat_core::golden::{Acceptance, Golden};
use karat_core::identity::key::{MatchedVia, RefusedKey};
use karat_core::identity::stated::UnmatchableKey;
use karat_core::identity::{key, stated};
use karat_core::matching::by_identity::found_by;
use karat_core::matching::keywords::fold;
use karat_core::matching::outcome::MissReason;
use karat_core::matching::text::words;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::{Evidence, Method, Profile, Requirement, Unstated};
use karat_core::suite::{Case, Verdict};
use karat_format::diagnostic::{Diagnostic, Fault, Level};
use karat_format::document::{Node, Segment, Source, json, yaml};
use std::collections::{BTreeMap, BTreeSet};

/// All problems, in the order of the cases. A suite with errors cannot be used.
pub fn lint(loaded: &LoadedSuite, profile: &Profile) -> Vec<Diagnostic> {
    let has_listed = loaded.stated_in.values().any(|at| matches!(at, StatedIn::Line(_)));
    let listed: Option<String> = has_listed.then(|| loaded.text("cases.jsonl")).flatten();
    let lines: Vec<&str> = listed.as_deref().map(|text| text.lines().collect()).unwrap_or_default();
    let cases = &loaded.suite.cases;
    let index: BTreeMap<&str, &Case> = cases.iter().map(|c| (c.id.as_str(), c)).collect();
    let mut diagnostics = Vec::new();
    let with_code = cases.iter().any(|case| loaded.has_tree(&case.id));
    let mut sound = BTreeSet::new();
    let mut canaries: BTreeMap<&str, &Case> = BTreeMap::new();
    let with_canary = cases.iter().any(|case| case.canary.is_some());
    let kept = proofs::read_kept_proofs(loaded, &mut diagnostics);
    for case in cases {
        let mut lints = Vec::new();
        case_lints(loaded, case, &index, &mut lints);
        canary_lints(case, with_canary, &mut canaries, &mut lints);
        code_lints(loaded, case, with_code, &mut sound, &mut lints);
        for (g, golden) in case.goldens.iter().enumerate() {
            golden_lints(loaded, case, g, golden, profile, &mut lints);
            proofs::proof_lints(loaded, case, g, golden, &kept, &mut lints);
        }
        duplicate_goldens(case, &mut lints);
        if !lints.is_empty() {
            diagnostics.extend(place(loaded, case, lints, &lines));
        }
    }
    diagnostics
}

struct Lint {
    level: Level,
    code: &'static str,
    at: Path,
    message: String,
    help: Option<String>,
}

type Path = Vec<Segment<'static>>;

fn warning(code: &'static str, at: Path, message: String) -> Lint {
    Lint { level: Level::Warning, code, at, message, help: None }
}

fn error(code: &'static str, at: Path, message: String) -> Lint {
    Lint { level: Level::Error, ..warning(code, at, message) }
}

fn issue(index: usize, key: &'static str) -> Path {
    vec!["issues".into(), index.into(), key.into()]
}

fn case_lints(loaded: &LoadedSuite, case: &Case, index: &BTreeMap<&str, &Case>, lints: &mut Vec<Lint>) {
    if let Some(twin) = case.twin.as_ref().and_then(|id| index.get(id.as_str())) {
        if twin.twin.as_ref() != Some(&case.id) {
            let message = format!("the twin `{}` does not name `{}` as its own twin", twin.id, case.id);
            lints.push(warning("one-sided-twin", vec!["twin".into()], message));
        }
        if twin.verdict == case.verdict {
            let message =
                format!("`{}` and its twin `{}` have the same verdict; one should be the fix", case.id, twin.id);
            lints.push(warning("twins-alike", vec!["twin".into()], message));
        }
    }
    if case.verdict == Verdict::Safe && !case.is_clean() {
        let message = format!("`{}` is called safe and has required issues", case.id);
        lints.push(warning("verdict-contradicts", vec!["verdict".into()], message));
    }
    if let Some(StatedIn::File(file)) = loaded.stated_in.get(&case.id) {
        let folder = file.rsplit('/').nth(1).unwrap_or_default();
        if folder != case.id.as_str() {
            let message = format!("the id `{}` differs from the folder's name `{folder}`", case.id);
            lints.push(warning("id-differs", vec!["id".into()], message));
        }
    }
}

/// A canary tells of one case that a model was trained on it, if no other case has the same. `with_canary` says whether any case has
/// one, `seen` which were seen so far.
fn canary_lints<'s>(case: &'s Case, with_canary: bool, seen: &mut BTreeMap<&'s str, &'s Case>, lints: &mut Vec<Lint>) {
    match case.canary.as_deref() {
        None if with_canary => {
            let message = format!("`{}` has no canary, and other cases have one", case.id);
            let help = Some("write `canary: ` and a new UUID".to_owned());
            lints.push(Lint { help, ..warning("no-canary", vec!["id".into()], message) });
        }
        None => {}
        Some(canary) => {
            let first = *seen.entry(canary).or_insert(case);
            if first.id != case.id {
                let message = format!("`{}` has the canary of `{}`", case.id, first.id);
                let help = Some("each case needs one of its own, such as a new UUID".to_owned());
                lints.push(Lint { help, ..warning("repeated-canary", vec!["canary".into()], message) });
            }
        }
    }
}

/// Missing code, and code that cannot be read. `with_code` says whether any case has some, `sound` which objects are known to be.
fn code_lints(loaded: &LoadedSuite, case: &Case, with_code: bool, sound: &mut BTreeSet<String>, lints: &mut Vec<Lint>) {
    let code = loaded.codes.get(&case.id);
    for message in code.map(|code| damaged_objects(&loaded.files, code, sound)).unwrap_or_default() {
        lints.push(error("damaged-object", vec!["trees".into()], message));
    }
    let folder = match code.map(|code| &code.source) {
        Some(CodeSource::Folder(folder)) => folder.as_str(),
        _ => "",
    };
    if loaded.has_tree(&case.id) {
        // Git keeps no empty folder, so this is how a change that deletes everything looks; it may be an oversight as well.
        if !folder.is_empty() && !loaded.files.has_folder(&format!("{folder}/after")) {
            let message = format!("`{}` has `before/` and no `after/`, so its change deletes every file", case.id);
            let after = loaded.files.display(&format!("{folder}/after"));
            let help = Some(format!("if it does not, put the code as the change leaves it into {after}"));
            lints.push(Lint { level: Level::Note, help, ..warning("no-after", vec!["id".into()], message) });
        }
        return;
    }
    if with_code && !folder.is_empty() {
        let message =
            format!("`{}` has no file in `after/`, unlike other cases; tools that read code skip it", case.id);
        lints.push(warning("no-code", vec!["id".into()], message));
    }
}

fn golden_lints(
    loaded: &LoadedSuite,
    case: &Case,
    index: usize,
    golden: &Golden,
    profile: &Profile,
    lints: &mut Vec<Lint>,
) {
    if loaded.has_tree(&case.id) {
        place_lints(loaded, case, index, golden, lints);
        proofs::quote_lint(loaded, case, index, golden, lints);
    }
    let texts = [&golden.title, &golden.description, &golden.root_cause, &golden.attack_scenario, &golden.fix];
    let texts: Vec<_> = texts.iter().filter_map(|text| text.as_deref().map(fold)).collect();
    let stray = |keyword: &&String| {
        let keyword = fold(keyword.trim());
        keyword.is_empty() || !texts.iter().any(|text| text.contains(&*keyword))
    };
    let strays: Vec<&String> = golden.keywords.iter().filter(stray).collect();
    if !strays.is_empty() {
        let quoted: Vec<String> = strays.iter().map(|keyword| format!("{keyword:?}")).collect();
        let message = format!("keywords of `{}` that do not occur in its text: {}", golden.id, quoted.join(", "));
        let help = Some("use words that a report of this issue must contain".to_owned());
        lints.push(Lint { help, ..warning("stray-keyword", issue(index, "keywords"), message) });
    }
    let mut seen = BTreeSet::new();
    if let Some(keyword) = golden.keywords.iter().find(|k| !seen.insert(fold(k.trim()))) {
        let message = format!("`{}` has the keyword {keyword:?} more than once; it counts once", golden.id);
        lints.push(warning("repeated-keyword", issue(index, "keywords"), message));
    }
    let distinct: BTreeSet<_> = texts.iter().flat_map(|text| words(text)).collect();
    if distinct.len() < 3 && profile.method == Method::Score {
        let message = format!("`{}` says almost nothing; describe what is wrong and where", golden.id);
        lints.push(warning("vague-golden", issue(index, "title"), message));
    }
    if golden.acceptance != Acceptance::Required && golden.target {
        let message = format!("`{}` is the target and not required", golden.id);
        lints.push(warning("target-not-required", issue(index, "target"), message));
    }
    let sound = key_lints(index, golden, profile, lints);
    if let Some(why) = unmatchable(golden, distinct.is_empty(), profile).filter(|_| sound) {
        let message = format!("no tool could match `{}` under the profile `{}`: {why}", golden.id, profile.name);
        lints.push(warning("unmatchable-golden", issue(index, "id"), message));
    }
    if profile.method == Method::Identity {
        identity_lints(index, golden, profile, lints);
    }
}

fn place_lints(loaded: &LoadedSuite, case: &Case, index: usize, golden: &Golden, lints: &mut Vec<Lint>) {
    match &golden.file {
        // A path that leads out of the case is reported elsewhere.
        Some(file) if file.path().escapes() => {}
        Some(FilePattern::Exact(path)) => match loaded.source(&case.id, path) {
            // The change deleted it.
            None if touched(case).any(|touched| touched == path) => {}
            None if !loaded.has_file(&case.id, path) => {
                lints.push(error("no-such-file", issue(index, "file"), format!("missing file `{path}` in after/")));
            }
            None => {}
            Some(text) => {
                let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
                if let Some(lines) = golden.lines.filter(|l| l.end > count) {
                    let starts = lines.start > count;
                    let (key, line) = if starts { ("line_start", lines.start) } else { ("line_end", lines.end) };
                    let lines = karat_core::wording::count(count as usize, "line");
                    let message = format!("line {line} lies outside `{path}`, which has {lines}");
                    lints.push(error("lines-outside-file", issue(index, key), message));
                } else if case.change.as_ref().is_some_and(|c| c.excludes(Some(path), golden.lines, 0)) {
                    let message = format!("`{}` is outside the changed lines", golden.id);
                    lints.push(warning("golden-outside-change", issue(index, "line_start"), message));
                }
            }
        },
        Some(glob @ FilePattern::Glob(_))
            if !loaded.after_paths(&case.id).iter().chain(touched(case)).any(|path| glob.matches(path)) =>
        {
            lints.push(warning("glob-fits-nothing", issue(index, "file"), format!("no file in after/ fits `{glob}`")));
        }
        Some(FilePattern::Glob(_)) | None => {}
    }
}

/// The files that the change touches, deleted ones among them.
fn touched(case: &Case) -> impl Iterator<Item = &RepoPath> {
    case.change.iter().flat_map(|change| change.touched.keys())
}

fn unmatchable(golden: &Golden, wordless: bool, profile: &Profile) -> Option<String> {
    match profile.method {
        Method::Identity => match found_by(golden, &profile.identity) {
            Err(MissReason::NoKey(_)) => {
                Some("it needs file, rule_id and lines or an anchor, or an identity_key".to_owned())
            }
            Err(MissReason::KeyRefused(RefusedKey::NoSource)) => {
                Some("keys name their source in this profile: give it an identity_key that does".to_owned())
            }
            Err(MissReason::KeyRefused(refused)) => {
                Some(format!("identity.{} does not accept its kind of anchor", refused.as_str()))
            }
            Ok(_) | Err(_) => None,
        },
        Method::Score => {
            for requirement in &profile.require {
                let (stated, name) = match requirement {
                    Requirement::Category => (golden.category.is_some(), "category"),
                    Requirement::Cwe => (!golden.cwe.is_empty(), "cwe"),
                    Requirement::Rule => (golden.rules().next().is_some(), "rule_id"),
                    Requirement::File => (golden.file.is_some(), "file"),
                };
                if !stated {
                    return Some(format!("the profile requires an equal {name}, but it has none"));
                }
            }
            if profile.line_tolerance.is_some() && golden.lines.is_none() {
                return Some("the profile has a line_tolerance, but it has no lines".to_owned());
            }
            let weights = &profile.weights;
            let prose = golden.keywords.is_empty() && profile.text_instead_of_keywords && !wordless;
            let has_lines = golden.lines.is_some() && (golden.file.is_some() || !profile.lines_need_same_file);
            let shows = |evidence: &Evidence| match evidence {
                Evidence::Line => has_lines,
                Evidence::Keyword => !golden.keywords.is_empty(),
                Evidence::Text => prose,
                Evidence::Rule => golden.rules().next().is_some(),
                Evidence::Cwe => !golden.cwe.is_empty(),
                Evidence::Category => golden.category.is_some(),
            };
            if !profile.evidence.is_empty() && !profile.uses_judge() && !profile.evidence.iter().any(shows) {
                return Some("the profile asks for evidence beyond the path; give it lines or keywords".to_owned());
            }
            let stated = [
                (golden.file.is_some(), weights.file),
                (has_lines, weights.line),
                (!golden.keywords.is_empty(), weights.keyword),
                (prose, weights.text),
            ];
            let reach: f64 = stated.iter().filter(|(on, _)| *on).map(|(_, w)| w).sum();
            let best = match profile.unstated {
                Unstated::Zero => reach,
                Unstated::LeaveOut => f64::from(u8::from(reach > 0.0)),
            };
            (best + 1e-9 < profile.threshold).then(|| {
                format!(
                    "the best possible score is {best:.2}, below {:.2}; give it a file or keywords",
                    profile.threshold
                )
            })
        }
        Method::Recorded | Method::Audit | Method::Verdict => None,
    }
}

/// Checks a golden's own key; returns false for an error. If the profile does not match by key, problems are warnings.
fn key_lints(index: usize, golden: &Golden, profile: &Profile, lints: &mut Vec<Lint>) -> bool {
    let Some(key) = golden.identity_key.as_deref() else { return true };
    let level = if profile.method == Method::Identity { Level::Error } else { Level::Warning };
    let at = || issue(index, "identity_key");
    if let Err(UnmatchableKey { fault, corrected }) = stated::check(key, &profile.identity) {
        let message = format!("no finding can have the identity_key of `{}`: {fault}", golden.id);
        let built = key::computed_golden_keys(golden).into_iter().next();
        let help = match corrected.or(built) {
            Some(right) => format!("write {right:?}"),
            None => "`karat key` prints the keys of findings".to_owned(),
        };
        lints.push(Lint { help: Some(help), level, ..warning("unmatchable-key", at(), message) });
        return level != Level::Error;
    }
    let contradictions = stated::contradictions(golden);
    if contradictions.is_empty() {
        return true;
    }
    let listed: Vec<String> =
        contradictions.iter().map(|c| format!("{} is {:?}, the key says {:?}", c.field, c.stated, c.key)).collect();
    let message = format!("the identity_key of `{}` contradicts it: {}", golden.id, listed.join("; "));
    let built = key::computed_golden_keys(golden).into_iter().next();
    let help =
        built.map(|right| format!("write {right:?}, or correct the golden; without identity_key the key is built"));
    lints.push(Lint { help, level, ..warning("contradicting-key", at(), message) });
    level != Level::Error
}

fn identity_lints(index: usize, golden: &Golden, profile: &Profile, lints: &mut Vec<Lint>) {
    if !golden.rules().any(|rule| !rule.trim().is_empty()) {
        let message = format!("`{}` has no rule_id; goldens of an identity suite need one", golden.id);
        let named = golden.identity_key.as_deref().and_then(key::parse).map(|parts| parts.rule.to_owned());
        let help = named.map(|rule| format!("its key names the rule {rule:?}"));
        lints.push(Lint { help, ..warning("no-rule-id", issue(index, "id"), message) });
    }
    if found_by(golden, &profile.identity) == Ok(MatchedVia::FileAndRule) {
        let message =
            format!("only the fallback on file and rule could match `{}`; give it lines or an anchor", golden.id);
        lints.push(warning("fallback-only", issue(index, "id"), message));
    }
}

fn duplicate_goldens(case: &Case, lints: &mut Vec<Lint>) {
    let prepared: Vec<BTreeSet<String>> =
        case.goldens.iter().map(|g| words(&karat_core::matching::pair::prose(g)).map(Into::into).collect()).collect();
    // Files with thousands of goldens are generated; comparing all pairs would take too long.
    for (b, golden) in case.goldens.iter().enumerate().take(500) {
        for a in 0..b {
            let other = &case.goldens[a];
            let shared = prepared[a].intersection(&prepared[b]).count();
            let all = prepared[a].union(&prepared[b]).count();
            let alike = all > 0 && shared as f64 / all as f64 >= 0.8;
            let apart = golden.lines.zip(other.lines).is_some_and(|(own, other)| !own.overlaps(other));
            if alike && golden.file == other.file && !apart {
                let message = format!("`{}` says the same as `{}` about the same place", golden.id, other.id);
                lints.push(warning("duplicate-golden", issue(b, "id"), message));
            }
        }
    }
}

/// Finds the lints of a case in its text, which is parsed only if there are any.
fn place(loaded: &LoadedSuite, case: &Case, lints: Vec<Lint>, lines: &[&str]) -> impl Iterator<Item = Diagnostic> {
    let parsed: Option<(Source<'_>, Node)> = match loaded.stated_in.get(&case.id) {
        Some(StatedIn::File(file)) => loaded.text(file).and_then(|text| {
            let node = yaml::parse_recoverable(&text).0?;
            Some((Source::new(loaded.files.display(file), text), node))
        }),
        Some(StatedIn::Line(number)) => lines.get(number - 1).and_then(|line| {
            let node = json::parse_recoverable(line).0?;
            Some((Source::part(loaded.files.display("cases.jsonl"), *line, *number, 0), node))
        }),
        None => None,
    };
    lints.into_iter().map(move |Lint { level, code, at, message, help }| {
        let diagnostic = match &parsed {
            Some((source, node)) => source.diagnostic(Fault::new(code, node.place(&at), message)),
            None => Diagnostic::of_file(loaded.files.display(""), code, message),
        };
        Diagnostic { level, help, ..diagnostic }
    })
}
