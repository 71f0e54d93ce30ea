//! See `howdah_fuzz_targets::tls_records`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::tls_records::run(input));
