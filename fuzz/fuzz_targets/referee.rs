//! See `checks::referee`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::referee::check(bytes));
