//! Whatever a schema takes survives being written as JSON, and every fault points into the text and can be drawn.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::document::check(bytes));
