//! What models send becomes a decision that reads the same again, or is refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::answers::check(bytes));
