use crate::Hex;

/// Identifies a request. Unique for each gateway and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u64);

/// The text is not an identifier: it needs sixteen hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseIdError;

impl Id {
    pub fn new(value: u64) -> Self {
        Self(value)
    }

    /// Sixteen hexadecimal digits, on the stack.
    pub fn hex(self) -> Hex {
        Hex::new(self.0)
    }

    /// Reads what [`Id::hex`] writes. Upper case is accepted as well.
    pub fn parse(text: &str) -> Result<Self, ParseIdError> {
        // from_str_radix would also accept a sign.
        if text.len() != 16 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(ParseIdError);
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| ParseIdError)
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.hex())
    }
}
