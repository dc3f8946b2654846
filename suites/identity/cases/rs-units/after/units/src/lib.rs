pub struct Length(u32);
pub struct Draught(u32);

impl Length {
    pub fn parse(text: &str) -> Self {
        Self(text.trim_end_matches("cm").parse().unwrap_or_default())
    }
}

impl Draught {
    pub fn parse(text: &str) -> Self {
        Self(text.trim_end_matches("cm").parse().unwrap())
    }
}
