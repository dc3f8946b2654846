//! What people see of `karat`: every test runs the command in a folder of its own and looks at what comes out.

// Helpers are allowed to panic as tests are: this whole crate is a test.
#![cfg(test)]

mod agree;
mod agreements;
mod assess;
mod browser;
mod calibrate;
mod check;
mod ci;
mod compare;
mod contract_nli;
mod data;
mod docs;
mod document_writers;
mod documented_commands;
mod evidence;
mod explain;
mod extras;
mod guard;
mod help;
mod house;
mod identity;
mod import;
mod ingest;
mod judge_engine;
mod judge_verbs;
mod judging;
mod label;
mod label_audits;
mod label_page;
mod llm_tool;
mod local_judge;
mod machine;
mod matching_rules;
mod messages;
mod metrics;
mod packages;
mod plot;
mod project;
mod records;
mod retrieval;
mod run;
mod sandbox;
mod schemas;
mod score;
mod serve;
mod special_files;
mod store;
mod suite_add;
mod supply_chain;
mod tools;
mod trec;
