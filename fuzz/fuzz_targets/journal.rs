//! See `checks::journal`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::journal::check(bytes));
