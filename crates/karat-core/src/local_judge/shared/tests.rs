use super::*;
use crate::local_judge::concepts::Concepts;
use crate::local_judge::rarity::Rarity;
use crate::local_judge::text_index::{PartKind, TextIndexer, TextParts};
use crate::local_judge::words::{Piece, Spelling, grams, pieces, stems};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Everything of one kind that a text has, in plain sets.
struct Plain {
    stems: BTreeSet<String>,
    phrases: BTreeSet<[String; 2]>,
    names: BTreeSet<String>,
    numbers: BTreeSet<String>,
    grams: BTreeSet<u64>,
}

impl Plain {
    fn new(text: &str) -> Self {
        let (mut names, mut numbers, mut runs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        pieces(text, |piece| match piece {
            Piece::Number(number) => numbers.extend([number.to_owned()]),
            Piece::Operator(_) => {}
            Piece::Word { word, named, .. } => {
                let own = Spelling::new(word, |_| {});
                names.extend(((named || own.is_name) && !own.is_stop_word).then(|| own.lower.into_owned()));
            }
        });
        grams(text, |gram| runs.extend([gram]));
        let said = stems(text);
        let phrases = said.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect();
        Self { stems: said.into_iter().collect(), phrases, names, numbers, grams: runs }
    }
}

fn common<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> u32 {
    a.intersection(b).count() as u32
}

proptest! {
    /// Tables of numbers find what plain sets find, whatever else was read, and keep nothing of goldens gone by.
    #[test]
    fn tables_find_what_sets_find(texts in proptest::collection::vec(
        "\\PC{0,30}|([a-c]{1,3}|[a-d]{4,7}ing|`[a-b]{3}`|[A-B]a_b|don't|x\\.y|[0-3]|===|İé| ){0,9}( [a-c]{2,4}){0,5}",
        2..9,
    )) {
        let weights = Rarity::learn(texts.iter().take(2).map(String::as_str)).weights();
        let concepts = Concepts::new();
        let mut reader = TextIndexer::new(&weights, &concepts, TextParts { phrases: true, grams: true }, 0);
        let (known, said) = texts.split_at(texts.len() / 2);
        let mut goldens: Vec<IndexedText> = known.iter().map(|text| reader.read(text)).collect();
        let sizes = reader.end_goldens();
        let mut findings: Vec<IndexedText> = said.iter().map(|text| reader.read(text)).collect();
        reader.weigh(goldens.iter_mut().chain(&mut findings), |uses, all| (all + 1 - uses) as f64);
        let mut lookup = GoldenLookup::new(sizes);
        for (golden, text) in goldens.iter().zip(known) {
            lookup.load(golden);
            let own = Plain::new(text);
            for (finding, text) in findings.iter().zip(said) {
                let (shared, other) = (lookup.shared(finding), Plain::new(text));
                let all: Vec<f64> = own.stems.intersection(&other.stems).map(|stem| weights.get(stem)).collect();
                prop_assert!((shared.word_weight - all.iter().sum::<f64>()).abs() < 1e-9);
                prop_assert_eq!(shared.rarest, all.iter().copied().fold(0.0, f64::max));
                let plain = [
                    common(&own.phrases, &other.phrases),
                    common(&own.names, &other.names),
                    common(&own.numbers, &other.numbers),
                    common(&own.grams, &other.grams),
                ];
                prop_assert_eq!(shared.parts, plain);
                let sizes = [PartKind::Phrase, PartKind::Name, PartKind::Gram].map(|kind| finding.count(kind));
                prop_assert_eq!(sizes, [other.phrases.len(), other.names.len(), other.grams.len()]);
            }
            lookup.clear(golden);
        }
    }
}
