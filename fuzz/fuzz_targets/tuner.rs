//! See `howdah_fuzz_targets::tuner`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::tuner::run(input));
