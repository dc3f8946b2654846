use super::*;
use proptest::prelude::*;

fn plain(a: &[Term], b: &[Term]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { row[j].max(above) };
            diagonal = above;
        }
    }
    row[b.len()]
}

fn common(a: &[Term], b: &[Term]) -> usize {
    let text = Tokens::new(a.to_vec());
    Pattern::new(&text).common(b.iter().filter_map(|&term| number(&text, term)))
}

#[test]
fn by_hand() {
    for (a, b, expect) in [
        (&[][..], &[][..], 0),
        (&[1], &[], 0),
        (&[], &[1], 0),
        (&[1, 2, 3], &[1, 2, 3], 3),
        (&[1, 2, 3, 4], &[2, 4, 1, 3], 2),
        (&[1, 1, 1], &[1, 1], 2),
        (&[3, 2, 1], &[1, 2, 3], 1),
    ] {
        assert_eq!((common(a, b), plain(a, b)), (expect, expect), "{a:?} {b:?}");
    }
}

#[test]
fn carries_cross_machine_words() {
    // Each word stands on both sides of borders, with full machine words between.
    let a: Vec<Term> = (0..64 * 5).map(|i| if i % 150 == 63 { 7 } else { 1 }).collect();
    for length in [63, 64, 65, 127, 128, 129, 191, 192, 193, 320] {
        let b: Vec<Term> = a.iter().rev().copied().chain([7, 7, 1]).collect();
        assert_eq!(common(&a[..length], &b), plain(&a[..length], &b), "{length}");
        assert_eq!(common(&a[..length], &a[..length]), length);
    }
}

proptest! {
    #[test]
    fn as_the_dynamic_program(
        a in prop::collection::vec(0..6_u32, 0..300),
        b in prop::collection::vec(0..8_u32, 0..300),
    ) {
        prop_assert_eq!(common(&a, &b), plain(&a, &b));
    }

    #[test]
    fn as_the_dynamic_program_with_rare_words(
        a in prop::collection::vec(0..200_u32, 0..400),
        b in prop::collection::vec(0..200_u32, 0..200),
    ) {
        prop_assert_eq!(common(&a, &b), plain(&a, &b));
        prop_assert_eq!(common(&b, &a), plain(&a, &b));
    }
}
