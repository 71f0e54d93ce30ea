//! See `howdah_fuzz_targets::nfs4_messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::nfs4_messages::run(input));
