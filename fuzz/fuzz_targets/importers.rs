//! Whatever any importer takes can be placed, written as a submission, and read again unchanged.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::importers::check(bytes));
