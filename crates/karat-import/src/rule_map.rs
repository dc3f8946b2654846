//! A table from a tool's rules to categories and CWE numbers, for tools whose vocabulary is not the suite's.

use super::delimited::{Width, for_each_row, row_fault};
use super::fields::cwe_number;
use super::{ImportError, input};
use ::csv::StringRecord;
use karat_core::finding::Finding;
use karat_core::wording::count;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Categories and CWE numbers by rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleMap {
    exact: HashMap<String, Entry>,
    folded: HashMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    category: String,
    cwe: Vec<u32>,
}

impl RuleMap {
    /// Reads a CSV file with the header `rule_id,category` or `rule_id,category,cwe`.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let mut columns = None;
        let mut map = Self::default();
        let mut faults: Vec<(u64, String)> = Vec::new();
        let mut lines: HashMap<String, u64> = HashMap::new();
        for_each_row(input::open(path)?, Width::Any, |line, record| {
            let Some(columns) = &columns else {
                columns = Some(Columns::from_header(record)?);
                return Ok(());
            };
            if !record.iter().all(str::is_empty)
                && let Err(message) =
                    columns.entry(record).and_then(|(rule, entry)| map.add(rule, entry, line, &mut lines))
            {
                faults.push((line, message));
            }
            Ok(())
        })?;
        if columns.is_none() {
            Columns::from_header(&StringRecord::new()).map_err(|message| row_fault(path, 1, message))?;
        }
        check(path, &faults).map(|()| map)
    }

    fn add(&mut self, rule: &str, entry: Entry, line: u64, lines: &mut HashMap<String, u64>) -> Result<(), String> {
        if self.exact.get(rule).is_some_and(|earlier| *earlier != entry) {
            let first = lines.get(rule).copied().unwrap_or_default();
            return Err(format!("rule {rule:?} has another category on line {first}"));
        }
        lines.entry(rule.to_owned()).or_insert(line);
        self.folded.entry(rule.to_lowercase()).or_insert_with(|| entry.clone());
        self.exact.insert(rule.to_owned(), entry);
        Ok(())
    }

    /// Sets the category of a finding by its rule, and adds the rule's CWE numbers. Returns whether the map has the rule.
    pub fn apply(&self, finding: &mut Finding) -> bool {
        let entry = finding.rule_id.as_deref().and_then(|rule| {
            let rule = rule.trim();
            self.exact.get(rule).or_else(|| self.folded.get(&rule.to_lowercase()))
        });
        let Some(entry) = entry else { return false };
        if !entry.category.is_empty() {
            finding.category = Some(entry.category.clone());
        }
        finding.cwe.extend(&entry.cwe);
        finding.cwe.sort_unstable();
        finding.cwe.dedup();
        true
    }
}

struct Columns {
    rule: usize,
    category: usize,
    cwe: Option<usize>,
}

impl Columns {
    fn from_header(header: &StringRecord) -> Result<Self, String> {
        let names: BTreeMap<String, usize> =
            header.iter().enumerate().map(|(index, name)| (name.trim().to_lowercase(), index)).collect();
        let needed = |name: &str| {
            names.get(name).copied().ok_or_else(|| {
                format!("missing column `{name}`; a rule map starts with the line `rule_id,category` or `rule_id,category,cwe`")
            })
        };
        Ok(Self { rule: needed("rule_id")?, category: needed("category")?, cwe: names.get("cwe").copied() })
    }

    fn entry<'r>(&self, record: &'r StringRecord) -> Result<(&'r str, Entry), String> {
        let rule = record.get(self.rule).unwrap_or_default();
        let category = record.get(self.category).unwrap_or_default();
        let cwe = self.cwe.and_then(|column| record.get(column)).unwrap_or_default();
        if rule.is_empty() {
            return Err("the rule id is missing".to_owned());
        }
        if category.is_empty() && cwe.is_empty() {
            return Err(format!("rule {rule:?} has neither a category nor a CWE number"));
        }
        Ok((rule, Entry { category: category.to_owned(), cwe: numbers(cwe)? }))
    }
}

/// `89`, `CWE-89`, or several of them, separated by blanks, `;`, `|` or `,`.
fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let parts = text.split([' ', ';', '|', ',']).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let digits = part.get(..4).filter(|start| start.eq_ignore_ascii_case("cwe-")).map_or(part, |_| &part[4..]);
            let number = digits.parse().ok().and_then(cwe_number);
            number.ok_or_else(|| format!("invalid CWE number {part:?}: expected for example 89 or CWE-89"))
        })
        .collect()
}

/// Reports all faults of a file, so that they can be fixed at once.
fn check(path: &Path, faults: &[(u64, String)]) -> Result<(), ImportError> {
    const MOST: usize = 20;
    let Some(((first, message), others)) = faults.split_first() else { return Ok(()) };
    let mut message = message.clone();
    for (line, other) in others.iter().take(MOST) {
        message.push_str(&format!("\n  line {line}: {other}"));
    }
    if others.len() > MOST {
        message.push_str(&format!("\n  and {}", count(others.len() - MOST, "more error")));
    }
    Err(row_fault(path, *first, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RuleMap, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.csv");
        std::fs::write(&path, text).unwrap();
        let folder = format!("{}/", folder.path().display());
        RuleMap::read(&path).map_err(|error| error.to_string().replace(&folder, ""))
    }

    fn apply(map: &RuleMap, rule: &str) -> (Option<String>, Vec<u32>) {
        let mut finding = Finding::new("f");
        finding.rule_id = Some(rule.to_owned());
        finding.category = Some("own".to_owned());
        finding.cwe = vec![20];
        map.apply(&mut finding);
        (finding.category, finding.cwe)
    }

    #[test]
    fn rules_are_mapped_to_categories() {
        let map = read(
            "\u{feff}rule_id, category ,cwe\r\nB608,sqli,CWE-89;20\r\n\r\nb608,other,\r\nX1,\"a, b\"\r\nY1,,7\r\n",
        )
        .unwrap();
        let check = |rule: &str, category: &str, cwe: &[u32]| {
            assert_eq!(apply(&map, rule), (Some(category.to_owned()), cwe.to_vec()), "{rule}");
        };
        check("B608", "sqli", &[20, 89]);
        check("b608", "other", &[20]);
        check(" x1 ", "a, b", &[20]);
        check("Y1", "own", &[7, 20]);
        check("unknown", "own", &[20]);
    }

    #[test]
    fn faults_have_lines() {
        let check = |text: &str, expect: &str| assert_eq!(read(text).unwrap_err(), expect, "{text}");
        check(
            "rule,category\na,b\n",
            "map.csv:1:1: missing column `rule_id`; a rule map starts with the line `rule_id,category` or `rule_id,category,cwe`",
        );
        check(
            "rule_id,category,cwe\n,x\na,b\na,c\nd,e,many\nf\n",
            "map.csv:2:1: the rule id is missing\n  line 4: rule \"a\" has another category on line 3\n  \
             line 5: invalid CWE number \"many\": expected for example 89 or CWE-89\n  \
             line 6: rule \"f\" has neither a category nor a CWE number",
        );
        for number in ["0", "CWE-100000"] {
            let fault = format!("map.csv:2:1: invalid CWE number {number:?}: expected for example 89 or CWE-89");
            check(&format!("rule_id,category,cwe\na,b,{number}\n"), &fault);
        }
        check("\0\0\0\0", "map.csv: this is not text: it contains zero bytes; is it the right file?");
        assert!(RuleMap::read(Path::new("no/such/map.csv")).unwrap_err().to_string().starts_with("no/such/map.csv: "));
    }
}
