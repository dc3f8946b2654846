/// One measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub name: &'static str,
    pub value: f64,
}
