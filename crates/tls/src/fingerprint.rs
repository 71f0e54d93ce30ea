//! The digest of a certificate, by which people and rules name it.

use std::fmt;
use std::str::FromStr;

use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::pki_types::CertificateDer;

/// The name of the digest before its digits.
const PREFIX: &str = "sha256:";

/// The SHA-256 digest of a whole certificate. `openssl x509 -noout -fingerprint -sha256` prints the same digits with colons between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Of an encoded certificate.
    pub(crate) fn of(der: &CertificateDer<'_>) -> Self {
        Self(sha256(der))
    }
}

/// SHA-256 of these bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let suite = TLS13_AES_128_GCM_SHA256.tls13();
    let digest = suite.map(|suite| suite.common.hash_provider.hash(bytes));
    let digest = digest.as_ref().and_then(|digest| <[u8; 32]>::try_from(digest.as_ref()).ok());
    digest.expect("the suite is one of TLS 1.3, and SHA-256 has 32 bytes")
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    /// `sha256:` and 64 hexadecimal digits, with colons between the bytes or without.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {PREFIX} and 64 hexadecimal digits");
        let digits = text.strip_prefix(PREFIX).ok_or_else(wrong)?.replace(':', "");
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_with_colons_and_without() {
        // The digest of nothing (FIPS 180-4).
        let empty = Fingerprint::of(&CertificateDer::from(Vec::new()));
        let digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(empty.to_string(), format!("sha256:{digits}"));
        let pairs: Vec<&str> = (0..32).map(|at| &digits[2 * at..2 * at + 2]).collect();
        for text in [digits.to_owned(), digits.to_uppercase(), pairs.join(":")] {
            assert_eq!(format!("sha256:{text}").parse(), Ok(empty), "{text}");
        }
        for wrong in ["", digits, "sha256:", "sha256:e3", "sha1:e3b0", &format!("sha256:{digits}00")] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }
}
