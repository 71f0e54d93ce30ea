//! See `howdah_fuzz_targets::nfs_state`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::nfs_state::run(input));
