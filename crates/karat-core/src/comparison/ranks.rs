//! Which neighbours of a ranking the data cannot tell apart.

/// Stretches of ranks, from 1, in which no neighbour is told apart from the next. `apart` says of every two neighbours, from
/// the best down, whether they are.
pub fn undecided(apart: &[bool]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (at, _) in apart.iter().enumerate().filter(|(_, apart)| !**apart) {
        match stretches.last_mut() {
            Some((_, last)) if *last == at + 1 => *last = at + 2,
            _ => stretches.push((at + 1, at + 2)),
        }
    }
    stretches
}
