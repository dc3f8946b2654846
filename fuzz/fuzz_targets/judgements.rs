//! Judgements that are taken survive being written, and no profile loses a finding by what they say.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::records::judgements(bytes));
