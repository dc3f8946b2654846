//! What happens in an assessment, told to whoever shows it or writes it down.

use super::assessor::Assessed;
use super::assessor::model::Call;
use std::time::Duration;

/// Something that happened.
pub enum AssessEvent<'a> {
    /// A document was read, or taken from the session.
    Read {
        /// Its name.
        document: &'a str,
        /// How many sections it has.
        sections: usize,
        /// Whether it was taken from the session.
        reused: bool,
        /// How long it took.
        took: Duration,
    },
    /// All requirements of a bundle were searched for.
    Searched {
        /// The bundle.
        bundle: Named<'a>,
        /// How many requirements.
        requirements: usize,
        /// How long it took.
        took: Duration,
    },
    /// An assessor is asked so many questions now.
    Round {
        /// The assessor.
        model: &'a str,
        /// How many.
        questions: usize,
    },
    /// A question is settled.
    Settled {
        /// The assessor.
        model: &'a str,
        /// What was asked about.
        about: About<'a>,
        /// What it took.
        call: &'a Call,
    },
    /// A request failed and is made again.
    Retrying {
        /// The assessor.
        model: &'a str,
        /// After this long.
        wait: Duration,
        /// Why.
        why: &'a str,
    },
    /// An assessor is done with a requirement.
    Assessed {
        /// The assessor.
        model: &'a str,
        /// What was assessed.
        about: About<'a>,
        /// What came of it.
        assessed: &'a Assessed,
    },
    /// An assessor cannot be asked at all.
    ModelFailed {
        /// The assessor.
        model: &'a str,
        /// Why.
        why: &'a str,
    },
}

/// A bundle and the template it is held against.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The bundle.
    pub bundle_id: &'a str,
    /// The template.
    pub template_id: &'a str,
}

/// A requirement of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The bundle.
    pub bundle: Named<'a>,
    /// The requirement.
    pub requirement_id: &'a str,
}
