/// A permission that a token can carry, such as `orders:read`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope(String);

impl Scope {
    /// A scope has two parts of lower-case letters, with a colon between them.
    pub fn parse(text: &str) -> Option<Self> {
        let (area, action) = text.split_once(':')?;
        let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
        (word(area) && word(action)).then(|| Self(text.to_owned()))
    }
}
