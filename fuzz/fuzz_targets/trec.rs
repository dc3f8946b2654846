//! Judgements and runs are read or refused whole, and measured within bounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::trec::check(bytes));
