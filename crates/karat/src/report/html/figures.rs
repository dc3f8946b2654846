//! Plots in their sections.

use crate::report::exhibit::Exhibit;

pub(super) fn quality(_exhibit: &Exhibit<'_>, _out: &mut String) {}
pub(super) fn significance(_exhibit: &Exhibit<'_>, _out: &mut String) {}
pub(super) fn slices(_exhibit: &Exhibit<'_>, _dimension: &str, _out: &mut String) {}
pub(super) fn confidence(_exhibit: &Exhibit<'_>, _out: &mut String) {}
pub(super) fn trend(_exhibit: &Exhibit<'_>, _out: &mut String) {}
pub(super) fn variance(_exhibit: &Exhibit<'_>, _out: &mut String) {}
