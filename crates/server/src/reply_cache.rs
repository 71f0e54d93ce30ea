//! The duplicate-request cache, shared by all workers. What it keeps and forgets is `howdah_rpc`'s affair; here it is
//! cut into parts with a lock each, and a call that ends without an answer frees its place by itself.

use std::array;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Instant;

use howdah_rpc::reply_cache::{Begin, CallKey, Checksum, Limits, ReplyCache, Slot};
use howdah_wire::rpc::CallHeader;
use parking_lot::Mutex;

/// Parts of the cache: with this many, two of the default 32 workers rarely want the same lock.
const PARTS: usize = 16;

/// The cache.
pub struct SharedReplyCache {
    checksum: Checksum,
    parts: [Mutex<ReplyCache>; PARTS],
}

/// What a call turns out to be.
pub enum Begun<'c> {
    /// A new one: it runs.
    New(Running<'c>),
    /// The repetition of one that still runs: not answered.
    InProgress,
    /// The repetition of one that was answered; the answer has been appended.
    Replayed,
}

/// A call that runs. Dropped without an answer, as in a panic, it is forgotten, and its repetition runs.
#[must_use = "a call whose answer is not kept runs again when repeated"]
pub struct Running<'c> {
    part: &'c Mutex<ReplyCache>,
    slot: Option<Slot>,
}

impl SharedReplyCache {
    /// An empty cache within these limits.
    pub fn new(limits: Limits) -> Self {
        let half = || RandomState::new().hash_one(0u8).to_ne_bytes();
        let (first, second) = (half(), half());
        let key = array::from_fn(|at| if at < 8 { first[at] } else { second[at - 8] });
        let parts = array::from_fn(|_| Mutex::new(ReplyCache::new(limits.divided(PARTS))));
        Self { checksum: Checksum::new(key), parts }
    }

    /// Asks what a call with these arguments is. If it was answered before, the answer is appended to `reply`.
    pub fn begin(
        &self,
        client: IpAddr,
        header: &CallHeader<'_>,
        arguments: &[u8],
        now: Instant,
        reply: &mut Vec<u8>,
    ) -> Begun<'_> {
        let key = self.checksum.key(client, header, arguments);
        let part = self.part(&key);
        match part.lock().begin(key, now) {
            Begin::New(slot) => Begun::New(Running { part, slot: Some(slot) }),
            Begin::InProgress => Begun::InProgress,
            Begin::Replay(message) => {
                reply.extend_from_slice(message);
                Begun::Replayed
            }
        }
    }

    /// Calls that are remembered, and bytes of replies that are kept.
    pub fn size(&self) -> (usize, usize) {
        self.parts
            .iter()
            .map(|part| part.lock())
            .fold((0, 0), |(calls, bytes), part| (calls + part.len(), bytes + part.bytes()))
    }

    fn part(&self, key: &CallKey) -> &Mutex<ReplyCache> {
        &self.parts[key.spread() as usize % PARTS]
    }
}

impl Default for SharedReplyCache {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Running<'_> {
    /// The call was answered with this message.
    pub fn finish(mut self, message: &[u8], now: Instant) {
        if let Some(slot) = self.slot.take() {
            self.part.lock().finish(slot, message, now);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.part.lock().abandon(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_wire::rpc::Credentials;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn header(xid: u32) -> CallHeader<'static> {
        CallHeader { xid, program: 100_003, version: 3, procedure: 12, credentials: Credentials::None }
    }

    #[test]
    fn an_answer_is_replayed_after_what_stands_in_the_buffer() {
        let (cache, now) = (SharedReplyCache::default(), Instant::now());
        let mut reply = vec![0; 4];
        let Begun::New(running) = cache.begin(CLIENT, &header(1), b"name", now, &mut reply) else {
            panic!("new")
        };
        assert!(matches!(cache.begin(CLIENT, &header(1), b"name", now, &mut reply), Begun::InProgress));
        running.finish(b"done", now);
        assert!(matches!(cache.begin(CLIENT, &header(1), b"name", now, &mut reply), Begun::Replayed));
        assert_eq!(reply, b"\0\0\0\0done");
        assert_eq!(cache.size(), (1, 4));
    }

    #[test]
    fn a_call_that_panics_leaves_nothing_behind() {
        let (cache, now) = (SharedReplyCache::default(), Instant::now());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _running = cache.begin(CLIENT, &header(1), b"name", now, &mut Vec::new());
            panic!("a handler broke");
        }));
        assert!(outcome.is_err());
        assert_eq!(cache.size(), (0, 0));
    }

    #[test]
    fn consecutive_calls_go_to_all_parts() {
        let (cache, now) = (SharedReplyCache::default(), Instant::now());
        for xid in 0..1600 {
            let Begun::New(running) = cache.begin(CLIENT, &header(xid), b"", now, &mut Vec::new()) else {
                panic!("call {xid} is new")
            };
            running.finish(b"done", now);
        }
        let sizes: Vec<usize> = cache.parts.iter().map(|part| part.lock().len()).collect();
        assert!(sizes.iter().all(|&size| (50..150).contains(&size)), "{sizes:?}");
    }
}
