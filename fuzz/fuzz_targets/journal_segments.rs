//! See `howdah_fuzz_targets::journal_segments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::journal_segments::run(input));
