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

/// Defines a choice and its conversion to the variants of the library with the same names, or those after `as`.
macro_rules! choice {
    (@ $variant:ident) => { Self::$variant };
    (@ $variant:ident $target:ident) => { Self::$target };
    ($name:ident => $target:ty { $($(#[$meta:meta])* $variant:ident $(as $same:ident)?),+ }) => {
        #[derive(Clone, Copy, Debug, ValueEnum)]
        pub(crate) enum $name {
            $($(#[$meta])* $variant,)+
        }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$variant => choice!(@ $variant $($same)?),)+
                }
            }
        }
    };
}

choice!(ConsensusArg => Consensus { Majority, DawidSkene });

choice!(LedgerMode => CacheMode { ReadWrite, Read, Only, Off });

choice!(BootstrapArg => BootstrapKind { Bca, Percentile });

choice!(ProportionsArg => Proportions { Wilson, ClopperPearson });

choice!(StageArg => StageV1 { Retrieve, Assess, Full });

choice!(IsolationArg => Isolation { Bubblewrap, Landlock, Process });

choice!(RequiredIsolation => Isolation { Any as Landlock, Bubblewrap, Landlock, Process });

choice!(AgreeOn => On {
    Match, Found, Classification, Verdict, #[value(name = "type_match")] TypeMatch, Rcir, Ava, Fsv
});

choice!(PlotTheme => Theme { Light, Dark });

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    Svg,
    Png,
}
