//! The display order of slice values.

use karat_core::golden::Severity;

/// Sorts values, each with its number of cases: severities from the worst, difficulties from the easiest, others by number of
/// cases.
pub fn sort<V: AsRef<str>>(dimension: &str, values: &mut [(V, usize)]) {
    values.sort_by(|(a, cases), (b, others)| {
        let (a, b) = (a.as_ref(), b.as_ref());
        place(dimension, a).cmp(&place(dimension, b)).then(others.cmp(cases)).then(a.cmp(b))
    });
}

fn place(dimension: &str, value: &str) -> usize {
    let found = match dimension {
        "severity" => {
            const WORST_FIRST: [Severity; 5] =
                [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info];
            WORST_FIRST.iter().position(|severity| severity.as_str() == value)
        }
        "difficulty" => ["easy", "medium", "hard"].iter().position(|own| *own == value),
        _ => None,
    };
    found.unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(dimension: &str, values: &[(&'static str, usize)]) -> String {
        let mut values = values.to_vec();
        sort(dimension, &mut values);
        values.iter().map(|(value, _)| *value).collect::<Vec<_>>().join(" < ")
    }

    #[test]
    fn values_are_in_the_order_of_their_dimension() {
        let severities = [("info", 9), ("odd", 9), ("low", 1), ("critical", 2), ("medium", 5), ("high", 1)];
        assert_eq!(sorted("severity", &severities), "critical < high < medium < low < info < odd");
        let difficulties = [("hard", 9), ("unknown", 20), ("easy", 2), ("medium", 5)];
        assert_eq!(sorted("difficulty", &difficulties), "easy < medium < hard < unknown");
    }

    #[test]
    fn other_values_are_ordered_by_number_of_cases() {
        // A category may have the name of a severity.
        assert_eq!(sorted("category", &[("high", 1), ("auth", 3), ("xss", 3)]), "auth < xss < high");
    }
}
