//! OWASP Benchmark: which of its test cases are truly vulnerable.

use super::delimited::{Width, for_each_row};
use super::input::display_path;
use super::note_counter::quoted;
use super::{ImportError, ImportedData, Input, fields};
use ::csv::StringRecord;
use karat_core::suite::{Case, Verdict};
use std::collections::BTreeMap;

const EXPECTED: &str = "`test name,category,real vulnerability,cwe`";

/// `expectedresults-*.csv`: one test a row, with its category, verdict and CWE number.
pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let mut first_lines: BTreeMap<String, u64> = BTreeMap::new();
    for_each_row(input, Width::Any, |line, row| {
        let first = row.get(0).unwrap_or_default();
        // The header is a comment that also contains the version, with more fields than the rows.
        if first.starts_with('#') || (first_lines.is_empty() && first.eq_ignore_ascii_case("test name")) {
            return Ok(());
        }
        data.cases.push(case(row)?);
        match first_lines.insert(first.to_owned(), line) {
            Some(earlier) => Err(format!("duplicate test {}; first given on line {earlier}", quoted(first))),
            None => Ok(()),
        }
    })?;
    if first_lines.is_empty() {
        data.notes.push(format!("{}: no tests in this file; expected rows of {EXPECTED}", display_path(path)));
    }
    Ok(())
}

fn case(row: &StringRecord) -> Result<Case, String> {
    let (Some(name), Some(category), Some(real), Some(cwe), 4) =
        (row.get(0), row.get(1), row.get(2), row.get(3), row.len())
    else {
        return Err(format!("this row has {} fields; expected 4, as in {EXPECTED}", row.len()));
    };
    if name.is_empty() {
        return Err(format!("this row names no test; expected {EXPECTED}"));
    }
    let mut case = Case::new(name);
    case.verdict = match real.to_ascii_lowercase().as_str() {
        "true" => Verdict::Vulnerable,
        "false" => Verdict::Safe,
        _ => return Err(format!("real vulnerability is {}; expected true or false", quoted(real))),
    };
    let number = fields::cwe(cwe);
    case.cwe.push(number.ok_or_else(|| format!("cwe is {}; expected a number such as 89", quoted(cwe)))?);
    if !category.is_empty() {
        case.categories.push(category.to_owned());
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, import_fixture};

    #[test]
    fn tests_are_imported_as_cases() {
        let data = import_fixture("owasp", "owasp/expectedresults-tiny.csv");
        check(
            &data,
            "case BenchTest00001 vulnerable [pathtraver] cwe [22]
             case BenchTest00002 safe [sqli] cwe [89]
             case BenchTest00003 vulnerable [weak crypto, really] cwe [327]",
        );
    }

    #[test]
    fn empty_file_gives_a_note() {
        let data = import_fixture("owasp", "owasp/empty.csv");
        check(
            &data,
            "note owasp/empty.csv: no tests in this file; expected rows of `test name,category,real vulnerability,cwe`",
        );
    }

    #[test]
    fn faults_have_lines() {
        let header = "# test name, category, real vulnerability, cwe, Benchmark version: 1.2, 2016-06-1\n";
        let check = |rows: &str, expect: &str| check_fault("owasp", &format!("{header}{rows}"), expect);
        check("T1,a,true,1\nT2,a,true\n", "in:3:1: this row has 3 fields; expected 4, as in");
        check("T1,a,true,1,5\n", "in:2:1: this row has 5 fields");
        check("T1,a,yes,1\n", "in:2:1: real vulnerability is \"yes\"; expected true or false");
        check("T1,a,true,\n", "in:2:1: cwe is \"\"");
        check(",a,true,1\n", "in:2:1: this row names no test");
        check("T1,a,true,1\n\nT1,a,false,1\n", "duplicate test \"T1\"; first given on line 2");
    }
}
