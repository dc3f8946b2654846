//! A folder of any files is a suite or is refused, and the cases of a suite survive being written.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::suite_tree::check(bytes));
