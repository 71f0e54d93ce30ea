//! See `howdah_fuzz_targets::local_operations`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::local_operations::run(input));
