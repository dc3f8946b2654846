//! Rankings, ratings and tables of rules are taken or refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::results::tables(bytes));
