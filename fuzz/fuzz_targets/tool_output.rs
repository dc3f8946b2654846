//! What a tool wrote is read, or the trial is unparsable for a reason.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::tool_output::check(bytes));
