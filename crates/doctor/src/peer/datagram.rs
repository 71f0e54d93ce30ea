//! A datagram that is to be bounced: the secret of a connection, how much is to come back, and a number.

/// Bytes of a secret.
pub const SECRET: usize = 8;
/// Bytes of the head; the rest is ballast.
pub const HEAD: usize = SECRET + 4;

/// The head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Known to who made the connection.
    pub secret: [u8; SECRET],
    /// Only the head is to come back.
    pub is_short_wanted: bool,
    /// Which one it is.
    pub number: u16,
}

impl Head {
    /// Its bytes.
    pub fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..SECRET].copy_from_slice(&self.secret);
        bytes[SECRET] = u8::from(self.is_short_wanted);
        bytes[SECRET + 2..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// From the first bytes of a datagram.
    pub fn parse(datagram: &[u8]) -> Option<Self> {
        let head = datagram.get(..HEAD)?;
        Some(Self {
            secret: head[..SECRET].try_into().ok()?,
            is_short_wanted: head[SECRET] != 0,
            number: u16::from_be_bytes([head[SECRET + 2], head[SECRET + 3]]),
        })
    }

    /// How much of a datagram of that length comes back: never more than came.
    pub fn answer_length(&self, length: usize) -> usize {
        if self.is_short_wanted { length.min(HEAD) } else { length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_survive_and_no_answer_is_longer_than_what_it_answers() {
        for is_short_wanted in [false, true] {
            let head = Head { secret: *b"s3cret!!", is_short_wanted, number: 513 };
            assert_eq!(Head::parse(&head.bytes()), Some(head));
            for length in [HEAD, 100, 65_507] {
                assert!(head.answer_length(length) <= length);
            }
        }
        assert_eq!(Head::parse(&[0; HEAD - 1]), None);
    }
}
