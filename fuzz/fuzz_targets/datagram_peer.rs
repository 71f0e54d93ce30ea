//! See `howdah_fuzz_targets::datagram_peer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| howdah_fuzz_targets::datagram_peer::run(input));
