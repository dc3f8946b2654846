//! A profile that is taken survives being written.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::settings::profile(bytes));
