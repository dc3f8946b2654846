//! Which of some numbered things each of some texts has, one bit for each.

/// The marks of all texts, one after another.
pub(crate) struct Marks {
    bits: Vec<u64>,
    words: usize,
}

impl Marks {
    /// No marks yet for `texts` texts and `things` things.
    pub(crate) fn new(texts: usize, things: usize) -> Self {
        let words = things.div_ceil(64);
        Self { bits: vec![0; words * texts], words }
    }

    /// The marks of one text.
    pub(crate) fn of(&self, text: usize) -> &[u64] {
        &self.bits[text * self.words..(text + 1) * self.words]
    }

    /// The marks of one text, to add to.
    pub(crate) fn of_mut(&mut self, text: usize) -> &mut [u64] {
        &mut self.bits[text * self.words..(text + 1) * self.words]
    }
}

/// Marks a thing.
pub(crate) fn mark(marks: &mut [u64], thing: usize) {
    marks[thing / 64] |= 1 << (thing % 64);
}

/// Whether a thing is marked.
pub(crate) fn is_marked(marks: &[u64], thing: u32) -> bool {
    marks[thing as usize / 64] >> (thing % 64) & 1 == 1
}
