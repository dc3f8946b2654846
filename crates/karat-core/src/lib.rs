//! Pure scoring core: goldens and findings in, a scorecard out.
//!
//! The entry point is [`scorecard::score`]. Nothing here opens a file, reads a clock or the environment, or
//! depends on hash order: equal inputs give bit-identical outputs.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "expectations of tests may be computed by the standard library")
)]

/// Gives an enum all its variants in display order, and to each its name in every format.
macro_rules! names {
    ($type:ident { $($variant:ident = $name:tt),* $(,)? }) => {
        impl $type {
            /// All of them, in display order.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name used in every format.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The one of that name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|own| own.as_str() == name)
            }
        }
    };
}

/// Defines an enum whose variants have these names in every format.
macro_rules! named_enum {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:tt,)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        names!($type { $($variant = $name,)* });
    };
}

pub mod assessment;
pub mod calibrate;
pub mod clusters;
pub mod comparison;
pub mod finding;
pub mod golden;
pub mod identity;
pub mod ids;
pub mod judgement;
pub mod lines;
pub mod local_judge;
pub mod matching;
pub mod metric;
pub mod one_or_many;
pub mod panel;
pub mod path;
pub mod pooling;
pub mod probe;
pub mod profile;
pub mod scorecard;
pub mod stats;
pub mod suite;
pub mod trec;
pub mod trial;

/// Singular and plural, lists and length of texts in messages.
pub mod wording {
    /// `1 case`, `2 cases`.
    pub fn count(n: usize, noun: &str) -> String {
        format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
    }

    /// A count with words that depend on it: `1 finding has`, `2 findings have`.
    pub fn plural(n: usize, one: &str, many: &str) -> String {
        format!("{n} {}", if n == 1 { one } else { many })
    }

    /// The first names, and how many more there are: `a, b and 3 more`.
    pub fn first_few<S: AsRef<str>>(names: &[S], most: usize) -> String {
        let shown = names.iter().take(most).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        match names.len().saturating_sub(most) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }

    /// A text with at most so many characters, and `…` if it had more.
    pub fn truncate(text: &str, max_chars: usize) -> String {
        match text.char_indices().nth(max_chars) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }
    }
}
