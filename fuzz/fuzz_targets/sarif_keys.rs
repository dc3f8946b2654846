//! Writing identity keys into a SARIF document changes nothing of its findings but their keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::sarif::keys(bytes));
