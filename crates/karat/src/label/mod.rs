//! Labelling: what is shown to a person, and the session in which they answer.

pub mod context;
pub mod page;
pub mod session;

#[cfg(test)]
mod tests;
