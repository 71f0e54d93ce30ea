//! Keys from the session key, by what they are used for (RFC 3961 5.3, RFC 3962, RFC 8009 3).

use aws_lc_rs::cipher::{EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use crate::enctype::Enctype;
use crate::fold::fold;

/// What a token's keys are for (RFC 4121 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    AcceptorSeal = 22,
    AcceptorSign = 23,
    InitiatorSeal = 24,
    InitiatorSign = 25,
}

/// Which of the three keys of a usage: the last byte of the constant that it is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// `Kc`: a checksum without encryption.
    Checksum = 0x99,
    /// `Ke`: encryption.
    Encryption = 0xaa,
    /// `Ki`: the checksum of what is encrypted.
    Integrity = 0x55,
}

/// Longest of any key.
const LONGEST: usize = 32;

/// A derived key; its bytes are wiped when it is dropped.
pub(crate) struct DerivedKey {
    bytes: Zeroizing<[u8; LONGEST]>,
    length: usize,
}

impl DerivedKey {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The key for `usage` and `purpose`. `base` has the enctype's length.
pub(crate) fn derive(enctype: Enctype, base: &[u8], usage: u32, purpose: Purpose) -> DerivedKey {
    let length = match purpose {
        Purpose::Encryption => enctype.key_length(),
        Purpose::Checksum | Purpose::Integrity => enctype.integrity_key_length(),
    };
    let mut constant = [0; 5];
    constant[..4].copy_from_slice(&usage.to_be_bytes());
    constant[4] = purpose as u8;
    let bytes = if enctype.signs_ciphertext() {
        counter_mode(enctype, base, constant, length)
    } else {
        folded(enctype, base, constant)
    };
    DerivedKey { bytes, length }
}

/// RFC 3961 5.3, `DR`: the folded constant, encrypted again and again.
fn folded(enctype: Enctype, base: &[u8], constant: [u8; 5]) -> Zeroizing<[u8; LONGEST]> {
    let key = encrypting_key(enctype, base);
    let mut block = Zeroizing::new([0; 16]);
    fold(&constant, &mut block[..]);
    let mut bytes = Zeroizing::new([0; LONGEST]);
    for chunk in bytes.chunks_exact_mut(16) {
        // One block after an initial vector of zeros is encrypted as it is.
        key.less_safe_encrypt(&mut block[..], EncryptionContext::Iv128([0; 16].into()))
            .expect("one block is encrypted");
        chunk.copy_from_slice(&block[..]);
    }
    bytes
}

/// RFC 8009 3, `KDF-HMAC-SHA2`: one block of HMAC in counter mode, which is as long as any key here or longer.
fn counter_mode(enctype: Enctype, base: &[u8], label: [u8; 5], length: usize) -> Zeroizing<[u8; LONGEST]> {
    let mut context = hmac::Context::with_key(&hmac::Key::new(enctype.hmac(), base));
    context.update(&1_u32.to_be_bytes());
    context.update(&label);
    context.update(&[0]);
    context.update(&(length as u32 * 8).to_be_bytes());
    let tag = context.sign();
    let mut bytes = Zeroizing::new([0; LONGEST]);
    bytes.copy_from_slice(&tag.as_ref()[..LONGEST]);
    bytes
}

/// AES in CBC mode.
pub(crate) fn encrypting_key(enctype: Enctype, key: &[u8]) -> EncryptingKey {
    let key = UnboundCipherKey::new(enctype.cipher(), key).expect("a key of the enctype's length");
    EncryptingKey::cbc(key).expect("AES has CBC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::bytes;

    /// RFC 8009 A for 19 and 20; of 17 and 18 what MIT's tests have for the keys of RFC 3962 B.
    #[test]
    fn keys_are_those_of_the_rfcs() {
        let purposes = [Purpose::Checksum, Purpose::Encryption, Purpose::Integrity];
        for (enctype, base, wanted) in [
            (
                Enctype::Aes128Sha1,
                "42263c6e89f4fc28b8df68ee09799f15",
                [
                    "34280a382bc92769b2da2f9ef066854b",
                    "5b14fc4e250e14ddf9dccf1af6674f53",
                    "4ed31063621684f09ae8d89991af3e8f",
                ],
            ),
            (
                Enctype::Aes256Sha1,
                "fe697b52bc0d3ce14432ba036a92e65bbb52280990a2fa27883998d72af30161",
                [
                    "bfab388bdcb238e9f9c98d6a878304f04d30c82556375ac507a7a852790f4674",
                    "c7cfd9cd75fe793a586a542d87e0d1396f1134a104bb1a9190b8c90ada3ddf37",
                    "97151b4c76945063e2eb0529dc067d97d7bba90776d8126d91f34f3101aea8ba",
                ],
            ),
            (
                Enctype::Aes128Sha256,
                "3705d96080c17728a0e800eab6e0d23c",
                [
                    "b31a018a48f54776f403e9a396325dc3",
                    "9b197dd1e8c5609d6e67c3e37c62c72e",
                    "9fda0e56ab2d85e1569a688696c26a6c",
                ],
            ),
            (
                Enctype::Aes256Sha384,
                "6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52",
                [
                    "ef5718be86cc84963d8bbb5031e9f5c4ba41f28faf69e73d",
                    "56ab22bee63d82d7bc5227f6773f8ea7a5eb1c825160c38312980c442e5c7e49",
                    "69b16514e3cd8e56b82010d5c73012b622c4d00ffc23ed1f",
                ],
            ),
        ] {
            for (purpose, wanted) in purposes.into_iter().zip(wanted) {
                let key = derive(enctype, &bytes(base), 2, purpose);
                assert_eq!(key.bytes(), bytes(wanted), "{enctype} {purpose:?}");
            }
        }
    }
}
