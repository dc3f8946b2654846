//! Labels that are taken are about something that is there.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::results::labels(bytes));
