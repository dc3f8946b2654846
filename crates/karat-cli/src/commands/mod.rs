//! One file for each verb.

pub(crate) mod baseline;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod drift;
pub(crate) mod expect;
pub(crate) mod explain;
pub(crate) mod gate;
pub(crate) mod import;
pub(crate) mod ingest;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod key;
pub(crate) mod label;
pub(crate) mod metrics;
pub(crate) mod power;
pub(crate) mod profile;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod store;
pub(crate) mod suite;
pub(crate) mod tools;
pub(crate) mod trec;
