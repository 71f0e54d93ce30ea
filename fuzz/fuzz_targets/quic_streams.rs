//! See `howdah_fuzz_targets::quic_streams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::quic_streams::run(input));
