//! Fits what is explained to a screen: in full where it fits, else what counts most first.

use super::terminal::{DIM, TerminalStyle, paint};
use karat_core::wording::count;

/// One thing to show, in few lines and in full.
pub(crate) struct Entry {
    pub(crate) brief: String,
    pub(crate) full: String,
}

impl Entry {
    /// An entry that is as short as it can be.
    pub(crate) fn short(text: String) -> Self {
        Self { brief: text.clone(), full: text }
    }
}

/// Entries of one kind, the most telling first.
pub(crate) struct Section {
    /// Printed before its entries.
    pub(crate) title: String,
    pub(crate) entries: Vec<Entry>,
    /// The name of one entry.
    pub(crate) noun: &'static str,
    /// Whether its entries count for or against the tool, and so are shown before those of others.
    pub(crate) counts: bool,
}

/// How much is said of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Brief,
    Full,
}

/// The sections on what is left of a screen below so many lines, or all of them with `--verbose`.
pub(crate) fn fit(sections: &[Section], above: usize, terminal: &TerminalStyle) -> String {
    let room = match terminal.verbosity.verbose {
        true => usize::MAX,
        false => terminal.height.saturating_sub(above + SHORTENED.lines().count()),
    };
    let (text, is_shortened) = fit_lines(sections, room);
    if is_shortened { text + &paint(SHORTENED, DIM, terminal) } else { text }
}

const SHORTENED: &str = "\nShortened to a screen: -v shows everything, and --json has it as data.\n";

/// The sections on at most so many lines, and whether that is less than everything.
fn fit_lines(sections: &[Section], most_lines: usize) -> (String, bool) {
    let mut depths: Vec<Vec<Option<Depth>>> =
        sections.iter().map(|section| vec![Some(Depth::Full); section.entries.len()]).collect();
    if height(sections, &depths) <= most_lines {
        return (draw(sections, &depths), false);
    }
    depths.iter_mut().flatten().for_each(|depth| *depth = None);
    let mut sections = sections;
    while let [first @ .., last] = sections
        && !last.counts
        && height(sections, &depths) > most_lines
    {
        sections = first;
    }
    for depth in [Some(Depth::Brief), Some(Depth::Full)] {
        let mut is_full = vec![false; sections.len()];
        for (section, entry) in by_weight(sections) {
            if is_full[section] || depths[section][entry] == depth {
                continue;
            }
            let before = std::mem::replace(&mut depths[section][entry], depth);
            if height(sections, &depths) > most_lines {
                depths[section][entry] = before;
                // What follows would leave a hole in the order.
                is_full[section] = true;
            }
        }
    }
    (draw(sections, &depths), true)
}

/// The places of all entries: the first of each section that counts, then the second of each, then those of the others.
fn by_weight(sections: &[Section]) -> Vec<(usize, usize)> {
    let places = sections.iter().enumerate().flat_map(|(at, section)| (0..section.entries.len()).map(move |e| (at, e)));
    let mut places: Vec<(usize, usize)> = places.collect();
    places.sort_by_key(|&(section, entry)| match sections[section].counts {
        true => (0, entry, section),
        false => (1, section, entry),
    });
    places
}

fn draw(sections: &[Section], depths: &[Vec<Option<Depth>>]) -> String {
    let mut out = String::new();
    parts(sections, depths, &mut |part| out.push_str(part));
    out
}

fn height(sections: &[Section], depths: &[Vec<Option<Depth>>]) -> usize {
    let mut lines = 0;
    parts(sections, depths, &mut |part| lines += part.matches('\n').count());
    lines
}

fn parts(sections: &[Section], depths: &[Vec<Option<Depth>>], each: &mut dyn FnMut(&str)) {
    for (section, depths) in sections.iter().zip(depths) {
        if section.entries.is_empty() {
            continue;
        }
        each(&section.title);
        for (entry, depth) in section.entries.iter().zip(depths) {
            match depth {
                None => {}
                Some(Depth::Brief) => each(&entry.brief),
                Some(Depth::Full) => each(&entry.full),
            }
        }
        match depths.iter().filter(|depth| depth.is_none()).count() {
            0 => {}
            hidden => each(&format!("  and {}\n", count(hidden, &format!("more {}", section.noun)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(entries: usize, counts: bool) -> Section {
        let entry = |at| Entry { brief: format!("brief {at}\n"), full: format!("full {at}\n2\n3\n") };
        Section { title: "title\n".to_owned(), entries: (0..entries).map(entry).collect(), noun: "thing", counts }
    }

    #[test]
    fn everything_that_fits_is_shown_in_full() {
        let sections = [section(2, true), section(1, false)];
        let (all, shortened) = fit_lines(&sections, 11);
        assert!(!shortened && all.contains("full 1") && !all.contains("brief"), "{all}");
        let (some, shortened) = fit_lines(&sections, 10);
        assert!(shortened && some.lines().count() <= 10 && some.contains("full 0\n"), "{some}");
    }

    #[test]
    fn a_screen_is_never_exceeded_and_what_counts_comes_first() {
        for entries in 0..40 {
            for lines in 8..60 {
                let sections = [section(entries, true), section(entries / 2, true), section(entries, false)];
                let (text, _) = fit_lines(&sections, lines);
                assert!(text.lines().count() <= lines, "{entries} {lines}:\n{text}");
            }
        }
        let (text, _) = fit_lines(&[section(9, false), section(9, true)], 8);
        assert_eq!(
            text,
            "title\n  and 9 more things\ntitle\nbrief 0\nbrief 1\nbrief 2\nbrief 3\n  and 5 more things\n"
        );
    }
}
