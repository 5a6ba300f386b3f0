//! See `checks::copying`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::copying::check(bytes));
