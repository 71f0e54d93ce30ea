//! Who made a file exclusively, of late. Two clients whose verifiers are equal, as of twin virtual machines, would else both
//! get the answer that they made it.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Instant;

use crate::locks::Mutex;
use howdah_rpc::reply_cache::{Limits, Recent};
use howdah_vfs::Handle;

use crate::limits::MAKERS_MAX;

/// The makers. Kept for as long as replies are: a repetition that comes later is of nobody that still waits.
pub struct Makers {
    hasher: RandomState,
    known: Mutex<Recent>,
}

impl Default for Makers {
    fn default() -> Self {
        let known = Mutex::new(Recent::new(MAKERS_MAX, Limits::default().age));
        Self { hasher: RandomState::new(), known }
    }
}

impl Makers {
    /// A client was given this file as the one that it made with this verifier; whether it is the first.
    pub fn is_first(
        &self,
        export: u32,
        file: &Handle,
        verifier: [u8; 8],
        client: IpAddr,
        now: Instant,
    ) -> bool {
        let key = self.hasher.hash_one((export, file, verifier));
        let client = self.hasher.hash_one(client);
        let mut known = self.known.lock();
        match known.get(key) {
            Some(first) => first == client,
            None => {
                known.keep(key, client, now);
                true
            }
        }
    }
}
