//! The ranking of one topic, with relevance per rank.

use crate::stats::summary::sum;

/// A ranking of documents with what is known of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The relevance of each place; none where nobody judged what stands there.
    found: Vec<Option<u64>>,
    /// How many relevant documents stand on the first so many places: one entry more than places.
    relevant_until: Vec<usize>,
    /// The relevance of all relevant documents, found or not, falling.
    relevant: Vec<u64>,
    /// How many documents were judged not relevant, found or not.
    not_relevant: usize,
}

impl Ranking {
    /// Of the relevance of what was found, in the order of places, and of all that was judged; below 0 nobody judged it.
    pub fn new(found: impl Iterator<Item = Option<i64>>, judged: impl Iterator<Item = i64>) -> Self {
        let level = |relevance: i64| u64::try_from(relevance).ok();
        let found: Vec<Option<u64>> = found.map(|relevance| relevance.and_then(level)).collect();
        let mut relevant_until = vec![0];
        let mut sum = 0;
        for relevance in &found {
            sum += usize::from(is_relevant(*relevance));
            relevant_until.push(sum);
        }
        let mut relevant: Vec<u64> = judged.filter_map(level).collect();
        relevant.sort_unstable_by(|a, b| b.cmp(a));
        let judged = relevant.len();
        relevant.retain(|level| *level > 0);
        Self { found, relevant_until, not_relevant: judged - relevant.len(), relevant }
    }

    /// How many documents were found.
    pub fn retrieved(&self) -> usize {
        self.found.len()
    }

    /// How many relevant documents there are.
    pub fn relevant(&self) -> usize {
        self.relevant.len()
    }

    pub(crate) fn relevant_retrieved(&self) -> usize {
        self.relevant_within(self.found.len())
    }

    fn relevant_within(&self, k: usize) -> usize {
        self.relevant_until[k.min(self.found.len())]
    }

    pub(super) fn judged_not_relevant(&self) -> usize {
        self.found.iter().filter(|relevance| **relevance == Some(0)).count()
    }

    /// The share of the first `k` places that nobody judged; places behind the last document do not count as unjudged.
    pub(super) fn unjudged_within(&self, k: usize) -> f64 {
        share(self.found.iter().take(k).filter(|relevance| relevance.is_none()).count(), k)
    }

    pub(super) fn precision(&self, k: usize) -> f64 {
        share(self.relevant_within(k), k)
    }

    /// The share of the relevant documents that stand on the first `k` places.
    pub fn recall(&self, k: usize) -> f64 {
        share(self.relevant_within(k), self.relevant.len())
    }

    pub(super) fn relative_precision(&self, k: usize) -> f64 {
        share(self.relevant_within(k), k.min(self.relevant.len()))
    }

    pub(super) fn success(&self, k: usize) -> f64 {
        f64::from(u8::from(self.relevant_within(k) > 0))
    }

    /// The precision at each relevant document on the first `k` places, averaged over all relevant documents.
    pub(crate) fn average_precision(&self, k: usize) -> f64 {
        let sum = sum(self.relevant_places().take_while(|place| *place <= k).map(|place| self.precision(place)));
        if self.relevant.is_empty() { 0.0 } else { sum / self.relevant.len() as f64 }
    }

    /// 1 over the place of the first relevant document.
    pub fn reciprocal_rank(&self) -> f64 {
        self.relevant_places().next().map_or(0.0, |place| 1.0 / place as f64)
    }

    /// How often a relevant document stands above one that was judged not to be, among as many of those as are relevant.
    pub(super) fn binary_preference(&self) -> f64 {
        let relevant = self.relevant.len();
        let pairs = self.not_relevant.min(relevant);
        let (mut above, mut sum) = (0_usize, 0.0);
        for relevance in &self.found {
            match relevance {
                Some(0) => above += 1,
                Some(_) if above == 0 => sum += 1.0,
                Some(_) => sum += 1.0 - share(above.min(relevant), pairs),
                None => {}
            }
        }
        if relevant == 0 { 0.0 } else { sum / relevant as f64 }
    }

    /// The highest precision from the place on at which that share of the relevant documents is found, rounded to whole documents.
    pub(super) fn interpolated_precision(&self, recall: f64) -> f64 {
        let wanted = (recall * self.relevant.len() as f64).round();
        let far = self.relevant_places().filter(|place| self.relevant_within(*place) as f64 >= wanted);
        far.map(|place| self.precision(place)).fold(0.0, f64::max)
    }

    /// The precision at that multiple of the number of relevant documents, a part of a document counting as one from a tenth on.
    pub(super) fn precision_at_multiple(&self, multiple: f64) -> f64 {
        self.precision((multiple * self.relevant.len() as f64 + 0.9) as usize)
    }

    /// Discounted cumulative gain on the first `k` places, relevance ÷ log2(place + 1), as a share of the highest there could be.
    pub fn ndcg(&self, k: usize) -> f64 {
        let ideal = gain(self.relevant.iter().copied().take(k));
        let own = gain(self.found.iter().map(|relevance| relevance.unwrap_or(0)).take(k));
        if ideal > 0.0 { own / ideal } else { 0.0 }
    }

    pub(super) fn set_f(&self) -> f64 {
        // 2·P·R / (P + R), with both written out.
        share(2 * self.relevant_retrieved(), self.found.len() + self.relevant.len())
    }

    /// The places of the relevant documents, counted from 1.
    fn relevant_places(&self) -> impl Iterator<Item = usize> {
        self.found.iter().enumerate().filter(|(_, relevance)| is_relevant(**relevance)).map(|(at, _)| at + 1)
    }
}

fn is_relevant(relevance: Option<u64>) -> bool {
    relevance.is_some_and(|level| level > 0)
}

fn gain(levels: impl Iterator<Item = u64>) -> f64 {
    sum(levels.enumerate().map(|(at, level)| level as f64 / libm::log2(at as f64 + 2.0)))
}

/// A share that is 0 where there is nothing to share, as it is in `trec_eval`.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
