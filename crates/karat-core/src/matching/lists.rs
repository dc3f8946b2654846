//! Lists of `u32` in two flat arrays, and sets with a bitset fast path.

/// A list of numbers per key, each in insertion order.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// The list of key `i` is `items[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    /// Counting sort of (key, number) pairs into lists.
    pub(crate) fn new(things: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_usize; things + 1];
        for (thing, _) in pairs.clone() {
            starts[thing as usize + 1] += 1;
        }
        for thing in 0..things {
            starts[thing + 1] += starts[thing];
        }
        let mut next = starts.clone();
        let mut items = vec![0_u32; starts[things]];
        for (thing, item) in pairs {
            items[next[thing as usize]] = item;
            next[thing as usize] += 1;
        }
        Self { starts, items }
    }

    pub(crate) fn push(&mut self, list: &[u32]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.items.extend_from_slice(list);
        self.starts.push(self.items.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(crate) fn get(&self, thing: u32) -> &[u32] {
        let thing = thing as usize;
        &self.items[self.starts[thing]..self.starts[thing + 1]]
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        (0..self.len() as u32).flat_map(|thing| self.get(thing).iter().map(move |&item| (thing, item)))
    }

    /// For each of `numbers` numbers, its keys in rising order.
    pub(crate) fn inverted(&self, numbers: usize) -> Self {
        Self::new(numbers, self.pairs().map(|(thing, item)| (item, thing)))
    }
}

/// Sorted lists with a membership test, by bitset where that is small.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    pub(crate) lists: Lists,
    bits: Option<(usize, Vec<u64>)>,
}

/// Maximum size of the bitset in words: 64 KiB.
const MOST_WORDS: usize = 8 * 1024;

impl Sets {
    /// `numbers` is one more than the greatest number.
    pub(crate) fn new(lists: Lists, numbers: usize) -> Self {
        let words = numbers.div_ceil(64);
        let bits = (words * lists.len() <= MOST_WORDS).then(|| {
            let mut bits = vec![0_u64; words * lists.len()];
            for (thing, item) in lists.pairs() {
                bits[thing as usize * words + item as usize / 64] |= 1 << (item % 64);
            }
            (words, bits)
        });
        Self { lists, bits }
    }

    pub(crate) fn has(&self, thing: usize, item: u32) -> bool {
        match &self.bits {
            Some((words, bits)) => bits[thing * words + item as usize / 64] >> (item % 64) & 1 == 1,
            None => self.lists.get(thing as u32).binary_search(&item).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back_by_thing_and_by_number() {
        let pairs = [(2, 5), (0, 1), (2, 0), (0, 3)];
        let lists = Lists::new(4, pairs.into_iter());
        assert_eq!(
            (0..4).map(|thing| lists.get(thing).to_vec()).collect::<Vec<_>>(),
            [vec![1, 3], vec![], vec![5, 0], vec![]]
        );
        let back = lists.inverted(6);
        assert_eq!((back.get(0), back.get(1), back.get(2), back.get(5)), (&[2][..], &[0][..], &[][..], &[2][..]));
    }

    #[test]
    fn bits_and_lists_hold_the_same() {
        let numbers = 70_000;
        let mut lists = Lists::default();
        let mut few = Lists::default();
        for thing in 0..20_u32 {
            let own: Vec<u32> = (0..200)
                .map(|i| (i * 331 + thing * 17) % 70_000)
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect();
            lists.push(&own);
            if thing == 0 {
                few.push(&own);
            }
        }
        let (plain, bits) = (Sets::new(lists, numbers), Sets::new(few, numbers));
        assert!(plain.bits.is_none() && bits.bits.is_some());
        for item in 0..70_000 {
            assert_eq!(plain.has(0, item), bits.has(0, item), "{item}");
        }
    }
}
