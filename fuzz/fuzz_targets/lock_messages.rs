//! See `howdah_fuzz_targets::lock_messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::lock_messages::run(input));
