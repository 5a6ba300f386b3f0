//! See `checks::pieces`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::pieces::check(bytes));
