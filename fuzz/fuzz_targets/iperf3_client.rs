//! See `checks::iperf3`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::iperf3::check_client(bytes));
