//! A baseline that is taken can be compared.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::results::baseline(bytes));
