//! The code around goldens and findings, as a judge sees it.

use crate::suite::LoadedSuite;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::CaseId;
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use std::fmt::Write as _;

const AROUND: u32 = 8;

/// Only the beginning of a longer place is shown.
const LONGEST_PLACE: u32 = 60;

/// Longer lines are cut, such as those of minified code.
const WIDEST: usize = 240;

/// The numbered lines around these goldens and findings; `None` if the suite does not contain the code.
pub(super) fn excerpts<'a>(
    loaded: &LoadedSuite,
    case: &CaseId,
    goldens: impl IntoIterator<Item = &'a Golden>,
    findings: impl IntoIterator<Item = &'a Finding>,
) -> Option<String> {
    let goldens = goldens.into_iter().filter_map(|golden| match (&golden.file, golden.lines) {
        (Some(FilePattern::Exact(path)), Some(lines)) => Some((path, lines)),
        _ => None,
    });
    let findings = findings.into_iter().filter_map(|finding| finding.file.as_ref().zip(finding.lines()));
    let mut places: Vec<_> = goldens.chain(findings).map(|(path, lines)| (path, around(lines))).collect();
    places.sort_by_key(|(path, lines)| (*path, lines.start, lines.end));
    places.dedup_by(|next, shown| {
        let joined = next.0 == shown.0 && shown.1.gap(next.1) <= 1;
        if joined {
            shown.1.end = shown.1.end.max(next.1.end);
        }
        joined
    });
    let shown: Vec<String> = places.iter().filter_map(|(path, lines)| excerpt(loaded, case, path, *lines)).collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}

fn around(lines: Lines) -> Lines {
    let end = lines.end.min(lines.start.saturating_add(LONGEST_PLACE));
    Lines { start: lines.start.saturating_sub(AROUND).max(1), end: end.saturating_add(AROUND) }
}

fn excerpt(loaded: &LoadedSuite, case: &CaseId, path: &RepoPath, lines: Lines) -> Option<String> {
    let text = loaded.source(case, path)?;
    let mut shown = format!("{path}\n");
    let (first, count) = (lines.start as usize, (lines.end - lines.start) as usize + 1);
    let mut any = false;
    for (number, line) in (1_usize..).zip(text.lines()).skip(first - 1).take(count) {
        let line = line.char_indices().nth(WIDEST).map_or(line, |(end, _)| &line[..end]);
        let _ = writeln!(shown, "{number:>5} | {line}");
        any = true;
    }
    any.then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::load;
    use karat_format::shipped_suites::locate;

    fn lines(start: u32, end: u32) -> Lines {
        Lines { start, end }
    }

    #[test]
    fn both_places_are_shown_and_near_ones_together() {
        let loaded = load(locate("starter")).unwrap();
        let case = &loaded.suite.cases.iter().find(|case| case.id.as_str() == "py-order-search-sqli").unwrap();
        let golden = case.goldens.iter().find(|golden| golden.lines.is_some()).unwrap();
        let place = golden.lines.unwrap();
        let path = golden.file.as_ref().unwrap().path().clone();
        let mut finding = Finding::new("f");
        let alone = excerpts(&loaded, &case.id, [golden], [&finding]).unwrap();
        assert!(alone.contains(path.as_str()) && alone.contains(&format!("{:>5} | ", place.start)), "{alone}");
        finding.file = Some(path);
        (finding.line_start, finding.line_end) = (Some(place.start), Some(place.end));
        assert_eq!(excerpts(&loaded, &case.id, [golden], [&finding]).unwrap(), alone);
        finding.file = RepoPath::new("not/there.py");
        assert_eq!(excerpts(&loaded, &case.id, [golden], [&finding]).unwrap(), alone);
    }

    #[test]
    fn any_lines_will_do() {
        assert_eq!(around(lines(1, u32::MAX)), lines(1, 1 + LONGEST_PLACE + AROUND));
        assert_eq!(around(lines(u32::MAX, u32::MAX)), lines(u32::MAX - AROUND, u32::MAX));
    }
}
