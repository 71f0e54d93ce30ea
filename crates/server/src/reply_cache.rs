//! The duplicate-request cache, shared by all workers. What it keeps and forgets is `howdah_rpc`'s affair; here it is
//! cut into parts with a lock each, and a call that ends without an answer frees its place by itself.

use std::array;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::locks::Mutex;
use howdah_net::Token;
use howdah_rpc::reply_cache::{Begin, Call, CallKey, Checksum, Limits, Recent, ReplyCache, Slot};
use howdah_wire::rpc::CallHeader;

use crate::outline::Subjects;
use crate::overwrites::{FileSlot, Overwrite, Overwrites};

/// Parts of the cache: with this many, two of the default 32 workers rarely want the same lock.
const PARTS: usize = 16;

/// Where calls come from, of which a client may send one again: a connection by its token, or a port for datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin(u64);

/// Marks a port among origins: no server takes so many connections.
const PORT: u64 = 1 << 63;

impl Origin {
    /// This connection.
    pub fn connection(token: Token) -> Self {
        Self(token.0)
    }

    /// The connection, if it is one.
    pub fn line(self) -> Option<Token> {
        (self.0 & PORT == 0).then_some(Token(self.0))
    }

    /// Datagrams from this port.
    pub fn datagrams(port: u16) -> Self {
        Self(PORT | u64::from(port))
    }
}

/// A call as the cache sees it.
pub struct Asked<'a> {
    /// Who calls.
    pub client: IpAddr,
    /// Whence.
    pub origin: Origin,
    /// Which call.
    pub header: &'a CallHeader<'a>,
    /// The principal that makes it, if it came by a context.
    pub principal: Option<&'a str>,
    /// Its arguments.
    pub arguments: &'a [u8],
    /// What it may change.
    pub subjects: Subjects<'a>,
}

/// The cache.
///
/// An answer is meant for an equal call of the same origin always: the client sends it again. From another origin it is
/// meant only for a client that lost its connection, which shows in two ways: the connection did not end in order, with
/// every answer acknowledged; and nothing that the client did later would make no sense before it had the answer. Else the
/// call is another one, of a client that begins with the same xid each time. A refusal is meant for no other origin: what
/// changed nothing may run again, and may go well by now.
pub struct SharedReplyCache {
    checksum: Checksum,
    parts: [Mutex<ReplyCache>; PARTS],
    /// Counts calls.
    order: AtomicU64,
    /// Connections that ended in order after they had made calls that are kept.
    ended: Mutex<Recent>,
    /// The last call of a client that changed something, by what it changed: [`of_kept`], or [`of_write`].
    changed: Mutex<Recent>,
    /// Files that kept answers are about.
    overwrites: Overwrites,
    start: Instant,
}

/// What a call turns out to be.
pub enum Begun<'c> {
    /// A new one: it runs.
    New(Running<'c>),
    /// The repetition of one that still runs: not answered.
    InProgress,
    /// The repetition of one that was answered; its result has been appended.
    Replayed,
}

/// A call that runs. Dropped without an answer, as in a panic, it is forgotten, and its repetition runs.
#[must_use = "a call whose answer is not kept runs again when repeated"]
pub struct Running<'c> {
    cache: &'c SharedReplyCache,
    part: &'c Mutex<ReplyCache>,
    call: Call,
    slot: Option<Slot>,
    client: IpAddr,
    /// The file that it is about.
    file: Option<(FileSlot, u64)>,
}

impl SharedReplyCache {
    /// An empty cache within these limits.
    pub fn new(limits: Limits) -> Self {
        let half = || RandomState::new().hash_one(0u8).to_ne_bytes();
        let (first, second) = (half(), half());
        let key = array::from_fn(|at| if at < 8 { first[at] } else { second[at - 8] });
        let parts = array::from_fn(|_| Mutex::new(ReplyCache::new(limits.divided(PARTS))));
        let recent = |most| Mutex::new(Recent::new(most, limits.age));
        Self {
            checksum: Checksum::new(key),
            parts,
            order: AtomicU64::new(0),
            ended: recent(limits.entries),
            changed: recent(3 * limits.entries),
            overwrites: Overwrites::new(limits.age.as_secs() + 1),
            start: Instant::now(),
        }
    }

    /// Asks what a call is. If it was answered before, its result is appended to `reply`, behind a header for this call. `has_ended` knows of connections
    /// whose end was not seen yet.
    pub fn begin(
        &self,
        asked: &Asked<'_>,
        now: Instant,
        reply: &mut Vec<u8>,
        has_ended: &dyn Fn(Token) -> bool,
    ) -> Begun<'_> {
        let call = self.call(asked);
        let part = self.part(&call.key);
        match part.lock().begin(call, now, |earlier| self.is_meant(earlier, &call, has_ended)) {
            Begin::New(slot) => {
                let mut files = asked.subjects.iter().zip(call.subjects);
                let file = files.find(|(bytes, _)| is_handle(bytes));
                let file = file.map(|(bytes, subject)| (FileSlot::of(bytes), subject));
                Begun::New(Running { cache: self, part, call, slot: Some(slot), client: asked.client, file })
            }
            Begin::InProgress => Begun::InProgress,
            Begin::Replay(result) => {
                reply.extend_from_slice(result);
                Begun::Replayed
            }
        }
    }

    /// A WRITE of a client to this file begins that is not kept itself. What is given is for [`Self::end_write`] if it goes well.
    #[inline]
    pub fn begin_write(&self, client: IpAddr, handle: &[u8]) -> Option<Overwrite> {
        self.overwrites.begin(FileSlot::of(handle), || self.checksum.subject(client, handle))
    }

    /// The WRITE went well: it shows that its client has what it was answered about that file.
    pub fn end_write(&self, overwrite: &Overwrite, now: Instant) {
        self.overwrites.end(overwrite, self.second(now));
        // After that: a call that is answered in between began before it.
        let order = self.order.fetch_add(1, Ordering::AcqRel);
        let mut changed = self.changed.lock();
        // One WRITE shows as much as many: those after it would only push out what others keep.
        if changed.get(overwrite.subject).is_some_and(is_of_kept) {
            changed.keep(overwrite.subject, of_write(order), now);
        }
    }

    /// A connection ended in order: what was answered on it is meant for nobody else.
    pub fn end_in_order(&self, token: Token, now: Instant) {
        self.ended.lock().keep(token.0, 1, now);
    }

    /// Calls that are remembered, and bytes of replies that are kept.
    pub fn size(&self) -> (usize, usize) {
        self.parts
            .iter()
            .map(|part| part.lock())
            .fold((0, 0), |(calls, bytes), part| (calls + part.len(), bytes + part.bytes()))
    }

    fn call(&self, asked: &Asked<'_>) -> Call {
        let subject = |bytes: &[u8]| match bytes.is_empty() {
            true => 0,
            false => self.checksum.subject(asked.client, bytes),
        };
        Call {
            key: self.checksum.key(asked.client, asked.header, asked.principal, asked.arguments),
            origin: asked.origin.0,
            order: self.order.fetch_add(1, Ordering::Relaxed),
            subjects: asked.subjects.map(subject),
            has_changed: false,
        }
    }

    fn is_meant(&self, earlier: &Call, call: &Call, has_ended: &dyn Fn(Token) -> bool) -> bool {
        if earlier.origin == call.origin {
            return true;
        }
        if !earlier.has_changed {
            return false;
        }
        let is_connection = earlier.origin & PORT == 0;
        let is_noted = || self.ended.lock().get(earlier.origin).is_some();
        // Asked again at last: a worker may note the end and let go of the connection in between.
        if is_connection && (is_noted() || has_ended(Token(earlier.origin)) || is_noted()) {
            return false;
        }
        let changed = self.changed.lock();
        let is_last = |subject: &u64| changed.get(*subject).is_none_or(|last| last <= of_kept(earlier.order));
        earlier.subjects.iter().filter(|subject| **subject != 0).all(is_last)
    }

    fn second(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.start).as_secs()
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
    /// The call got this result, and changed what it should or not. `made`: the encoded handle of a node that it
    /// made; empty if it makes none.
    pub fn finish(mut self, result: &[u8], has_changed: bool, made: &[u8], now: Instant) {
        self.call.has_changed = has_changed;
        if is_handle(made) {
            let subject = self.cache.checksum.subject(self.client, made);
            self.call.subjects[1] = subject;
            self.file = Some((FileSlot::of(made), subject));
        }
        if has_changed {
            let mut changed = self.cache.changed.lock();
            let subjects = self.call.subjects.iter().filter(|subject| **subject != 0);
            subjects.for_each(|subject| changed.keep(*subject, of_kept(self.call.order), now));
        }
        if let Some(slot) = self.slot.take() {
            let mut part = self.part.lock();
            part.amend(&slot, self.call);
            part.finish(slot, result, now);
        }
        if let Some((slot, subject)) = self.file.filter(|_| has_changed) {
            self.cache.overwrites.on_answer(slot, subject, self.cache.second(now));
        }
    }
}

/// The order of a call whose answer is kept, as [`SharedReplyCache`] notes it.
fn of_kept(order: u64) -> u64 {
    2 * order
}

/// That of a WRITE whose answer is not kept.
fn of_write(order: u64) -> u64 {
    2 * order + 1
}

fn is_of_kept(noted: u64) -> bool {
    noted.is_multiple_of(2)
}

/// Whether a subject is a node, not a name: nothing follows its handle.
fn is_handle(subject: &[u8]) -> bool {
    let length = subject.first_chunk().map(|length| u32::from_be_bytes(*length) as usize);
    length.is_some_and(|length| subject.len() == 4 + length.next_multiple_of(4))
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

    /// A call on the first connection.
    fn begin<'c>(
        cache: &'c SharedReplyCache,
        header: &CallHeader<'_>,
        arguments: &[u8],
        now: Instant,
        reply: &mut Vec<u8>,
    ) -> Begun<'c> {
        let origin = Origin::connection(Token(1));
        let asked =
            Asked { client: CLIENT, origin, header, principal: None, arguments, subjects: [b"name", &[]] };
        cache.begin(&asked, now, reply, &|_| false)
    }

    fn header(xid: u32) -> CallHeader<'static> {
        CallHeader { xid, program: 100_003, version: 3, procedure: 12, credentials: Credentials::None }
    }

    #[test]
    fn an_answer_is_replayed_after_what_stands_in_the_buffer() {
        let (cache, now) = (SharedReplyCache::default(), Instant::now());
        let mut reply = vec![0; 4];
        let Begun::New(running) = begin(&cache, &header(1), b"name", now, &mut reply) else { panic!("new") };
        assert!(matches!(begin(&cache, &header(1), b"name", now, &mut reply), Begun::InProgress));
        running.finish(b"done", true, &[], now);
        assert!(matches!(begin(&cache, &header(1), b"name", now, &mut reply), Begun::Replayed));
        assert_eq!(reply, b"\0\0\0\0done");
        assert_eq!(cache.size(), (1, 4));
    }

    #[test]
    fn a_call_that_panics_leaves_nothing_behind() {
        let (cache, now) = (SharedReplyCache::default(), Instant::now());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _running = begin(&cache, &header(1), b"name", now, &mut Vec::new());
            panic!("a handler broke");
        }));
        assert!(outcome.is_err());
        assert_eq!(cache.size(), (0, 0));
    }

    #[test]
    fn consecutive_calls_go_to_all_parts() {
        let (cache, now) = (SharedReplyCache::default(), Instant::now());
        for xid in 0..1600 {
            let Begun::New(running) = begin(&cache, &header(xid), b"", now, &mut Vec::new()) else {
                panic!("call {xid} is new")
            };
            running.finish(b"done", true, &[], now);
        }
        let sizes: Vec<usize> = cache.parts.iter().map(|part| part.lock().len()).collect();
        assert!(sizes.iter().all(|&size| (50..150).contains(&size)), "{sizes:?}");
    }

    #[test]
    fn an_answer_is_meant_for_another_connection_only_if_the_first_was_lost_and_nothing_came_of_it() {
        let now = Instant::now();
        let again = |cache: &SharedReplyCache, origin, has_ended| {
            let header = header(1);
            let asked = Asked {
                client: CLIENT,
                origin,
                header: &header,
                principal: None,
                arguments: b"name",
                subjects: [b"name", &[]],
            };
            matches!(cache.begin(&asked, now, &mut Vec::new(), &|_| has_ended), Begun::Replayed)
        };
        let made = || {
            let cache = SharedReplyCache::default();
            let Begun::New(running) = begin(&cache, &header(1), b"name", now, &mut Vec::new()) else {
                panic!("new")
            };
            running.finish(b"done", true, &[], now);
            cache
        };
        let [same, other] = [1, 2].map(|token| Origin::connection(Token(token)));
        for origin in [same, other, Origin::datagrams(1000)] {
            assert!(again(&made(), origin, false), "{origin:?}: the connection was lost");
        }
        assert!(!again(&made(), other, true), "the kernel knows that the connection ended");
        let cache = made();
        cache.end_in_order(Token(1), now);
        assert!(!again(&cache, other, false), "it ended in order");
        // A worker notes the end and lets go of the connection between the two looks.
        let cache = made();
        let (call, arguments) = (header(1), &b"name"[..]);
        let asked = Asked {
            client: CLIENT,
            origin: other,
            header: &call,
            principal: None,
            arguments,
            subjects: [arguments, &[]],
        };
        let noted_meanwhile = |token| {
            cache.end_in_order(token, now);
            false
        };
        let begun = cache.begin(&asked, now, &mut Vec::new(), &noted_meanwhile);
        assert!(!matches!(begun, Begun::Replayed), "it ended in order meanwhile");
        for (header, subject, has_changed, expected) in [
            (header(2), &b"name"[..], true, false),
            (header(2), b"name", false, true),
            (header(2), b"another", true, true),
        ] {
            let cache = made();
            let asked = Asked {
                client: CLIENT,
                origin: same,
                header: &header,
                principal: None,
                arguments: subject,
                subjects: [subject, &[]],
            };
            let Begun::New(running) = cache.begin(&asked, now, &mut Vec::new(), &|_| false) else {
                panic!("new")
            };
            running.finish(b"done", has_changed, &[], now);
            assert_eq!(again(&cache, other, false), expected, "after {subject:?}, changed: {has_changed}");
            let cache = made();
            assert!(again(&cache, same, false), "on its own connection always");
        }
        let cache = SharedReplyCache::default();
        let Begun::New(running) = begin(&cache, &header(1), b"name", now, &mut Vec::new()) else {
            panic!("new")
        };
        running.finish(b"refused", false, &[], now);
        assert!(again(&cache, same, false), "a refusal, on its own connection");
        assert!(!again(&cache, other, false), "a refusal is meant for nobody else");
    }
}
