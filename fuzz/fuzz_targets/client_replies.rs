//! See `howdah_fuzz_targets::client_replies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::client_replies::run(input));
