//! See `checks::trains`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::trains::check(bytes));
