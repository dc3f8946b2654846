//! The local judge's parameters: one set in the binary, others in files written by `karat judge fit`.

use karat_core::local_judge::LocalJudge;
use karat_core::local_judge::features::FEATURES;
use karat_core::local_judge::params::Params;
use karat_core::suite::Case;
use std::path::Path;

const SHIPPED: &str = include_str!("../../judges/local.toml");

/// Why parameters cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ParamsError {
    #[error("{file}: {source}")]
    Unreadable { file: String, source: std::io::Error },
    #[error("{file}: {message}; `karat judge fit` writes such files")]
    Invalid { file: String, message: String },
}

/// A field that cases are grouped by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Field {
    Case,
    Repo,
    Language,
    Difficulty,
    Tier,
    Meta(String),
}

impl std::str::FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "case" => Self::Case,
            "repo" => Self::Repo,
            "language" => Self::Language,
            "difficulty" => Self::Difficulty,
            "tier" => Self::Tier,
            _ => match text.strip_prefix("meta.").filter(|name| !name.is_empty()) {
                Some(name) => Self::Meta(name.to_owned()),
                None => {
                    let known = "expected case, repo, language, difficulty, tier, or meta.NAME";
                    return Err(format!("cases cannot be grouped by `{text}`: {known}"));
                }
            },
        })
    }
}

impl Field {
    /// The value of a case; cases without one are a group of their own.
    pub fn value(&self, case: &Case) -> String {
        let value = match self {
            Self::Case => Some(case.id.as_str()),
            Self::Repo => case.repo.as_deref(),
            Self::Language => case.language.as_deref(),
            Self::Difficulty => case.difficulty.map(|difficulty| difficulty.as_str()),
            Self::Tier => case.tier.as_deref(),
            Self::Meta(name) => case.meta.get(name).map(String::as_str),
        };
        value.unwrap_or("(none)").to_owned()
    }
}

/// The judge with the parameters in the binary.
pub fn shipped() -> Result<LocalJudge, ParamsError> {
    parse("the shipped parameters", SHIPPED)
}

/// The judge with the parameters of a file.
pub fn read(path: &Path) -> Result<LocalJudge, ParamsError> {
    let file = path.display().to_string();
    match karat_io::regular_file::read_named(path) {
        Ok(text) => parse(&file, &text),
        Err(source) => Err(ParamsError::Unreadable { file, source }),
    }
}

fn parse(file: &str, text: &str) -> Result<LocalJudge, ParamsError> {
    let invalid = |message: String| ParamsError::Invalid { file: file.to_owned(), message };
    let params: Params = toml::from_str(text).map_err(|error| invalid(error.to_string().trim_end().to_owned()))?;
    LocalJudge::new(params).map_err(|faults| invalid(faults.join("; ")))
}

/// Formats parameters as a file, with the meaning of every feature.
pub fn to_toml(params: &Params) -> Result<String, toml::ser::Error> {
    let mut text = HEAD.to_owned();
    for line in toml::to_string(params)?.lines() {
        let name = line.strip_prefix("[text.weights.").and_then(|rest| rest.strip_suffix(']'));
        if let Some(feature) = FEATURES.iter().find(|feature| Some(feature.name) == name) {
            text.push_str(&format!("# {}\n", feature.meaning));
        }
        text.push_str(line);
        text.push('\n');
    }
    Ok(text)
}

const HEAD: &str = "\
# Parameters of Karat's local judge, written by `karat judge fit`. docs/local-judge.md explains them.
# log-odds of the texts = text.base + the sum of weight * (value - mean) / spread over all features
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_parameters_come_back_as_they_were_written() {
        let judge = shipped().unwrap();
        assert_eq!(to_toml(judge.params()).unwrap(), SHIPPED);
        assert!(judge.params().provenance.held_out.is_some(), "they say how they did on what was held out");
    }

    #[test]
    fn wrong_parameters_are_refused_with_all_that_is_wrong() {
        let check = |from: &str, to: &str, expect: &[&str]| {
            assert!(SHIPPED.contains(from), "{from} is not there");
            let Err(error) = parse("p.toml", &SHIPPED.replacen(from, to, 1)) else { panic!("{to} was taken") };
            for part in expect {
                assert!(error.to_string().contains(part), "{error}");
            }
        };
        check(
            "[text.weights.letters]",
            "[text.weights.leters]",
            &["p.toml", "leters: unknown feature", "letters is missing"],
        );
        check("features = 1", "features = 99", &["fit the parameters again"]);
        check("threshold = ", "threshold = 1", &["from 0 to 1"]);
        check("base = ", "base = nan # ", &["finite"]);
        check("[rivals]", "[rivals]\nfree = 1", &["free"]);
    }

    #[test]
    fn cases_are_grouped_by_what_they_say() {
        let mut case = Case::new("c");
        case.repo = Some("a/b".to_owned());
        case.meta.insert("team".to_owned(), "red".to_owned());
        let group = |field: &str| field.parse::<Field>().map(|field| field.value(&case));
        assert_eq!([group("repo"), group("meta.team")], [Ok("a/b".to_owned()), Ok("red".to_owned())]);
        assert_eq!([group("case"), group("language")], [Ok("c".to_owned()), Ok("(none)".to_owned())]);
        assert!(group("colour").unwrap_err().contains("meta.NAME"));
    }
}
