use super::*;
use crate::assessment::text::Vocabulary;
use proptest::prelude::*;

fn tokens(count: usize, from: u32) -> Tokens {
    Tokens::new((from..from + count as u32).collect())
}

/// A golden part of ten words and a part with so many of them, in order, and so many others.
#[track_caller]
fn check(common: usize, others: usize, expect: Category) {
    let mut order: Vec<Term> = (0..common as u32).collect();
    order.extend(1000..1000 + others as u32);
    let found = compare(&tokens(10, 0), &Tokens::new(order), &Thresholds::default());
    assert_eq!(found.category, expect, "{found:?}");
}

#[test]
fn the_five_categories_at_their_borders() {
    check(10, 0, Category::Exact);
    check(9, 1, Category::Exact);
    check(9, 2, Category::Broad);
    check(10, 90, Category::Broad);
    check(8, 0, Category::Narrow);
    check(1, 0, Category::Narrow);
    check(8, 1, Category::Weak);
    check(5, 90, Category::Weak);
    check(4, 4, Category::Weak);
    check(4, 5, Category::Miss);
    check(0, 3, Category::Miss);
    check(0, 0, Category::Miss);
}

#[test]
fn the_order_of_words_counts() {
    let backwards = Tokens::new((0..10).rev().collect());
    let found = compare(&tokens(10, 0), &backwards, &Thresholds::default());
    assert_eq!((found.category, found.golden_coverage), (Category::Miss, 0.1));
}

#[test]
fn thresholds_are_the_callers() {
    let loose = Thresholds { whole: 0.6, weak: 0.2 };
    let found = compare(&tokens(10, 0), &tokens(10, 4), &loose);
    assert_eq!((found.category, found.golden_coverage, found.part_coverage), (Category::Exact, 0.6, 0.6));
    assert_eq!(compare(&tokens(10, 0), &tokens(10, 8), &loose).category, Category::Weak);
}

#[test]
fn an_empty_golden_is_never_found() {
    let index = PartIndex::new(vec![tokens(0, 0), tokens(3, 0)]);
    let matches = index.matches(&[tokens(0, 0), tokens(3, 0), tokens(2, 900)], &Thresholds { whole: 0.9, weak: 0.0 });
    assert_eq!((matches.near_parts(0), matches.goldens()), (&[][..], 3));
    assert_eq!((matches.category(1, 1), matches.category(1, 0)), (Category::Exact, Category::Miss));
    // With a threshold of nothing, nothing in common is enough.
    assert_eq!((matches.category(2, 1), matches.is_anywhere(2)), (Category::Weak, false));
    assert_eq!(matches.near_parts(9), []);
}

/// The category of each section against a golden part with this title; all bodies are the given ones.
#[track_caller]
fn check_headings(title: &str, text: &str, sections: &[(&str, &str, Category)]) {
    let mut vocabulary = Vocabulary::default();
    let golden = vocabulary.read(title, text);
    for turned in [false, true] {
        let mut sections = sections.to_vec();
        if turned {
            sections.reverse();
        }
        let index = PartIndex::new(sections.iter().map(|(h, body, _)| vocabulary.read(h, body)).collect());
        let matches = index.matches(std::slice::from_ref(&golden), &Thresholds::default());
        for (at, (heading, _, expect)) in sections.iter().enumerate() {
            assert_eq!(matches.category(0, at), *expect, "{title:?} against {heading:?}");
        }
    }
}

/// 53 words: more than nine tenths of each section, whatever its heading is.
const CLAUSE: &str = "The Processor shall keep records of all categories of processing that it carries out on behalf of the \
    Controller, shall make them available to the supervisory authority on request, and shall review them at least once \
    a year, together with the persons who are responsible for the systems in which the personal data";

#[test]
fn equal_texts_are_told_apart_by_their_headings() {
    use Category::{Broad, Exact, Weak};
    assert_eq!(crate::assessment::text::tokens(CLAUSE).len(), 53);
    check_headings("4.1 Encryption", CLAUSE, &[("4.1 Encryption", CLAUSE, Exact), ("7.3 Backups", CLAUSE, Weak)]);
    // The nearer heading decides, even if both are near.
    check_headings("4.1 Records", CLAUSE, &[("4.1 Records", CLAUSE, Exact), ("4.2 Records", CLAUSE, Weak)]);
    check_headings("Records", CLAUSE, &[("Records", CLAUSE, Exact), ("Records of Backups", CLAUSE, Weak)]);
    check_headings("Security Record", CLAUSE, &[("Security Records", CLAUSE, Exact), ("Records", CLAUSE, Weak)]);
    check_headings("Records", CLAUSE, &[("Records", CLAUSE, Exact), ("", CLAUSE, Weak)]);
    // Equal headings: both are counterparts, even if one text differs a little.
    let other = CLAUSE.replace("once", "twice");
    check_headings("Records", CLAUSE, &[("Records", CLAUSE, Exact), ("records", &other, Exact)]);
    // A heading that contradicts is no counterpart, even if there is no other.
    check_headings("Encryption", CLAUSE, &[("Backups", CLAUSE, Weak)]);
    check_headings("Encryption", CLAUSE, &[("", CLAUSE, Exact)]);
    check_headings("4.1 Encryption", CLAUSE, &[("Encryption", CLAUSE, Exact)]);
    // A larger section holds the part with its heading, or it is about something else.
    let more = "Besides, the following applies to each of the parties. ".repeat(3);
    let (with, without) = (format!("{more}\n\n4.1 Records\n\n{CLAUSE}"), format!("{more}\n\n{CLAUSE}"));
    check_headings("4.1 Records", CLAUSE, &[("4.1 Records", CLAUSE, Exact), ("4 Duties", &with, Broad)]);
    check_headings("4.1 Records", CLAUSE, &[("4.1 Records", CLAUSE, Exact), ("9 Annex", &without, Weak)]);
    // Of two sections each is nearer in one respect.
    check_headings("Records", CLAUSE, &[("Records", &other, Exact), ("Records kept", CLAUSE, Exact)]);
}

fn texts(count: usize) -> impl Strategy<Value = Vec<Tokens>> {
    let text = prop::collection::vec(0..12_u32, 0..90).prop_map(Tokens::new);
    prop::collection::vec(text, 0..count)
}

proptest! {
    /// What is skipped are misses, and nothing else is.
    #[test]
    fn the_bound_loses_nothing(goldens in texts(6), parts in texts(12), weak in 0.0..0.9_f64) {
        let thresholds = Thresholds { whole: 0.9, weak };
        let index = PartIndex::new(parts.clone());
        let matches = index.matches(&goldens, &thresholds);
        for (g, golden) in goldens.iter().enumerate() {
            let near = parts.iter().enumerate().map(|(part, text)| (part, compare(golden, text, &thresholds)));
            let near = near.filter(|(_, found)| found.category != Category::Miss);
            let near: Vec<Near> = near.map(|(part, found)| Near { part, found }).collect();
            prop_assert_eq!(matches.near_parts(g), &near[..]);
        }
    }

    #[test]
    fn swapped_sides_swap_broad_and_narrow(texts in prop::collection::vec(texts(2), 2)) {
        let text = |at: usize| texts[at].first().cloned().unwrap_or_default();
        let [there, back] = [(0, 1), (1, 0)].map(|(a, b)| compare(&text(a), &text(b), &Thresholds::default()));
        let swapped = match there.category {
            Category::Broad => Category::Narrow,
            Category::Narrow => Category::Broad,
            same => same,
        };
        prop_assert_eq!(back.category, swapped);
        prop_assert_eq!((back.golden_coverage, back.part_coverage), (there.part_coverage, there.golden_coverage));
    }
}
