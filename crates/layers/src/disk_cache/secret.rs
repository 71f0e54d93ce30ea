//! Names of nodes and checksums in a cache on disk: both keyed by a secret of that cache, so that nobody chooses them.

use std::fmt;
use std::hash::Hasher;

use howdah_vfs::Handle;
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128, SipHasher13 as SipHasher128};

/// The name of a node in a cache: of its handle and its server, in 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey([u8; Self::LENGTH]);

impl NodeKey {
    /// Bytes of a key.
    pub const LENGTH: usize = 16;

    /// The key in these bytes.
    pub fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// 16 random bytes that a cache keeps for its life.
#[derive(Clone, Copy)]
pub struct CacheSecret(u64, u64);

impl CacheSecret {
    /// The secret in these bytes.
    pub fn new(bytes: [u8; 16]) -> Self {
        let number = u128::from_be_bytes(bytes);
        Self((number >> 64) as u64, number as u64)
    }

    /// The name of a server's node.
    pub fn key(&self, server: &str, node: &Handle) -> NodeKey {
        let mut hasher = SipHasher128::new_with_keys(self.0, self.1);
        // A NUL is in no name of a server.
        hasher.write(server.as_bytes());
        hasher.write(&[0]);
        hasher.write(node.as_bytes());
        NodeKey(hasher.finish128().as_bytes())
    }

    /// The checksum of a piece: of another node, or in another place, the same bytes have another one.
    pub fn sum(&self, key: &NodeKey, index: u32, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.0, self.1);
        hasher.write(bytes);
        hasher.write(&key.0);
        hasher.write(&index.to_be_bytes());
        hasher.finish()
    }

    /// The checksum of a node's entry in the index.
    pub fn entry_sum(&self, key: &NodeKey, bytes: &[u8]) -> u64 {
        self.sum(key, u32::MAX, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_node_of_one_server_and_a_checksum_of_one_place() {
        let secret = CacheSecret::new([7; 16]);
        let node = |byte| Handle::new(&[byte; 20]).expect("short");
        let key = secret.key("host:/a", &node(1));
        assert_eq!(key, secret.key("host:/a", &node(1)));
        for other in [
            secret.key("host:/b", &node(1)),
            secret.key("host:/a", &node(2)),
            CacheSecret::new([8; 16]).key("host:/a", &node(1)),
        ] {
            assert_ne!(key, other);
            assert_ne!(secret.sum(&key, 0, b"bytes"), secret.sum(&other, 0, b"bytes"));
        }
        assert_ne!(secret.sum(&key, 0, b"bytes"), secret.sum(&key, 1, b"bytes"));
        assert_ne!(secret.sum(&key, 0, b"bytes"), secret.sum(&key, 0, b"bytez"));
    }
}
