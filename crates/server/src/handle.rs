//! The handle as clients see it: the file system's own one in an envelope that says of which export it is, with a
//! keyed checksum over both, so that no client can make one up.
//!
//! version (1 byte) · export id (4) · checksum (8) · the file system's handle (at most 48): at most 61 of the 64
//! bytes that NFSv3 has.

use std::hash::Hasher;

use howdah_vfs::Handle;
use howdah_wire::nfs3::{FileHandle, HANDLE_MAX};
use siphasher::sip::SipHasher24;

/// The only envelope there is so far.
const VERSION: u8 = 1;
/// Where the checksum starts: behind the version and the export's id.
const CHECKSUM: usize = 5;
/// Where the file system's handle starts.
const INNER: usize = CHECKSUM + 8;
const _: () = assert!(INNER + Handle::EXPORTABLE_MAX <= HANDLE_MAX);

/// The secret that handles are sealed with.
#[derive(Clone)]
pub struct HandleKey(SipHasher24);

/// The key of handles of all heads of a cluster, derived from the secret that they share and the name of the cluster: two
/// clusters with one secret do not take each other's handles.
pub fn cluster_handle_key(secret: &[u8; 32], cluster: &str) -> [u8; 16] {
    let [first, second] = [&secret[..16], &secret[16..]].map(|half| {
        let mut hasher = SipHasher24::new_with_key(half.first_chunk().expect("half of the secret"));
        hasher.write(b"the key of handles of the cluster ");
        hasher.write(cluster.as_bytes());
        hasher.finish().to_be_bytes()
    });
    let mut key = [0; 16];
    key[..8].copy_from_slice(&first);
    key[8..].copy_from_slice(&second);
    key
}

/// A name for the server that has this secret of its own, which does not tell it.
pub fn server_name(secret: [u8; 16]) -> [u8; 16] {
    HandleKey::new(secret).identity()
}

/// What anybody sees of a handle that some howdah gave out. Whether it was this one only its key tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'h> {
    /// The id of the export.
    pub export: u32,
    /// The checksum, by the key of who gave it out.
    pub checksum: u64,
    /// The file system's handle.
    pub inner: &'h [u8],
}

impl<'h> Envelope<'h> {
    /// Takes a handle apart; `None` if it has not the shape of ours.
    pub fn parse(bytes: &'h [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<CHECKSUM>()?;
        let (checksum, inner) = rest.split_first_chunk::<8>()?;
        let [VERSION, export @ ..] = *head else { return None };
        Some(Self { export: u32::from_be_bytes(export), checksum: u64::from_be_bytes(*checksum), inner })
    }
}

/// A handle in its envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedHandle {
    length: usize,
    bytes: [u8; HANDLE_MAX],
}

impl HandleKey {
    /// A key of 128 bits.
    pub fn new(key: [u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(&key))
    }

    /// Puts a handle in an envelope. One that is too long for it becomes an empty handle, which names nothing.
    pub fn seal(&self, export: u32, handle: &Handle) -> SealedHandle {
        let inner = handle.as_bytes();
        if inner.len() > Handle::EXPORTABLE_MAX {
            tracing::warn!(
                length = inner.len(),
                "a handle of the exported file system is too long for an envelope"
            );
            return SealedHandle { length: 0, bytes: [0; HANDLE_MAX] };
        }
        let mut sealed = SealedHandle { length: INNER + inner.len(), bytes: [0; HANDLE_MAX] };
        sealed.bytes[0] = VERSION;
        sealed.bytes[1..CHECKSUM].copy_from_slice(&export.to_be_bytes());
        sealed.bytes[INNER..sealed.length].copy_from_slice(inner);
        let checksum = self.checksum(&sealed.bytes[..CHECKSUM], inner);
        sealed.bytes[CHECKSUM..INNER].copy_from_slice(&checksum.to_be_bytes());
        sealed
    }

    /// The export's id and the handle in an envelope; `None` if it was not sealed with this key.
    pub fn open(&self, bytes: &[u8]) -> Option<(u32, Handle)> {
        let (head, rest) = bytes.split_first_chunk::<CHECKSUM>()?;
        let (checksum, inner) = rest.split_first_chunk::<8>()?;
        let [VERSION, export @ ..] = *head else { return None };
        // Two whole numbers are compared at once, in a time that says nothing of how many of their bytes agree; with
        // 2^63 tries to expect, there is no need for more care than that.
        if self.checksum(head, inner) != u64::from_be_bytes(*checksum) {
            return None;
        }
        Some((u32::from_be_bytes(export), Handle::new(inner).ok()?))
    }

    /// Whether bytes are as long as a handle, and so may be one of another key: of a state directory that is lost, or of another server.
    /// A client is told that such a handle is stale. Linux has no error number for BADHANDLE and shows "Unknown error 521".
    pub fn may_be_of_another(bytes: &[u8]) -> bool {
        bytes.len() > INNER
    }

    /// A name for whoever holds this secret, which does not tell it.
    pub(crate) fn identity(&self) -> [u8; 16] {
        let [one, other] = [b"one half of a server's name", b"the other one of its halves"].map(|text| {
            let mut hasher = self.0;
            hasher.write(text);
            hasher.finish().to_be_bytes()
        });
        let mut identity = [0; 16];
        identity[..8].copy_from_slice(&one);
        identity[8..].copy_from_slice(&other);
        identity
    }

    /// A secret for another purpose, from which this one cannot be found.
    pub(crate) fn secret_for(&self, purpose: &[u8]) -> [u8; 32] {
        let mut secret = [0; 32];
        for (part, bytes) in (0_u8..).zip(secret.chunks_mut(8)) {
            let mut hasher = self.0;
            hasher.write(purpose);
            hasher.write_u8(part);
            bytes.copy_from_slice(&hasher.finish().to_be_bytes());
        }
        secret
    }

    fn checksum(&self, head: &[u8], inner: &[u8]) -> u64 {
        let mut hasher = self.0;
        hasher.write(head);
        hasher.write(inner);
        hasher.finish()
    }
}

impl SealedHandle {
    /// As it goes into a message.
    pub fn as_wire(&self) -> FileHandle<'_> {
        FileHandle(&self.bytes[..self.length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_one_cluster_have_one_key() {
        let secret: [u8; 32] = std::array::from_fn(|place| place as u8);
        let key = cluster_handle_key(&secret, "one");
        // Stable for ever: another key makes every client's handles stale.
        assert_eq!(u128::from_be_bytes(key), KEY_OF_ONE);
        assert_ne!(cluster_handle_key(&secret, "two"), key);
        for place in [0, 15, 16, 31] {
            let mut other = secret;
            other[place] ^= 1;
            assert_ne!(cluster_handle_key(&other, "one"), key, "byte {place}");
        }
    }

    /// As it was first derived.
    const KEY_OF_ONE: u128 = 240_629_762_187_418_037_242_550_840_968_367_649_520;

    #[test]
    fn what_was_sealed_opens_and_nothing_else_does() {
        let key = HandleKey::new(*b"0123456789abcdef");
        for length in 0..=Handle::EXPORTABLE_MAX {
            let handle = Handle::new(&[7; Handle::EXPORTABLE_MAX][..length]).expect("fits");
            let sealed = key.seal(0x0102_0304, &handle);
            let bytes = sealed.as_wire().0;
            let seen = Envelope::parse(bytes).expect("its shape");
            assert_eq!((seen.export, seen.inner), (0x0102_0304, handle.as_bytes()));
            assert_eq!(bytes.len(), 13 + length);
            assert_eq!(key.open(bytes), Some((0x0102_0304, handle)));
            for place in 0..bytes.len() {
                let mut forged = bytes.to_vec();
                forged[place] ^= 0x10;
                assert_eq!(key.open(&forged), None, "byte {place} of {length} changed");
                assert_eq!(key.open(&bytes[..place]), None, "cut to {place}");
            }
            assert_eq!(key.open(&[bytes, &[0]].concat()), None, "one byte more");
            assert_eq!(HandleKey::new([1; 16]).open(bytes), None, "another key");
        }
        assert_eq!(key.open(&[1; 64]), None);
    }
}
