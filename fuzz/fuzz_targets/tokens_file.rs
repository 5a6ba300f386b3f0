//! See `checks::tokens_file`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::tokens_file::check(bytes));
