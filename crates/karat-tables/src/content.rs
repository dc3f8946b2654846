//! What is added to tables: cases, figures and judgements.

use crate::case_rows::{ScoredCase, add_case};
use crate::error::Result;
use crate::figure_rows::{add_case_figure, add_case_figures, add_tool_figures};
use crate::judgement_rows::add_judgement;
use crate::writer::TablesWriter;
use karat_core::judgement::Judgement;
use karat_format::report::{EstimateV1, ReportV1};

impl TablesWriter {
    /// Adds one case of one tool: its trials, findings, pairs and figures.
    pub fn add_case(&mut self, case: &ScoredCase<'_>) -> Result<()> {
        add_case(self, case)?;
        add_case_figures(self, case)
    }

    /// Adds a figure of one case of one tool.
    pub fn add_case_figure(&mut self, tool: &str, case: &str, metric: &str, estimate: &EstimateV1) -> Result<()> {
        add_case_figure(self, tool, case, metric, estimate)
    }

    /// Adds a decision. `decides` says whether it was used for scoring, which single voices of a panel are not.
    pub fn add_judgement(&mut self, judgement: &Judgement, decides: bool) -> Result<()> {
        add_judgement(self, judgement, decides)
    }

    /// Adds the figures of all tools over the suite and its parts, but not those of cases.
    pub fn add_figures(&mut self, report: &ReportV1) -> Result<()> {
        report.tools.iter().try_for_each(|tool| add_tool_figures(self, report, tool))
    }
}
