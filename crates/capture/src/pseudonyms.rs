//! Names and handles as a capture reports them: hashed with a key that nobody knows and that ends with the capture.

use std::hash::{BuildHasher, RandomState};

use super::format::Names;

/// How one capture writes names.
pub struct Pseudonyms {
    key: RandomState,
    names: Names,
}

impl Pseudonyms {
    /// With a key of its own.
    pub fn new(names: Names) -> Self {
        Self { key: RandomState::new(), names }
    }

    /// A handle: always hashed, since it says nothing to a person.
    pub fn node(&self, handle: &[u8]) -> String {
        format!("{:016x}", self.key.hash_one((0_u8, handle)))
    }

    /// A name.
    pub fn name(&self, name: &[u8]) -> String {
        match (self.names, name) {
            (_, b"." | b"..") | (Names::Clear, _) => name.escape_ascii().to_string(),
            (Names::Hashed, _) => format!("{:016x}", self.key.hash_one((1_u8, name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_equal_and_say_nothing() {
        let hashed = Pseudonyms::new(Names::Hashed);
        assert_eq!(hashed.name(b"secret"), hashed.name(b"secret"));
        assert_ne!(hashed.name(b"secret"), hashed.name(b"secreT"));
        assert_ne!(hashed.name(b"secret"), Pseudonyms::new(Names::Hashed).name(b"secret"), "another key");
        assert_ne!(hashed.name(b"same"), hashed.node(b"same"));
        assert_eq!((hashed.name(b"secret").len(), hashed.name(b"..")), (16, "..".to_owned()));
        assert_eq!(Pseudonyms::new(Names::Clear).name(b"a\xff b"), r"a\xff b");
    }
}
