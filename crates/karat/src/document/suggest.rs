//! "Did you mean": the known word that a mistyped one probably stands for.

/// A word longer than this is not compared: nobody mistypes one, and comparing takes time by the square of its length.
const LONGEST: usize = 64;

/// The candidate nearest to the word, where one is near enough; the earlier of two that are equally near.
///
/// Words that differ only in case, hyphens, underscores and blanks are the same word; otherwise a third of the letters may
/// be missing, added, changed, or swapped with the next.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().nth(LONGEST).is_some() {
        return None;
    }
    let plain = folded(word);
    let near = |candidate: &&'a str| {
        let other = folded(candidate);
        if plain == other {
            return Some(0);
        }
        let allowed = plain.chars().count().max(other.chars().count()) / 3;
        let distance = strsim::damerau_levenshtein(&plain, &other);
        (distance <= allowed).then_some(distance)
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST * 4)
        .filter_map(|candidate| near(&candidate).map(|distance| (distance, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_the_nearest_word() {
        let check = |word: &str, expect: Option<&str>| {
            let known = ["line_start", "line_end", "severity", "file", "id", "title"];
            assert_eq!(nearest(word, known), expect, "{word}");
        };
        check("lineStart", Some("line_start"));
        check("LINE-END", Some("line_end"));
        check("line_strat", Some("line_start"));
        check("severty", Some("severity"));
        check("flie", Some("file"));
        check("ID", Some("id"));
        check("ix", None);
        check("colour", None);
        check("", None);
        check(&"title".repeat(100), None);
    }
}
