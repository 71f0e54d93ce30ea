//! See `howdah_fuzz_targets::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::frames::run(input));
