//! Any bytes are taken apart as a document or refused, the same each time, and in time.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::ingest::pdf(bytes));
