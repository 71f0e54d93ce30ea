//! See `howdah_fuzz_targets::service_calls`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::service_calls::run(input));
