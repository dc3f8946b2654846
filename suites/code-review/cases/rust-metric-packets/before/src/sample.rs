/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub name: String,
    pub value: f64,
}

/// Reads a line of the form `name value`.
pub fn parse(line: &str) -> Option<Sample> {
    let (name, value) = line.trim().split_once(' ')?;
    let value: f64 = value.parse().ok()?;
    value.is_finite().then(|| Sample { name: name.to_owned(), value })
}
