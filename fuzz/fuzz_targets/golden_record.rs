//! A golden record of any bytes is taken or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::golden_record::check(bytes));
