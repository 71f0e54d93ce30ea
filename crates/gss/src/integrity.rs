//! A checksum key: its HMAC has taken in the key already, so that a token costs only its own bytes.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use crate::derivation::{Purpose, derive};
use crate::enctype::Enctype;
use crate::error::TokenError;

/// A key that signs. Threads share it: each signature starts from a copy of its state.
pub(crate) struct IntegrityKey {
    key: hmac::Key,
    length: usize,
}

/// A signature that is being made.
pub(crate) struct Signing {
    state: hmac::Context,
    length: usize,
}

/// A checksum: the first bytes of an HMAC.
pub(crate) struct Checksum {
    tag: hmac::Tag,
    length: usize,
}

impl IntegrityKey {
    /// The checksum or integrity key of a usage.
    pub(crate) fn derived(enctype: Enctype, base: &[u8], usage: u32, purpose: Purpose) -> Self {
        let key = derive(enctype, base, usage, purpose);
        Self { key: hmac::Key::new(enctype.hmac(), key.bytes()), length: enctype.checksum_length() }
    }

    pub(crate) fn start(&self) -> Signing {
        Signing { state: hmac::Context::with_key(&self.key), length: self.length }
    }
}

impl Signing {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    pub(crate) fn finish(self) -> Checksum {
        Checksum { tag: self.state.sign(), length: self.length }
    }
}

impl Checksum {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.tag.as_ref()[..self.length]
    }

    /// Compares in a time that does not depend on the bytes.
    pub(crate) fn check(&self, received: &[u8]) -> Result<(), TokenError> {
        verify_slices_are_equal(self.bytes(), received).map_err(|_| TokenError::Checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::bytes;

    /// RFC 8009 A for 19 and 20, MIT's tests for 17 and 18.
    #[test]
    fn checksums_are_the_published_ones() {
        let counted: Vec<u8> = (0..=0x14).collect();
        for (enctype, base, usage, text, wanted) in [
            (
                Enctype::Aes128Sha1,
                "9062430c8cda3388922e6d6a509f5b7a",
                3,
                &b"eight nine ten eleven twelve thirteen"[..],
                "01a4b088d45628f6946614e3",
            ),
            (
                Enctype::Aes256Sha1,
                "b1ae4cd8462aff1677053cc9279aac30b796fb81ce21474dd3ddbcfea4ec76d7",
                4,
                b"fourteen",
                "e08739e3279e2903ec8e3836",
            ),
            (
                Enctype::Aes128Sha256,
                "3705d96080c17728a0e800eab6e0d23c",
                2,
                &counted,
                "d78367186643d67b411cba9139fc1dee",
            ),
            (
                Enctype::Aes256Sha384,
                "6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52",
                2,
                &counted,
                "45ee791567eefca37f4ac1e0222de80d43c3bfa06699672a",
            ),
        ] {
            let key = IntegrityKey::derived(enctype, &bytes(base), usage, Purpose::Checksum);
            let mut signing = key.start();
            signing.add(text);
            assert_eq!(signing.finish().bytes(), bytes(wanted), "{enctype}");
        }
    }
}
