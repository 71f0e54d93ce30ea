//! See `howdah_fuzz_targets::tls_probe`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::tls_probe::run(input));
