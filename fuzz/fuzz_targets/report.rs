//! See `checks::report`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::report::check(bytes));
