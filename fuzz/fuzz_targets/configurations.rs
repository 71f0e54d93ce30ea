//! See `howdah_fuzz_targets::configurations`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::configurations::run(input));
