//! See `checks::path_file`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::path_file::check(bytes));
