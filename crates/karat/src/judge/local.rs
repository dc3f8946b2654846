//! The local judge's parameters: one set in the binary, others in files written by `karat judge fit`.

use crate::failure::{Failure, Result};
use karat_core::local_judge::LocalJudge;
use karat_core::local_judge::features::FEATURES;
use karat_core::local_judge::params::Params;
use karat_core::local_judge::scanner;
use std::path::Path;

const SHIPPED: &str = include_str!("../../judges/local.toml");

/// The judge with the parameters in the binary.
pub fn shipped() -> Result<LocalJudge> {
    parse("the shipped parameters", SHIPPED)
}

/// The judge with the parameters of a file.
pub fn read(path: &Path) -> Result<LocalJudge> {
    let file = path.display().to_string();
    let text = karat_io::regular_file::read_named(path).map_err(|error| Failure::io(&file, error))?;
    parse(&file, &text)
}

fn parse(file: &str, text: &str) -> Result<LocalJudge> {
    let invalid = |message: &str| Failure::bad_input(format!("{file}: {message}; `karat judge fit` writes such files"));
    let params: Params = toml::from_str(text).map_err(|error| invalid(error.to_string().trim_end()))?;
    LocalJudge::new(params).map_err(|faults| invalid(&faults.join("; ")))
}

/// Formats parameters as a file, with the meaning of every feature.
pub fn to_toml(params: &Params) -> Result<String, toml::ser::Error> {
    let mut text = HEAD.to_owned();
    for line in toml::to_string(params)?.lines() {
        for (part, features) in [("[text.weights.", &FEATURES[..]), ("[scanner.weights.", &scanner::FEATURES)] {
            let name = line.strip_prefix(part).and_then(|rest| rest.strip_suffix(']'));
            if let Some(feature) = features.iter().find(|feature| Some(feature.name) == name) {
                text.push_str(&format!("# {}\n", feature.meaning));
            }
        }
        text.push_str(line);
        text.push('\n');
    }
    Ok(text)
}

const HEAD: &str = "\
# Parameters of Karat's local judge, written by `karat judge fit`. docs/local-judge.md explains them.
# log-odds of the texts = text.base + the sum of weight * (value - mean) / spread over all features; the same for [scanner],
# which weighs pairs whose finding comes from a scanner
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
                assert!(error.text().contains(part), "{}", error.text());
            }
        };
        check(
            "[text.weights.letters]",
            "[text.weights.leters]",
            &["p.toml", "leters: unknown feature", "letters is missing"],
        );
        check("features = 3", "features = 99", &["fit the parameters again"]);
        check("threshold = ", "threshold = 1", &["from 0 to 1"]);
        check("base = ", "base = nan # ", &["finite"]);
        check("[rivals]", "[rivals]\nfree = 1", &["free"]);
    }
}
