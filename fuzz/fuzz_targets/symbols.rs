//! Any text in any language gives every line one well-formed symbol, and the same one each time.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::symbols::check(bytes));
