//! See `checks::stream`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::stream::check(bytes));
