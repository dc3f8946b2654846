//! A run that is imported is whole and is exported with the same lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::stored::check(bytes));
