//! Encryption with a checksum, in place (RFC 3961 5.3, RFC 8009 5): AES in CBC mode whose last two blocks change places
//! (ciphertext stealing, RFC 3962 5), in pieces that stay in the CPU's first cache while they are signed and encrypted.

use aws_lc_rs::cipher::{
    DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey,
};

use crate::derivation::{Purpose, derive, encrypting_key};
use crate::enctype::Enctype;
use crate::error::TokenError;
use crate::integrity::{Checksum, IntegrityKey, Signing};

/// A block of AES in bytes.
pub(crate) const BLOCK: usize = 16;
/// Bytes that are signed and encrypted at a time.
const PIECE: usize = 8 << 10;

type Block = [u8; BLOCK];

/// The keys that seal what this side sends.
pub(crate) struct Sealer {
    encryption: EncryptingKey,
    integrity: IntegrityKey,
    signs_ciphertext: bool,
}

/// The keys that open what this side receives.
pub(crate) struct Opener {
    encryption: DecryptingKey,
    integrity: IntegrityKey,
    signs_ciphertext: bool,
}

/// Where the parts of a message are: whole blocks, then one whole block, then the last, which may be short.
struct Parts {
    /// Length of the whole blocks before the last two.
    bulk: usize,
    /// Length of the last block: 1 to 16.
    last: usize,
}

impl Parts {
    /// Those of a message longer than a block.
    fn of(length: usize) -> Self {
        let last = (length - 1) % BLOCK + 1;
        Self { bulk: length - last - BLOCK, last }
    }
}

impl Sealer {
    pub(crate) fn derived(enctype: Enctype, base: &[u8], usage: u32) -> Self {
        let key = derive(enctype, base, usage, Purpose::Encryption);
        Self {
            encryption: encrypting_key(enctype, key.bytes()),
            integrity: IntegrityKey::derived(enctype, base, usage, Purpose::Integrity),
            signs_ciphertext: enctype.signs_ciphertext(),
        }
    }

    /// Encrypts `text`, which starts with its confounder and is longer than a block. Returns the checksum that follows it.
    pub(crate) fn seal(&self, text: &mut [u8]) -> Checksum {
        let mut signing = self.start(&self.integrity);
        let Parts { bulk, last } = Parts::of(text.len());
        let (whole, ends) = text.split_at_mut(bulk);
        let mut vector = [0; BLOCK];
        for piece in whole.chunks_mut(PIECE) {
            if !self.signs_ciphertext {
                signing.add(piece);
            }
            self.chain(piece, &mut vector);
            if self.signs_ciphertext {
                signing.add(piece);
            }
        }
        if !self.signs_ciphertext {
            signing.add(ends);
        }
        // The second-last block is encrypted, then the last one filled up with zeros; the latter is sent first, and of the former as
        // much as the last had.
        let mut padded = [0; BLOCK];
        padded[..last].copy_from_slice(&ends[BLOCK..]);
        self.chain(&mut ends[..BLOCK], &mut vector);
        self.chain(&mut padded, &mut vector);
        ends.copy_within(..last, BLOCK);
        ends[..BLOCK].copy_from_slice(&padded);
        if self.signs_ciphertext {
            signing.add(ends);
        }
        signing.finish()
    }

    /// Encrypts whole blocks; the vector becomes the last of them.
    fn chain(&self, blocks: &mut [u8], vector: &mut Block) {
        self.encryption
            .less_safe_encrypt(blocks, EncryptionContext::Iv128((*vector).into()))
            .expect("whole blocks are encrypted");
        *vector = last_block(blocks);
    }

    fn start(&self, key: &IntegrityKey) -> Signing {
        start(key, self.signs_ciphertext)
    }
}

impl Opener {
    pub(crate) fn derived(enctype: Enctype, base: &[u8], usage: u32) -> Self {
        let key = derive(enctype, base, usage, Purpose::Encryption);
        let key =
            UnboundCipherKey::new(enctype.cipher(), key.bytes()).expect("a key of the enctype's length");
        Self {
            encryption: DecryptingKey::cbc(key).expect("AES has CBC"),
            integrity: IntegrityKey::derived(enctype, base, usage, Purpose::Integrity),
            signs_ciphertext: enctype.signs_ciphertext(),
        }
    }

    /// Decrypts `text`, which is longer than a block and is followed by `checksum`.
    ///
    /// # Errors
    /// The checksum is wrong; then `text` holds nothing of use.
    pub(crate) fn open(&self, text: &mut [u8], checksum: &[u8]) -> Result<(), TokenError> {
        let mut signing = start(&self.integrity, self.signs_ciphertext);
        let Parts { bulk, last } = Parts::of(text.len());
        let (whole, ends) = text.split_at_mut(bulk);
        let mut vector = [0; BLOCK];
        for piece in whole.chunks_mut(PIECE) {
            if self.signs_ciphertext {
                signing.add(piece);
            }
            let next = last_block(piece);
            self.chain(piece, vector);
            vector = next;
            if !self.signs_ciphertext {
                signing.add(piece);
            }
        }
        if self.signs_ciphertext {
            signing.add(ends);
        }
        // The first of the two holds the last block, mixed with the second-last; what the second lacks is in the first.
        self.chain(&mut ends[..BLOCK], [0; BLOCK]);
        let mut second_last: Block = last_block(&ends[..BLOCK]);
        second_last[..last].copy_from_slice(&ends[BLOCK..]);
        for at in 0..last {
            ends[BLOCK + at] ^= ends[at];
        }
        self.chain(&mut second_last, vector);
        ends[..BLOCK].copy_from_slice(&second_last);
        if !self.signs_ciphertext {
            signing.add(ends);
        }
        signing.finish().check(checksum)
    }

    fn chain(&self, blocks: &mut [u8], vector: Block) {
        self.encryption
            .decrypt(blocks, DecryptionContext::Iv128(vector.into()))
            .expect("whole blocks are decrypted");
    }
}

/// RFC 8009 signs the initial vector, too, which is always zero.
fn start(key: &IntegrityKey, signs_ciphertext: bool) -> Signing {
    let mut signing = key.start();
    if signs_ciphertext {
        signing.add(&[0; BLOCK]);
    }
    signing
}

fn last_block(blocks: &[u8]) -> Block {
    *blocks.last_chunk().expect("at least a block")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::bytes;

    fn both_ways(enctype: Enctype, base: &str, usage: u32, plain: &[u8], sealed: &[u8]) {
        let (sealer, opener) =
            (Sealer::derived(enctype, &bytes(base), usage), Opener::derived(enctype, &bytes(base), usage));
        let mut text = plain.to_vec();
        let checksum = sealer.seal(&mut text);
        assert_eq!([&text, checksum.bytes()].concat(), sealed, "{enctype}: {} bytes", plain.len());
        opener.open(&mut text, checksum.bytes()).expect("it opens");
        assert_eq!(text, plain, "{enctype}: {} bytes", plain.len());
    }

    /// RFC 3962 B. Its vectors are of the cipher alone.
    #[test]
    fn ciphertext_stealing_is_that_of_the_rfc() {
        let key = b"chicken teriyaki";
        let unsigned = IntegrityKey::derived(Enctype::Aes128Sha1, key, 0, Purpose::Integrity);
        let sealer = Sealer {
            encryption: encrypting_key(Enctype::Aes128Sha1, key),
            integrity: unsigned,
            signs_ciphertext: false,
        };
        let text = b"I would like the General Gau's Chicken, please, and wonton soup.";
        for (length, wanted) in [
            (17, "c6353568f2bf8cb4d8a580362da7ff7f97"),
            (31, "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"),
            (32, "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"),
            (
                47,
                "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98ebf5",
            ),
            (
                48,
                "97687268d6ecccc0c07b25e25ecfe5849dad8bbb96c4cdc03bc103e1a194bbd839312523a78662d5be7fcbcc98ebf5a8",
            ),
            (
                64,
                "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a84807efe836ee89a526730dbc2f7bc8409dad8bbb96c4cdc03bc103e1a194bbd8",
            ),
        ] {
            let mut sealed = text[..length].to_vec();
            sealer.seal(&mut sealed);
            assert_eq!(sealed, bytes(wanted), "{length} bytes");
        }
    }

    /// RFC 8009 A, without its empty messages: a Wrap token is never shorter than two blocks.
    #[test]
    fn messages_are_sealed_as_the_rfc_does_it() {
        let (base19, base20) = (
            "3705d96080c17728a0e800eab6e0d23c",
            "6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52",
        );
        let counted: Vec<u8> = (0..=0x14).collect();
        for (enctype, base, length, confounder, sealed) in [
            (
                Enctype::Aes128Sha256,
                base19,
                6,
                "7bca285e2fd4130fb55b1a5c83bc5b24",
                "84d7f30754ed987bab0bf3506beb09cfb55402cef7e6877ce99e247e52d16ed4421dfdf8976c",
            ),
            (
                Enctype::Aes128Sha256,
                base19,
                16,
                "56ab21713ff62c0a1457200f6fa9948f",
                "3517d640f50ddc8ad3628722b3569d2ae07493fa8263254080ea65c1008e8fc295fb4852e7d83e1e7c48c37eebe6b0d3",
            ),
            (
                Enctype::Aes128Sha256,
                base19,
                21,
                "a7a4e29a4728ce10664fb64e49ad3fac",
                "720f73b18d9859cd6ccb4346115cd336c70f58edc0c4437c5573544c31c813bce1e6d072c186b39a413c2f92ca9b8334a287ffcbfc",
            ),
            (
                Enctype::Aes256Sha384,
                base20,
                6,
                "b80d3251c1f6471494256ffe712d0b9a",
                "4ed7b37c2bcac8f74f23c1cf07e62bc7b75fb3f637b9f559c7f664f69eab7b6092237526ea0d1f61cb20d69d10f2",
            ),
            (
                Enctype::Aes256Sha384,
                base20,
                16,
                "53bf8a0d105265d4e276428624ce5e63",
                "bc47ffec7998eb91e8115cf8d19dac4bbbe2e163e87dd37f49beca92027764f68cf51f14d798c2273f35df574d1f932e40c4ff255b36a266",
            ),
            (
                Enctype::Aes256Sha384,
                base20,
                21,
                "763e65367e864f02f55153c7e3b58af1",
                "40013e2df58e8751957d2878bcd2d6fe101ccfd556cb1eae79db3c3ee86429f2b2a602ac86fef6ecb647d6295fae077a1feb517508d2c16b4192e01f62",
            ),
        ] {
            let plain = [&bytes(confounder)[..], &counted[..length]].concat();
            both_ways(enctype, base, 2, &plain, &bytes(sealed));
        }
    }
}
