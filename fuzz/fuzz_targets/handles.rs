//! See `howdah_fuzz_targets::handles`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::handles::run(input));
