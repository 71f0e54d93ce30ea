//! See `howdah_fuzz_targets::record_marking`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::record_marking::run(input));
