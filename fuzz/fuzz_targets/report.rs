//! A report that is taken can be drawn, compared and made a baseline of.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::results::report(bytes));
