//! The encryption types that are accepted (RFC 3962, RFC 8009): AES with SHA-1 or SHA-2. DES, DES3 and RC4 are not.

use std::fmt;

use aws_lc_rs::cipher::{AES_128, AES_256, Algorithm};
use aws_lc_rs::hmac;

/// An encryption type, by its number in Kerberos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enctype {
    /// `aes128-cts-hmac-sha1-96` (17).
    Aes128Sha1,
    /// `aes256-cts-hmac-sha1-96` (18).
    Aes256Sha1,
    /// `aes128-cts-hmac-sha256-128` (19).
    Aes128Sha256,
    /// `aes256-cts-hmac-sha384-192` (20).
    Aes256Sha384,
}

impl Enctype {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Aes128Sha1, Self::Aes256Sha1, Self::Aes128Sha256, Self::Aes256Sha384];

    /// The one with this number, if it is accepted.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|enctype| enctype.number() == number)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        match self {
            Self::Aes128Sha1 => 17,
            Self::Aes256Sha1 => 18,
            Self::Aes128Sha256 => 19,
            Self::Aes256Sha384 => 20,
        }
    }

    /// Its name, as `klist -e` and `krb5.conf` write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aes128Sha1 => "aes128-cts-hmac-sha1-96",
            Self::Aes256Sha1 => "aes256-cts-hmac-sha1-96",
            Self::Aes128Sha256 => "aes128-cts-hmac-sha256-128",
            Self::Aes256Sha384 => "aes256-cts-hmac-sha384-192",
        }
    }

    /// Length of a session key, and of an encryption key, in bytes.
    pub fn key_length(self) -> usize {
        match self {
            Self::Aes128Sha1 | Self::Aes128Sha256 => 16,
            Self::Aes256Sha1 | Self::Aes256Sha384 => 32,
        }
    }

    /// Length of a checksum or integrity key in bytes.
    pub(crate) fn integrity_key_length(self) -> usize {
        match self {
            Self::Aes128Sha1 | Self::Aes128Sha256 => 16,
            Self::Aes256Sha1 => 32,
            Self::Aes256Sha384 => 24,
        }
    }

    /// Length of a checksum in bytes: the HMAC is cut to it.
    pub fn checksum_length(self) -> usize {
        match self {
            Self::Aes128Sha1 | Self::Aes256Sha1 => 12,
            Self::Aes128Sha256 => 16,
            Self::Aes256Sha384 => 24,
        }
    }

    /// Whether the checksum of a sealed message covers its ciphertext (RFC 8009) or its plaintext (RFC 3961).
    pub(crate) fn signs_ciphertext(self) -> bool {
        matches!(self, Self::Aes128Sha256 | Self::Aes256Sha384)
    }

    pub(crate) fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Aes128Sha1 | Self::Aes256Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Aes128Sha256 => hmac::HMAC_SHA256,
            Self::Aes256Sha384 => hmac::HMAC_SHA384,
        }
    }

    pub(crate) fn cipher(self) -> &'static Algorithm {
        match self {
            Self::Aes128Sha1 | Self::Aes128Sha256 => &AES_128,
            Self::Aes256Sha1 | Self::Aes256Sha384 => &AES_256,
        }
    }
}

impl fmt::Display for Enctype {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
