//! See `howdah_fuzz_targets::helper_messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::helper_messages::run(input));
