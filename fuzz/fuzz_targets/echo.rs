//! See `checks::echo`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::echo::check(bytes));
