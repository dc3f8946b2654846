//! Maximum-likelihood weights of the parts of a score, and the best threshold.

use crate::calibrate::simplex::{Slope, descend, readable, scaled};
use crate::matching::assign::quantum;
use crate::matching::outcome::Parts;
use crate::matching::pair::weigh;
use crate::profile::{Profile, Unstated, Weights};
use crate::stats::agreement::kappa_of_table;
use crate::stats::logistic::{Logistic, STEEPNESS_RIDGE, probability};

/// Ridge penalty towards the present weights, worth about ten pairs.
const RIDGE: f64 = 10.0;

/// A part that is the same in more than this share of the pairs keeps its weight: the data says too little about it.
const MOST_ALIKE: f64 = 0.95;

/// The maximum-likelihood weights. Parts that no pair has, or that are nearly the same in all pairs, keep their share.
/// With parts left out the loss is not convex, so the descent starts twice: from the present weights and from equal ones.
pub(super) fn fitted_weights(rows: &[(&Parts, bool)], profile: &Profile) -> Weights {
    let own = &profile.weights;
    let parts = fit_parts(rows.iter().map(|(parts, _)| *parts));
    let free = parts.map(|part| part == FitPart::Free);
    if !rows.iter().any(|(parts, _)| weighs(parts)) || !free.contains(&true) {
        return own.clone();
    }
    let listed = own.list();
    let shares = scaled(listed, [true, true, true, profile.text_instead_of_keywords]);
    let today = scaled(listed, parts.map(|part| part != FitPart::Absent));
    // Of the weight of all parts that pairs have, the free ones share this much.
    let portion: f64 = today.iter().zip(free).filter(|(_, free)| *free).map(|(weight, _)| weight).sum();
    let whole = |found: &[f64; 4]| -> [f64; 4] {
        std::array::from_fn(|part| if free[part] { portion * found[part] } else { today[part] })
    };
    let down = |start: [f64; 4]| {
        let mut logistic = Logistic::default();
        descend(start, free, |found| {
            let here = slope(rows, &whole(found), &today, profile.unstated, &mut logistic);
            Slope {
                loss: here.loss,
                gradient: here.gradient.map(|slope| portion * slope),
                curvature: here.curvature.map(|row| row.map(|bend| portion * portion * bend)),
            }
        })
    };
    let ((from_today, loss), (from_equal, other)) = (down(scaled(listed, free)), down(scaled([0.0; 4], free)));
    let found = whole(if other < loss - 1e-6 * loss.abs() { &from_equal } else { &from_today });
    let present: f64 =
        shares.iter().zip(parts).filter(|(_, part)| *part != FitPart::Absent).map(|(share, _)| share).sum();
    let all =
        std::array::from_fn(|part| if parts[part] == FitPart::Absent { shares[part] } else { present * found[part] });
    let [file, line, mut keyword, text] = readable(all);
    if file + line + keyword <= 0.0 {
        // A profile must have one of the three; so little changes no order.
        keyword = 0.0001;
    }
    Weights { file, line, keyword, text: if profile.text_instead_of_keywords { text } else { own.text } }
}

/// What labelled pairs can say about the weight of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FitPart {
    Absent,
    /// Nothing: it is nearly the same in all pairs that have it.
    Kept,
    Free,
}

pub(super) fn fit_parts<'p>(rows: impl Iterator<Item = &'p Parts>) -> [FitPart; 4] {
    let mut values: [Vec<i64>; 4] = Default::default();
    for parts in rows {
        for (values, part) in values.iter_mut().zip(parts.list()) {
            values.extend(part.map(quantum));
        }
    }
    values.map(|mut values| {
        values.sort_unstable();
        let alike = values.chunk_by(|a, b| a == b).map(<[i64]>::len).max().unwrap_or(0);
        match alike {
            0 => FitPart::Absent,
            alike if alike as f64 > MOST_ALIKE * values.len() as f64 => FitPart::Kept,
            _ => FitPart::Free,
        }
    })
}

/// Whether weights make a difference to a score: it has two parts at least.
pub(super) fn weighs(parts: &Parts) -> bool {
    parts.list().iter().flatten().count() > 1
}

/// `own` scaled to the sum of `other`, for comparison. A text weight that both share stays unchanged.
pub(super) fn rescaled(own: &Weights, other: &Weights) -> Weights {
    let text = own.text != other.text;
    let sum = |of: &Weights| of.file + of.line + of.keyword + if text { of.text } else { 0.0 };
    let factor = if sum(own) > 0.0 { sum(other) / sum(own) } else { 1.0 };
    Weights {
        file: own.file * factor,
        line: own.line * factor,
        keyword: own.keyword * factor,
        text: if text { own.text * factor } else { own.text },
    }
}

/// The loss at some weights, with the steepness that suits them best, its slope, and about how that changes: as if scores were
/// straight in the weights, which keeps the curvature positive. `logistic` is where to look from.
pub(super) fn slope(
    rows: &[(&Parts, bool)],
    weights: &[f64; 4],
    today: &[f64; 4],
    unstated: Unstated,
    logistic: &mut Logistic,
) -> Slope<4> {
    let named = Weights::from(*weights);
    let scored: Vec<(f64, bool)> =
        rows.iter().map(|(parts, matched)| (weigh(parts, &named, unstated), *matched)).collect();
    *logistic = logistic.fitted(&scored);
    let mut loss = logistic.loss(&scored);
    let (mut gradient, mut curvature) = ([0.0; 4], [[0.0; 4]; 4]);
    // How the slopes of base and steepness change with these and with the weights.
    let (mut own, mut mixed) = ([1e-12, 0.0, STEEPNESS_RIDGE], [[0.0; 2]; 4]);
    for ((parts, _), &(score, matched)) in rows.iter().zip(&scored) {
        let there = parts.list();
        let total: f64 = there.iter().zip(weights).filter(|(part, _)| part.is_some()).map(|(_, weight)| weight).sum();
        let rise = there.map(|part| match (part, unstated) {
            (None, _) => 0.0,
            (Some(part), Unstated::Zero) => logistic.steepness * part,
            (Some(part), Unstated::LeaveOut) if total > 0.0 => logistic.steepness * (part - score) / total,
            (Some(_), Unstated::LeaveOut) => 0.0,
        });
        let p = probability(logistic.log_odds(score));
        let (push, bend) = (p - f64::from(matched), p * (1.0 - p));
        own = [own[0] + bend, own[1] + bend * score, own[2] + bend * score * score];
        for part in 0..4 {
            gradient[part] += push * rise[part];
            mixed[part] = [mixed[part][0] + bend * rise[part], mixed[part][1] + bend * rise[part] * score];
            (0..4).for_each(|other| curvature[part][other] += bend * rise[part] * rise[other]);
        }
    }
    // Base and steepness follow the weights, which makes the loss bend less.
    let [a, b, c] = own;
    for part in 0..4 {
        let [x, y] = mixed[part];
        let follow = [(c * x - b * y) / (a * c - b * b), (a * y - b * x) / (a * c - b * b)];
        (0..4).for_each(|other| curvature[part][other] -= follow[0] * mixed[other][0] + follow[1] * mixed[other][1]);
    }
    for (part, (weight, today)) in weights.iter().zip(today).enumerate() {
        loss += RIDGE * (weight - today) * (weight - today);
        gradient[part] += 2.0 * RIDGE * (weight - today);
        curvature[part][part] += 2.0 * RIDGE;
    }
    Slope { loss, gradient, curvature }
}

/// The threshold with the highest kappa; of equals, the one in the middle of the widest gap between scores.
pub(super) fn threshold(mut scored: Vec<(f64, bool)>) -> f64 {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = scored.iter().filter(|(_, matched)| *matched).count();
    // Labels by decisions; at first nothing is taken.
    let mut table = [[(scored.len() - all) as f64, 0.0], [all as f64, 0.0]];
    let (mut best, mut widest, mut chosen) = (f64::NEG_INFINITY, 0.0, 0.0);
    let mut groups = scored.chunk_by(|a, b| quantum(a.0) == quantum(b.0)).peekable();
    while let Some(tied) = groups.next() {
        for (_, matched) in tied {
            let [refused, taken] = &mut table[usize::from(*matched)];
            *refused -= 1.0;
            *taken += 1.0;
        }
        let high = tied.last().map_or(0.0, |(score, _)| *score);
        let low = groups.peek().and_then(|next| next.first()).map_or(0.0, |(score, _)| *score);
        let kappa = kappa_of_table(&table).unwrap_or(0.0);
        if kappa > best || kappa == best && high - low > widest {
            (best, widest, chosen) = (kappa, high - low, between(low, high));
        }
    }
    chosen
}

/// The middle, in ten-thousandths where the gap has room for that.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    let short = (middle * 1e4).round() / 1e4;
    if quantum(short) > quantum(low) && quantum(short) <= quantum(high) { short } else { middle }
}
