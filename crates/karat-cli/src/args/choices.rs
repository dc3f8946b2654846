//! Arguments with a fixed set of values.

use clap::ValueEnum;
use karat::judge::agree::On;
use karat_core::panel::Consensus;
use karat_core::scorecard::Proportions;
use karat_core::stats::bootstrap::BootstrapKind;
use karat_format::assessment::StageV1;
use karat_llm::ledger::CacheMode;
use karat_report::plot::Theme;
use karat_sandbox::Isolation;

/// Defines a choice and its conversion to the type of the library, variant by variant.
macro_rules! choice {
    ($name:ident => $target:ty { $($(#[$meta:meta])* $variant:ident => $value:expr,)+ }) => {
        #[derive(Clone, Copy, Debug, ValueEnum)]
        pub(crate) enum $name {
            $($(#[$meta])* $variant,)+
        }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$variant => $value,)+
                }
            }
        }
    };
}

choice!(ConsensusArg => Consensus {
    Majority => Self::Majority,
    DawidSkene => Self::DawidSkene,
});

choice!(LedgerMode => CacheMode {
    ReadWrite => Self::ReadWrite,
    Read => Self::Read,
    Only => Self::Only,
    Off => Self::Off,
});

choice!(BootstrapArg => BootstrapKind {
    Bca => Self::Bca,
    Percentile => Self::Percentile,
});

choice!(ProportionsArg => Proportions {
    Wilson => Self::Wilson,
    ClopperPearson => Self::ClopperPearson,
});

choice!(StageArg => StageV1 {
    Retrieve => Self::Retrieve,
    Assess => Self::Assess,
    Full => Self::Full,
});

choice!(IsolationArg => Isolation {
    Bubblewrap => Self::Bubblewrap,
    Landlock => Self::Landlock,
    Process => Self::Process,
});

choice!(RequiredIsolation => Isolation {
    Any => Self::Landlock,
    Bubblewrap => Self::Bubblewrap,
    Landlock => Self::Landlock,
    Process => Self::Process,
});

choice!(AgreeOn => On {
    Match => Self::Match,
    Found => Self::Found,
    Classification => Self::Classification,
    Verdict => Self::Verdict,
    #[value(name = "type_match")]
    TypeMatch => Self::TypeMatch,
    Rcir => Self::Rcir,
    Ava => Self::Ava,
    Fsv => Self::Fsv,
});

choice!(PlotTheme => Theme {
    Light => Self::Light,
    Dark => Self::Dark,
});

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    Svg,
    Png,
}

/// An answer to a pair, an extra or an audited finding.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AnswerArg {
    Yes,
    No,
    Partial,
    #[value(name = "TARGET_MATCH")]
    TargetMatch,
    #[value(name = "PARTIAL_MATCH")]
    PartialMatch,
    #[value(name = "BONUS_VALID")]
    BonusValid,
    #[value(name = "HALLUCINATED")]
    Hallucinated,
    #[value(name = "MISCHARACTERIZED")]
    Mischaracterized,
    #[value(name = "DESIGN_CHOICE")]
    DesignChoice,
    #[value(name = "OUT_OF_SCOPE")]
    OutOfScope,
    #[value(name = "SECURITY_THEATER")]
    SecurityTheater,
    #[value(name = "INFORMATIONAL")]
    Informational,
}

impl AnswerArg {
    /// The answer as typed.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
