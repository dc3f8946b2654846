//! Which cases of a suite are run.

use crate::failure::{Failure, Result};
use crate::suggestion;
use karat_core::suite::{Case, Suite};
use karat_core::wording::first_few;
use karat_format::document::suggest::did_you_mean;
use regex::Regex;

/// Which cases are wanted; by default all.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Selection {
    pub only: Vec<CasePattern>,
    pub skip: Vec<CasePattern>,
    /// Applied to what the patterns leave.
    pub shard: Option<Shard>,
}

/// Cases by id or by one of their fields.
#[derive(Clone, Debug)]
pub struct CasePattern {
    text: String,
    field: Option<Field>,
    value: Regex,
}

type Field = fn(&Case) -> Vec<&str>;

const FIELDS: [(&str, Field); 5] = [
    ("language", |case| case.language.as_deref().into_iter().collect()),
    ("category", |case| case.categories.iter().map(String::as_str).collect()),
    ("difficulty", |case| case.difficulty.iter().map(|difficulty| difficulty.as_str()).collect()),
    ("tier", |case| case.tier.as_deref().into_iter().collect()),
    ("repo", |case| case.repo.as_deref().into_iter().collect()),
];

impl CasePattern {
    /// Parses `ID` or `FIELD=VALUE`; `*` stands for any text and `?` for one character.
    pub fn parse(text: &str) -> Result<Self> {
        let (field, value) = match text.split_once('=') {
            None => (None, text),
            Some((name, value)) => {
                let Some((_, field)) = FIELDS.iter().find(|(field, _)| *field == name) else {
                    let hint = suggestion(name, FIELDS.iter().map(|(name, _)| *name), ";");
                    return Err(Failure::usage(format!(
                        "cases are not selected by `{name}`{hint} give an id, or one of language, category, difficulty, tier, repo with `=`"
                    )));
                };
                (Some(*field), value)
            }
        };
        let expression = regex::escape(value).replace(r"\*", ".*").replace(r"\?", ".");
        let value = Regex::new(&format!("^(?i:{expression})$"));
        let value = value.map_err(|error| Failure::usage(format!("invalid pattern `{text}`: {error}")))?;
        Ok(Self { text: text.to_owned(), field, value })
    }

    fn matches(&self, case: &Case) -> bool {
        match self.field {
            None => self.value.is_match(case.id.as_str()),
            Some(field) => field(case).into_iter().any(|value| self.value.is_match(value)),
        }
    }
}

/// One of several parts of a suite; each case is in exactly one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    of: usize,
}

impl Shard {
    /// Parses `2/5`: the second of five parts.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?))) {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Self { part, of }),
            _ => Err(Failure::usage(format!("invalid shard `{text}`: expected I/N with 1 ≤ I ≤ N"))),
        }
    }
}

impl Selection {
    pub(crate) fn select<'s>(&self, suite: &'s Suite) -> Result<Vec<&'s Case>> {
        for pattern in self.only.iter().chain(&self.skip) {
            if !suite.cases.iter().any(|case| pattern.matches(case)) {
                let ids: Vec<&str> = suite.cases.iter().map(|case| case.id.as_str()).collect();
                let hint = did_you_mean(&pattern.text, ids.iter().copied())
                    .unwrap_or_else(|| format!("its cases are {}", first_few(&ids, 5)));
                return Err(Failure::usage(format!("no case of the suite matches `{}`; {hint}", pattern.text)));
            }
        }
        let wanted = |case: &&Case| {
            let only = self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(case));
            only && !self.skip.iter().any(|pattern| pattern.matches(case))
        };
        let mut cases: Vec<&Case> = suite.cases.iter().filter(wanted).collect();
        if let Some(shard) = self.shard {
            cases = cases.into_iter().skip(shard.part - 1).step_by(shard.of).collect();
        }
        if cases.is_empty() {
            return Err(Failure::usage(format!("no case is left to run: {}", self.describe().join(", "))));
        }
        Ok(cases)
    }

    /// The selection as it was given; empty if all cases are wanted.
    pub(crate) fn describe(&self) -> Vec<String> {
        let only = self.only.iter().map(|pattern| format!("only {}", pattern.text));
        let skip = self.skip.iter().map(|pattern| format!("skip {}", pattern.text));
        only.chain(skip).chain(self.shard.iter().map(|shard| format!("shard {}/{}", shard.part, shard.of))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        let case = |id: &str, language: &str, category: &str| Case {
            language: Some(language.to_owned()),
            categories: vec![category.to_owned()],
            ..Case::new(id)
        };
        let cases = vec![
            case("py-sqli", "python", "security"),
            case("py-race", "Python", "bug"),
            case("go-path", "go", "security"),
            case("rs-lock", "rust", "bug"),
        ];
        Suite { name: "s".to_owned(), digest: String::new(), cases }
    }

    /// `only`, `skip` and `shard`, divided by spaces, and the cases that are left.
    #[track_caller]
    fn check(words: &str, expect: &str) {
        let select = || -> Result<String> {
            let mut selection = Selection::default();
            for word in words.split_whitespace() {
                match word.split_at(1) {
                    ("+", text) => selection.only.push(CasePattern::parse(text)?),
                    ("-", text) => selection.skip.push(CasePattern::parse(text)?),
                    (_, text) => selection.shard = Some(Shard::parse(text)?),
                }
            }
            let suite = suite();
            let cases = selection.select(&suite)?;
            Ok(cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(select().unwrap_or_else(|error| error.text()), expect, "{words}");
    }

    #[test]
    fn cases_are_selected_by_id_field_and_part() {
        check("", "py-sqli py-race go-path rs-lock");
        check("+py-*", "py-sqli py-race");
        check("+py-sqli +rs-?ock", "py-sqli rs-lock");
        check("+language=python", "py-sqli py-race");
        check("+category=bug -rs-lock", "py-race");
        check("%1/3", "py-sqli rs-lock");
        check("%2/3", "py-race");
        check("%3/3", "go-path");
        check("-go-path %2/2", "py-race");
    }

    #[test]
    fn a_selection_of_nothing_is_an_error() {
        check("+py-sqly", "no case of the suite matches `py-sqly`; did you mean `py-sqli`?");
        check("-nowhere*", "no case of the suite matches `nowhere*`; its cases are py-sqli, py-race, go-path, rs-lock");
        check("+go-path %2/2", "no case is left to run: only go-path, shard 2/2");
        check("%0/3", "invalid shard `0/3`: expected I/N with 1 ≤ I ≤ N");
        check("%4/3", "invalid shard `4/3`: expected I/N with 1 ≤ I ≤ N");
        check(
            "+langage=go",
            "cases are not selected by `langage`, did you mean `language`? give an id, or one of language, category, difficulty, tier, repo with `=`",
        );
        check("+a.c", "no case of the suite matches `a.c`; its cases are py-sqli, py-race, go-path, rs-lock");
    }
}
