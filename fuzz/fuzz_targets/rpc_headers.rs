//! See `howdah_fuzz_targets::rpc_headers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::rpc_headers::run(input));
