//! Paths and rules are normalised once and for all, globs mean what a plain reading says, and keys come apart as built.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::places::check(bytes));
