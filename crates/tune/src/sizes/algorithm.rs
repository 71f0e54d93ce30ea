//! The name of a congestion control, short enough to be handed around like a number.

use std::fmt;

/// What the kernel takes for a name, with the zero at its end (`TCP_CA_NAME_MAX`).
const ROOM: usize = 16;

/// A congestion control (`TCP_CONGESTION`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Algorithm([u8; ROOM]);

impl Algorithm {
    /// One of that name, if it can be the name of one: up to 15 letters, digits, `_` and `-`.
    pub fn parse(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() >= ROOM || !name.bytes().all(is_plain) {
            return None;
        }
        let mut bytes = [0; ROOM];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        Some(Self(bytes))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(ROOM);
        std::str::from_utf8(&self.0[..end]).expect("it was ASCII when it was taken")
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_kernel_takes_for_one() {
        assert_eq!(Algorithm::parse("bbr").map(|name| name.to_string()), Some("bbr".to_owned()));
        assert_eq!(Algorithm::parse("a23456789012345").map(|name| name.name().len()), Some(15));
        assert_eq!(Algorithm::parse("a_b-2").map(|name| format!("{name:?}")), Some("a_b-2".to_owned()));
        for wrong in ["", "a234567890123456", "bbr\0", "b b", "é"] {
            assert_eq!(Algorithm::parse(wrong), None, "{wrong:?}");
        }
    }
}
