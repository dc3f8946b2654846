//! Any bytes are read as SARIF or refused whole, the same however they arrive, and no finding is out of bounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::sarif::check(bytes));
