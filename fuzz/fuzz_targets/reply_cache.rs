//! See `howdah_fuzz_targets::reply_cache`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::reply_cache::run(input));
