//! See `checks::conversation`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::conversation::check(bytes));
