//! Rankings and judgements in the text formats of the Text REtrieval Conferences, and what comes out in the layout of `trec_eval`.

mod draw;
mod read;

pub use draw::{Evaluated, Values, draw};
pub use read::{ReadRun, read_qrels, read_run};
