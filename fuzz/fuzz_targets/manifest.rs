//! Manifests, rules and demands are taken or refused with faults in the text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| karat_fuzz::settings::manifest(bytes));
