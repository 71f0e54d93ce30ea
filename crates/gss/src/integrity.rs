//! A checksum key: its HMAC has taken in the key already, so that a token costs only its own bytes.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::MAX_OUTPUT_LEN;
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
    tag: [u8; MAX_OUTPUT_LEN],
    length: usize,
}

/// Messages of up to so many bytes are joined and signed by one call of the library, which copies its state less often. All that is
/// signed of a call's header is shorter.
const SHORT: usize = 512;

impl IntegrityKey {
    /// The checksum or integrity key of a usage.
    pub(crate) fn derived(enctype: Enctype, base: &[u8], usage: u32, purpose: Purpose) -> Self {
        let key = derive(enctype, base, usage, purpose);
        Self { key: hmac::Key::new(enctype.hmac(), key.bytes()), length: enctype.checksum_length() }
    }

    /// The checksum of a message in parts.
    pub(crate) fn sign<'p>(&self, parts: impl Iterator<Item = &'p [u8]> + Clone) -> Checksum {
        let mut short = [0; SHORT];
        let Some(message) = short.get_mut(..parts.clone().map(<[u8]>::len).sum()) else {
            let mut signing = self.start();
            parts.for_each(|part| signing.add(part));
            return signing.finish();
        };
        let mut rest = &mut *message;
        for part in parts {
            rest.split_off_mut(..part.len()).expect("room for all").copy_from_slice(part);
        }
        let mut tag = [0; MAX_OUTPUT_LEN];
        hmac::sign_to_buffer(&self.key, message, &mut tag).expect("room for the longest");
        Checksum { tag, length: self.length }
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
        let (mut tag, signed) = ([0; MAX_OUTPUT_LEN], self.state.sign());
        tag[..signed.as_ref().len()].copy_from_slice(signed.as_ref());
        Checksum { tag, length: self.length }
    }
}

impl Checksum {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.tag[..self.length]
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

    #[test]
    fn a_message_has_one_checksum_however_it_is_joined() {
        for enctype in Enctype::ALL {
            let key = IntegrityKey::derived(enctype, &[5; 32][..enctype.key_length()], 2, Purpose::Checksum);
            for length in [0, 1, 64, SHORT - 1, SHORT, SHORT + 1, 2 * SHORT] {
                let message: Vec<u8> = (0..length).map(|at| at as u8).collect();
                let mut signing = key.start();
                signing.add(&message);
                let wanted = signing.finish();
                for part in [1, 16, 100, SHORT, 2 * SHORT] {
                    let checksum = key.sign(message.chunks(part));
                    assert_eq!(checksum.bytes(), wanted.bytes(), "{enctype}: {length} bytes by {part}");
                }
            }
        }
    }
}
