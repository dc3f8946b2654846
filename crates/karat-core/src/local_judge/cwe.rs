//! How CWE entries relate: a scanner often states the parent or a child of what a golden states.
//!
//! `cwe.txt` lists, for every weakness of CWE's research view, the numbers of its parents and, after `~`, of its peers.

use std::collections::HashMap;

/// Entries at the top of the view: nearly everything is below them, so that being below the same one says nothing.
const PILLARS: [u32; 10] = [284, 435, 664, 682, 691, 693, 697, 703, 707, 710];

/// How near two lists of CWE numbers come to each other, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CweRelation {
    Equal,
    /// One is the parent of the other.
    Parent,
    /// One is above the other, or they are peers.
    Related,
    /// They have a parent in common.
    Sibling,
    Other,
}

/// A CWE number with everything above it.
pub(super) struct Lineage {
    number: u32,
    /// Each with the number of steps up; the number itself is not in it.
    above: Vec<(u32, u8)>,
    peers: Vec<u32>,
}

#[derive(Default)]
pub(super) struct CweTable {
    parents: HashMap<u32, Vec<u32>>,
    peers: HashMap<u32, Vec<u32>>,
}

impl CweTable {
    pub(super) fn new() -> Self {
        let mut table = Self::default();
        for line in include_str!("cwe.txt").lines() {
            let (entry, peers) = line.split_once('~').unwrap_or((line, ""));
            let mut numbers = entry.split_whitespace().filter_map(|number| number.parse().ok());
            let Some(own) = numbers.next() else { continue };
            table.parents.insert(own, numbers.collect());
            for peer in peers.split_whitespace().filter_map(|number| number.parse().ok()) {
                table.peers.entry(own).or_default().push(peer);
                table.peers.entry(peer).or_default().push(own);
            }
        }
        table
    }

    pub(super) fn lineage(&self, number: u32) -> Lineage {
        let mut above: Vec<(u32, u8)> = Vec::new();
        let mut level = vec![number];
        let mut steps = 0;
        while !level.is_empty() {
            steps += 1;
            let parents = level.iter().filter_map(|own| self.parents.get(own)).flatten().copied();
            let is_known = |parent: &u32| above.iter().any(|(known, _)| known == parent);
            level = parents.filter(|parent| !is_known(parent) && *parent != number).collect();
            level.sort_unstable();
            level.dedup();
            above.extend(level.iter().map(|&parent| (parent, steps)));
        }
        Lineage { number, above, peers: self.peers.get(&number).cloned().unwrap_or_default() }
    }
}

/// The nearest relation between any of the numbers on both sides; nothing if a side states none.
pub(super) fn relation(golden: &[Lineage], finding: &[Lineage]) -> Option<CweRelation> {
    golden.iter().flat_map(|a| finding.iter().map(|b| a.relation(b))).min()
}

impl Lineage {
    fn relation(&self, other: &Self) -> CweRelation {
        if self.number == other.number {
            return CweRelation::Equal;
        }
        let (up, down) = (self.steps_to(other.number), other.steps_to(self.number));
        if up == Some(1) || down == Some(1) {
            CweRelation::Parent
        } else if up.is_some() || down.is_some() || self.peers.contains(&other.number) {
            CweRelation::Related
        } else if self.specific_ancestors().any(|(above, steps)| steps == 1 && other.steps_to(above) == Some(1)) {
            CweRelation::Sibling
        } else {
            CweRelation::Other
        }
    }

    /// What is above it and not so general that nearly everything is below.
    fn specific_ancestors(&self) -> impl Iterator<Item = (u32, u8)> {
        self.above.iter().copied().filter(|(number, _)| !PILLARS.contains(number))
    }

    fn steps_to(&self, number: u32) -> Option<u8> {
        self.specific_ancestors().find(|(above, _)| *above == number).map(|(_, steps)| steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_of_known_entries() {
        let table = CweTable::new();
        let lineages = |numbers: &[u32]| numbers.iter().map(|&number| table.lineage(number)).collect::<Vec<_>>();
        let check = |a: &[u32], b: &[u32], expect: Option<CweRelation>| {
            assert_eq!(relation(&lineages(a), &lineages(b)), expect, "{a:?} and {b:?}");
            assert_eq!(relation(&lineages(b), &lineages(a)), expect, "{b:?} and {a:?}");
        };
        // SQL injection, its parent for query languages, OS command injection, its parent for commands.
        check(&[89], &[89], Some(CweRelation::Equal));
        check(&[89], &[943], Some(CweRelation::Parent));
        check(&[78], &[77], Some(CweRelation::Parent));
        check(&[89], &[74], Some(CweRelation::Related));
        check(&[77], &[943], Some(CweRelation::Sibling));
        check(&[89], &[327], Some(CweRelation::Other));
        check(&[89, 327], &[328, 20], Some(CweRelation::Parent));
        check(&[], &[79], None);
        check(&[999_999], &[79], Some(CweRelation::Other));
        // The pillar of improper control of a resource is above both, which says nothing.
        check(&[664], &[400], Some(CweRelation::Other));
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let table = CweTable::new();
        assert_eq!(table.parents.len(), include_str!("cwe.txt").lines().count());
        assert!(table.parents.values().flatten().all(|parent| *parent > 0));
        for pillar in PILLARS {
            assert!(table.lineage(pillar).above.is_empty(), "{pillar} has a parent");
        }
    }
}
