//! Computes automatic numbers of paragraphs.

use super::xml::Xml;
use crate::ingest::Result;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbered {
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    start: u32,
    format: String,
    /// Such as `%1.%2`.
    text: String,
    /// The level after which it restarts, from 1; 0 for never.
    restart: Option<usize>,
    legal: bool,
    style: Option<String>,
}

/// A numbering scheme, which several lists may share.
#[derive(Debug, Default)]
struct Scheme {
    levels: BTreeMap<usize, Level>,
    style_link: Option<String>,
    taken_from: Option<String>,
}

#[derive(Debug, Default)]
struct List {
    scheme: String,
    starts: BTreeMap<usize, u32>,
    levels: BTreeMap<usize, Level>,
}

#[derive(Debug, Default)]
pub(super) struct Numbering {
    schemes: BTreeMap<String, Scheme>,
    lists: BTreeMap<String, List>,
    counters: BTreeMap<String, [Option<u32>; LEVELS]>,
    used: BTreeSet<String>,
}

const LEVELS: usize = 9;
const LONGEST_LABEL: usize = 40;

impl Numbering {
    pub(super) fn read(mut xml: Xml<'_>) -> Result<Self> {
        let mut all = Self::default();
        xml.each(|xml, tag| {
            match tag.name() {
                "abstractNum" => {
                    _ = all.schemes.insert(tag.attribute("abstractNumId").unwrap_or_default(), scheme(xml)?)
                }
                "num" => _ = all.lists.insert(tag.attribute("numId").unwrap_or_default(), list(xml)?),
                _ => {}
            }
            Ok(())
        })?;
        all.follow_links();
        Ok(all)
    }

    /// Resolves schemes that refer to a style to the scheme of that style.
    fn follow_links(&mut self) {
        let defined: BTreeMap<&String, &String> =
            self.schemes.iter().filter_map(|(id, scheme)| Some((scheme.style_link.as_ref()?, id))).collect();
        for list in self.lists.values_mut() {
            let link = self.schemes.get(&list.scheme).and_then(|scheme| scheme.taken_from.as_ref());
            if let Some(target) = link.and_then(|link| defined.get(link)) {
                list.scheme = (*target).clone();
            }
        }
    }

    /// The number of the next paragraph of a list, and its level; `None` if it has none.
    pub(super) fn next(&mut self, numbered: &Numbered, styles: &[&str]) -> Option<(String, usize)> {
        let id = numbered.list.as_ref().filter(|id| *id != "0")?;
        let list = self.lists.get(id)?;
        let scheme = self.schemes.get(&list.scheme)?;
        let tied = |style: &str| scheme.levels.iter().find(|(_, l)| l.style.as_deref() == Some(style)).map(|(n, _)| *n);
        let level = numbered.level.or_else(|| styles.iter().find_map(|style| tied(style))).unwrap_or(0).min(LEVELS - 1);
        let level_of = |n: usize| list.levels.get(&n).or_else(|| scheme.levels.get(&n));
        let start = |n: usize| list.starts.get(&n).copied().or_else(|| level_of(n).map(|l| l.start)).unwrap_or(1);

        let counters = self.counters.entry(list.scheme.clone()).or_default();
        if self.used.insert(id.clone()) {
            // Lists of one scheme share counters, unless a list overrides its start.
            list.starts.keys().filter(|n| **n < LEVELS).for_each(|n| counters[*n] = None);
        }
        for (n, counter) in counters.iter_mut().enumerate().take(level) {
            counter.get_or_insert(start(n));
        }
        counters[level] = Some(counters[level].map_or_else(|| start(level), |n| n.saturating_add(1)));
        for (n, counter) in counters.iter_mut().enumerate().skip(level + 1) {
            if level_of(n).and_then(|l| l.restart).is_none_or(|after| level < after) {
                *counter = None;
            }
        }
        let own = level_of(level)?;
        if own.format == "bullet" {
            return Some(("-".to_owned(), level));
        }
        let mut label = String::new();
        let mut signs = own.text.chars();
        while let Some(sign) = signs.next() {
            if sign != '%' {
                label.push(sign);
                continue;
            }
            let n = signs.next().and_then(|digit| digit.to_digit(10)).and_then(|n| (n as usize).checked_sub(1));
            let Some((n, count)) = n.filter(|n| *n < LEVELS).and_then(|n| Some((n, counters[n]?))) else { continue };
            let decimal = own.legal && n != level;
            label.push_str(&format_number(count, level_of(n).filter(|_| !decimal).map_or("decimal", |l| &l.format)));
        }
        let label: String = label.trim().chars().take(LONGEST_LABEL).collect();
        Some((label, level))
    }
}

fn scheme(xml: &mut Xml<'_>) -> Result<Scheme> {
    let mut scheme = Scheme::default();
    xml.each(|xml, tag| {
        match tag.name() {
            "styleLink" => scheme.style_link = tag.value(),
            "numStyleLink" => scheme.taken_from = tag.value(),
            "lvl" => {
                let n = tag.attribute("ilvl").and_then(|v| v.parse().ok()).unwrap_or(0);
                scheme.levels.insert(n, level(xml)?);
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(scheme)
}

fn list(xml: &mut Xml<'_>) -> Result<List> {
    let mut list = List::default();
    let mut at = 0;
    xml.each(|xml, tag| {
        match tag.name() {
            "abstractNumId" => list.scheme = tag.value().unwrap_or_default(),
            "lvlOverride" => at = tag.attribute("ilvl").and_then(|v| v.parse().ok()).unwrap_or(0),
            "startOverride" => _ = list.starts.insert(at, tag.value().and_then(|v| v.parse().ok()).unwrap_or(1)),
            "lvl" => _ = list.levels.insert(at, level(xml)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(list)
}

fn level(xml: &mut Xml<'_>) -> Result<Level> {
    let mut level = Level { start: 1, format: "decimal".to_owned(), ..Level::default() };
    xml.each(|_, tag| {
        match tag.name() {
            "start" => level.start = tag.value().and_then(|v| v.parse().ok()).unwrap_or(1),
            "numFmt" => level.format = tag.value().unwrap_or_default(),
            "lvlText" => level.text = tag.value().unwrap_or_default(),
            "lvlRestart" => level.restart = tag.value().and_then(|v| v.parse().ok()),
            "isLgl" => level.legal = tag.is_on(),
            "pStyle" => level.style = tag.value(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(level)
}

/// Unknown number formats are shown as digits.
fn format_number(n: u32, format: &str) -> String {
    match format {
        "none" => String::new(),
        "decimalZero" => format!("{n:02}"),
        "lowerLetter" => letters(n),
        "upperLetter" => letters(n).to_uppercase(),
        "lowerRoman" => roman(n).to_lowercase(),
        "upperRoman" => roman(n),
        _ => n.to_string(),
    }
}

/// `a` to `z`, then `aa` to `zz`, as word processors count.
fn letters(n: u32) -> String {
    let Some(n) = n.checked_sub(1).filter(|n| *n < 26 * 20) else { return n.to_string() };
    let letter = char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
    (0..=n / 26).map(|_| letter).collect()
}

fn roman(mut n: u32) -> String {
    if !(1..=3999).contains(&n) {
        return n.to_string();
    }
    const VALUES: [u32; 13] = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1];
    const SIGNS: [&str; 13] = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"];
    let mut text = String::new();
    for (value, sign) in VALUES.into_iter().zip(SIGNS) {
        while n >= value {
            text.push_str(sign);
            n -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_word_shows_them() {
        for (n, format, expect) in [
            (1, "decimal", "1"),
            (3, "decimalZero", "03"),
            (1, "lowerLetter", "a"),
            (28, "upperLetter", "BB"),
            (1994, "upperRoman", "MCMXCIV"),
            (4, "lowerRoman", "iv"),
            (0, "lowerRoman", "0"),
            (4_000_000_000, "lowerLetter", "4000000000"),
            (2, "chicago", "2"),
        ] {
            assert_eq!(format_number(n, format), expect, "{n} {format}");
        }
    }
}
