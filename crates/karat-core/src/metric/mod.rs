//! Metrics: what each one is, and how it is computed from counts. A number knows its direction and when it is undefined.

#![expect(missing_docs, reason = "names of fields and variants say it")]

/// Implements `+=` field by field.
macro_rules! add_fields {
    ($type:ident: $($field:ident),*) => {
        impl std::ops::AddAssign for $type {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

pub mod calibration;
pub mod composite;
pub mod counts;
pub mod estimate;
pub mod findings_quality;
pub mod fix_through;
pub mod formula_text;
pub mod levels;
pub mod sums;
pub mod sweep;
pub mod table;
pub mod targets;

/// A value, or the reason why there is none. 0/0 is never a number.
pub type Value = Result<f64, Undefined>;

/// Why a metric has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Undefined(pub &'static str);

/// A share, undefined for the given reason when there is nothing to share.
pub(crate) fn ratio(part: f64, whole: f64, reason: &'static str) -> Value {
    // An empty sum is -0.0; adding 0 makes it 0 and leaves every other number unchanged.
    if whole > 0.0 { Ok(part / whole + 0.0) } else { Err(Undefined(reason)) }
}

/// (1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP): F is computed here and nowhere else.
pub(crate) fn f_score(tp: f64, fp: f64, fn_: f64, beta: f64, reason: &'static str) -> Value {
    let square = beta * beta;
    let found = (1.0 + square) * tp;
    ratio(found, found + square * fn_ + fp, reason)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    pub part: f64,
    pub whole: f64,
}

impl Part {
    pub(crate) fn count(part: usize, whole: usize) -> Self {
        Self { part: part as f64, whole: whole as f64 }
    }

    /// Adds a case's mean of some values; nothing where there are none.
    pub(crate) fn add_mean(&mut self, weight: f64, values: impl Iterator<Item = f64>) {
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        if count > 0.0 {
            self.part += weight * sum / count;
            self.whole += weight;
        }
    }

    pub(crate) fn share(self, reason: &'static str) -> Value {
        ratio(self.part, self.whole, reason)
    }
}

add_fields!(Part: part, whole);
