//! Reading source code: which language it is, which symbol a line lies in, how it is coloured, and which lines a change
//! touched.

pub mod change;
pub mod colour;
pub mod language;
pub mod symbols;

mod definition;
