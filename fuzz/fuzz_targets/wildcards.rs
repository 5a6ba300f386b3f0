//! See `checks::wildcards`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::wildcards::check(bytes));
