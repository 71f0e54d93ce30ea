//! See `howdah_fuzz_targets::admin_requests`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::admin_requests::run(input));
