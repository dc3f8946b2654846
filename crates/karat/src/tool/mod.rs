//! Tools: what a system under test is, how it is declared, and how what it writes becomes a trial.
//!
//! A manifest is read and checked by [`manifest`], its placeholders are filled by [`placeholders`], and what the tool wrote
//! is read by [`output`]. Ready manifests of well-known tools lie in the [`catalogue`]; [`doctor`] says which of them could
//! run here, and [`grants`] what they ask for beyond the closed sandbox. [`patterns`] is a tool of our own: the baseline to beat.

pub mod catalogue;
pub mod doctor;
pub mod grants;
pub mod manifest;
pub mod output;
pub mod patterns;
pub mod placeholders;
