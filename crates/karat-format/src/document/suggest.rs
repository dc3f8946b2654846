//! Finds the known word that a mistyped one probably means.

/// Longer words are not compared, since comparing takes quadratic time.
const MAX_WORD_CHARS: usize = 64;

/// The nearest candidate, if it is near enough; of equally near ones the first.
///
/// Words that differ only in case, hyphens, underscores and blanks are equal; otherwise a third of the letters may
/// be missing, added, changed, or swapped with the next.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().nth(MAX_WORD_CHARS).is_some() {
        return None;
    }
    let plain = normalize(word);
    let near = |candidate: &&'a str| {
        let other = normalize(candidate);
        if plain == other {
            return Some(0);
        }
        let allowed = plain.chars().count().max(other.chars().count()) / 3;
        let distance = strsim::damerau_levenshtein(&plain, &other);
        (distance <= allowed).then_some(distance)
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_WORD_CHARS * 4)
        .filter_map(|candidate| near(&candidate).map(|distance| (distance, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Asks for the nearest candidate, if it is near enough: "did you mean `x`?".
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

fn normalize(word: &str) -> String {
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
