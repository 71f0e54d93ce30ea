//! See `howdah_fuzz_targets::gss_calls`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::gss_calls::run(input));
