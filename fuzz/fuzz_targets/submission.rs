//! Submissions that are taken survive being written, and every profile accounts for each of their findings once.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::records::submission(bytes));
