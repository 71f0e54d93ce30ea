//! See `howdah_fuzz_targets::typed_texts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::typed_texts::run(input));
