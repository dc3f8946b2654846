//! Ratings from CSV: one row is one rating, `item,rater,value`, and perhaps an `explanation`.

use super::opinions::{Item, On, Opinions, Rated, RatingValue, gather, no_ratings};
use crate::failure::Result;
use karat_core::wording::plural;
use karat_format::diagnostic::{Diagnostic, Fault, Faults};
use karat_format::document::rows::{Header, Row, read_rows};
use karat_format::document::suggest;
use std::collections::HashMap;

#[derive(Default)]
struct Sheets {
    file: String,
    rated: Vec<Rated>,
    /// The value of each rating as it stands there.
    words: Vec<String>,
    notes: Vec<String>,
    /// Where each item and rater was rated.
    places: HashMap<(String, String), String>,
    blank: usize,
}

/// The opinions in CSV files, each a name and a text, or all their faults. Values are numbers if all of them are.
pub fn from_csv(files: &[(String, String)]) -> Result<Opinions> {
    let mut sheets = Sheets::default();
    let mut faults: Vec<Diagnostic> = Vec::new();
    for (file, text) in files {
        sheets.file.clone_from(file);
        faults.extend(read_rows(file, text, HEADER, &mut sheets, Sheets::read_header, Sheets::read_row));
    }
    if !faults.is_empty() {
        return Err(Faults(faults).into());
    }
    let Sheets { mut rated, words, mut notes, blank, .. } = sheets;
    if rated.is_empty() {
        let there = "the files contain no rating; each row below the header is one: item,rater,value";
        return Err(no_ratings(On::Value, there));
    }
    if blank > 0 {
        notes.push(format!("{} no value: missing ratings", plural(blank, "row has", "rows have")));
    }
    let numbers: Vec<Option<f64>> = words.iter().map(|word| number(word)).collect();
    match numbers.iter().position(Option::is_none) {
        None => {
            for (one, number) in rated.iter_mut().zip(numbers.into_iter().flatten()) {
                one.value = RatingValue::Number(number);
            }
        }
        Some(odd) if numbers.iter().any(Option::is_some) => {
            notes.push(format!("values are treated as unordered words: {:?} is not a number", words[odd]));
        }
        Some(_) => {}
    }
    gather(On::Value, rated, None, notes)
}

/// A finite number; -0 is 0.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number + 0.0)
}

struct Columns {
    item: usize,
    rater: usize,
    value: usize,
    explanation: Option<usize>,
}

const HEADER: &str = "ratings start with the line `item,rater,value`";

impl Sheets {
    fn read_header(&mut self, row: &Row<'_>) -> Result<Columns, Vec<Fault>> {
        let Header { known, others, mut faults } = row.header(["item", "rater", "value", "explanation"]);
        for (needed, place) in ["item", "rater", "value"].iter().zip(known) {
            if place.is_some() {
                continue;
            }
            let near = others.iter().find(|(_, other)| suggest::nearest(other, [*needed]).is_some());
            let span = near.map_or_else(|| row.full_span(), |(at, _)| row.span(*at));
            let fault = Fault::new("missing-column", span, format!("missing column `{needed}`; {HEADER}"));
            faults.push(match near {
                Some(_) => fault.with_help(format!("did you mean `{needed}`?")),
                None => fault,
            });
        }
        let [Some(item), Some(rater), Some(value), explanation] = known else { return Err(faults) };
        if !faults.is_empty() {
            return Err(faults);
        }
        if !others.is_empty() {
            let names: Vec<&str> = others.iter().take(8).map(|(_, name)| name.as_str()).collect();
            self.notes.push(format!("{}: ignored columns: {}", self.file, names.join(", ")));
        }
        Ok(Columns { item, rater, value, explanation })
    }

    fn read_row(&mut self, row: &Row<'_>, columns: &Columns) -> Vec<Fault> {
        let field = |at: usize| row.field(at).to_owned();
        let (item, rater, value) = (field(columns.item), field(columns.rater), field(columns.value));
        let empty =
            [(columns.item, "item"), (columns.rater, "rater")].into_iter().filter(|(at, _)| row.field(*at).is_empty());
        let fault = |(at, name)| Fault::new("missing-value", row.span(at), format!("the {name} is missing"));
        let faults: Vec<Fault> = empty.map(fault).collect();
        if !faults.is_empty() {
            return faults;
        }
        if value.is_empty() {
            self.blank += 1;
            return faults;
        }
        let place = format!("{}:{}", self.file, row.line);
        if let Some(earlier) = self.places.insert((item.clone(), rater.clone()), place) {
            let message = format!("{rater:?} has already rated the item {item:?}, at {earlier}; keep one rating");
            return vec![Fault::new("duplicate-rating", row.span(columns.rater), message)];
        }
        let explanation = columns.explanation.map(field).filter(|text| !text.is_empty());
        let item = Item { item: Some(item), ..Item::default() };
        self.words.push(value.clone());
        self.rated.push(Rated { item, rater, value: RatingValue::Word(value), explanation });
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    fn read(text: &str) -> Result<Opinions, String> {
        from_csv(&[("in.csv".to_owned(), text.to_owned())]).map_err(|failure| match failure {
            Failure::Faults(faults) => {
                let lines = faults.0.iter().map(|f| format!("{}:{}:{} {}", f.file, f.line, f.column, f.message));
                lines.collect::<Vec<_>>().join("\n")
            }
            other => other.text(),
        })
    }

    #[test]
    fn ratings_are_put_to_their_items() {
        let check = |text: &str, expected: &str| {
            let Opinions { raters, values, items, notes, .. } = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let mut shown = format!("{raters:?} {values:?}");
            for (item, said) in items {
                let said: Vec<String> =
                    said.iter().map(|o| format!("{}={}", raters[o.rater], values[o.value])).collect();
                shown.push_str(&format!(" {}: {}", item.item.unwrap_or_default(), said.join(" ")));
            }
            assert_eq!([&[shown], notes.as_slice()].concat().join("; "), expected, "{text}");
        };
        check("item,rater,value\nq,b,yes\nq,a,no\n", r#"["a", "b"] ["no", "yes"] q: a=no b=yes"#);
        check(
            "value;rater;item\r\n\r\n1.0;b;\"q;1\"\r\n1;a;\"q;1\"\r\n10;a;r",
            r#"["a", "b"] ["1", "10"] q;1: a=1 b=1 r: a=10"#,
        );
        check(
            "Item\tRater\tValue\tMood\nq\ta\t\tsad\nq\tb\t2\t\nq\tc\tn/a\t\n",
            "[\"b\", \"c\"] [\"2\", \"n/a\"] q: b=2 c=n/a; in.csv: ignored columns: mood; \
             1 row has no value: missing ratings; \
             values are treated as unordered words: \"n/a\" is not a number",
        );
    }

    #[test]
    fn all_faults_come_at_once_with_their_places() {
        let check = |text: &str, expected: &str| assert_eq!(read(text).err().as_deref(), Some(expected), "{text}");
        check("", "in.csv:1:1 the file is empty; ratings start with the line `item,rater,value`");
        check("\n\n", "in.csv:1:1 the file is empty; ratings start with the line `item,rater,value`");
        check(
            "items,who,value\n",
            "in.csv:1:1 missing column `item`; ratings start with the line `item,rater,value`\n\
             in.csv:1:1 missing column `rater`; ratings start with the line `item,rater,value`",
        );
        check("item,rater,value,value\n", "in.csv:1:18 duplicate column `value`");
        check(
            "item,rater,value\nq,a,1\n\nq,,1\nq,a,2\nq,b\n\"q\nr\",  ,1\n",
            "in.csv:4:3 the rater is missing\n\
             in.csv:5:3 \"a\" has already rated the item \"q\", at in.csv:2; keep one rating\n\
             in.csv:6:1 this row has 2 fields, but the header has 3\n\
             in.csv:8:4 the rater is missing",
        );
        check("item,rater,value\n\"q,a,1\n", "in.csv:2:1 this row has 1 fields, but the header has 3");
        check(
            "item,rater,value\n",
            "nobody decided `value`: the files contain no rating; each row below the header is one: item,rater,value",
        );
        check(
            "item,rater,value\nq,a,1\n",
            "all ratings are by a; agreement needs two raters, so give the files of the others too",
        );
    }
}
