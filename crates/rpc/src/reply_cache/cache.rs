//! The cache itself: a call begins, is answered, and is forgotten. Every step takes the same time however many calls
//! there are, but for the forgetting of what grew old meanwhile.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Instant;

use super::call::Call;
use super::entries::Entries;
use super::key::CallKey;
use super::limits::Limits;
use super::queue::Queue;

/// The queue of all answered calls.
const ALL: usize = 0;
/// The queue of one owner's answered calls.
const OWN: usize = 1;

/// What a call turns out to be.
#[derive(Debug)]
pub enum Begin<'c> {
    /// A new one: it runs, and the slot takes its reply.
    New(Slot),
    /// The repetition of one that still runs: dropped, since the first one will be answered.
    InProgress,
    /// The repetition of one that was answered with these bytes.
    Replay(&'c [u8]),
}

/// Where the reply of a call that runs belongs. It must come back by [`ReplyCache::finish`] or [`ReplyCache::abandon`].
#[derive(Debug)]
#[must_use = "a call that is neither finished nor abandoned takes up room for good"]
pub struct Slot {
    /// Index and generation; `None`: there was no room, and the call runs unremembered.
    place: Option<(u32, u32)>,
}

/// Replies that are kept.
#[derive(Debug)]
pub struct ReplyCache {
    limits: Limits,
    entries: Entries,
    calls: HashMap<CallKey, u32>,
    answered: Queue<ALL>,
    owners: HashMap<IpAddr, Share>,
    bytes: usize,
    newest: Option<Instant>,
}

/// What one owner has of the cache.
#[derive(Debug, Default)]
struct Share {
    answered: Queue<OWN>,
    entries: usize,
    bytes: usize,
}

impl ReplyCache {
    /// An empty cache.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            entries: Entries::default(),
            calls: HashMap::new(),
            answered: Queue::default(),
            owners: HashMap::new(),
            bytes: 0,
            newest: None,
        }
    }

    /// Calls that are remembered, those that run included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of replies that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Asks what this call is. A new one is remembered as running from now on. `is_meant` judges an equal call that was answered:
    /// whether its answer is meant for this one, too; if not, this one is new.
    pub fn begin(&mut self, call: Call, now: Instant, is_meant: impl FnOnce(&Call) -> bool) -> Begin<'_> {
        self.forget_old(now);
        if let Some(&at) = self.calls.get(&call.key) {
            let entry = self.entries.get(at);
            match (entry.answered, entry.call) {
                (None, _) => return Begin::InProgress,
                (Some(_), Some(earlier)) if is_meant(&earlier) => {
                    return Begin::Replay(&self.entries.get(at).reply);
                }
                _ => self.forget(at),
            }
        }
        Begin::New(Slot { place: self.remember(call) })
    }

    /// The call was answered with these bytes, which are kept as far as the limits allow.
    pub fn finish(&mut self, slot: Slot, reply: &[u8], now: Instant) {
        self.forget_old(now);
        let Some((at, key)) = self.running(&slot) else { return };
        if reply.len() > self.limits.reply || !self.make_room_for_bytes(key.owner(), reply.len()) {
            return self.forget(at);
        }
        let answered = self.newest.map_or(now, |newest| newest.max(now));
        self.newest = Some(answered);
        let entry = self.entries.get_mut(at);
        entry.reply.reserve_exact(reply.len());
        entry.reply.extend_from_slice(reply);
        entry.answered = Some(answered);
        let share = self.owners.entry(key.owner()).or_default();
        share.bytes += reply.len();
        self.bytes += reply.len();
        share.answered.push(self.entries.as_mut_slice(), at);
        self.answered.push(self.entries.as_mut_slice(), at);
    }

    /// What turned out of a call while it ran. It must be the call that began.
    pub fn amend(&mut self, slot: &Slot, call: Call) {
        if let Some((at, key)) = self.running(slot) {
            debug_assert_eq!(key, call.key, "another call");
            self.entries.get_mut(at).call = Some(call);
        }
    }

    /// The call was not carried out: its repetition is a new call.
    pub fn abandon(&mut self, slot: Slot) {
        if let Some((at, _)) = self.running(&slot) {
            self.forget(at);
        }
    }

    /// The entry of a slot, if it is that of a call which runs.
    fn running(&self, slot: &Slot) -> Option<(u32, CallKey)> {
        let (at, generation) = slot.place?;
        let entry = self.entries.get(at);
        let call = entry.call.filter(|_| entry.generation == generation && entry.answered.is_none())?;
        Some((at, call.key))
    }

    fn remember(&mut self, call: Call) -> Option<(u32, u32)> {
        let owner = call.key.owner();
        while self.entries.len() >= self.limits.entries {
            let (mine, fair) = (self.share(owner).0, self.limits.entries / self.owners_with(owner));
            if !self.forget_one(owner, mine >= fair) {
                return None;
            }
        }
        let at = self.entries.take(call);
        self.calls.insert(call.key, at);
        self.owners.entry(owner).or_default().entries += 1;
        Some((at, self.entries.get(at).generation))
    }

    fn make_room_for_bytes(&mut self, owner: IpAddr, length: usize) -> bool {
        while self.bytes + length > self.limits.bytes {
            let (mine, fair) = (self.share(owner).1, self.limits.bytes / self.owners_with(owner));
            if !self.forget_one(owner, mine + length > fair) {
                return false;
            }
        }
        true
    }

    /// Entries and bytes of an owner.
    fn share(&self, owner: IpAddr) -> (usize, usize) {
        self.owners.get(&owner).map_or((0, 0), |share| (share.entries, share.bytes))
    }

    /// How many owners share the room, this one counted.
    fn owners_with(&self, owner: IpAddr) -> usize {
        self.owners.len() + usize::from(!self.owners.contains_key(&owner))
    }

    /// Forgets the oldest answered call of all; or, if this owner has its fair share and so would only push others out,
    /// the oldest of its own. Calls that run are never forgotten.
    fn forget_one(&mut self, owner: IpAddr, own: bool) -> bool {
        let of_owner = self.owners.get(&owner).and_then(|share| share.answered.oldest());
        let of_all = self.answered.oldest();
        let victim = if own { of_owner.or(of_all) } else { of_all };
        victim.inspect(|&at| self.forget(at)).is_some()
    }

    fn forget_old(&mut self, now: Instant) {
        while let Some(at) = self.answered.oldest() {
            let answered = self.entries.get(at).answered;
            if answered.is_none_or(|answered| now.saturating_duration_since(answered) < self.limits.age) {
                return;
            }
            self.forget(at);
        }
    }

    fn forget(&mut self, at: u32) {
        let entry = self.entries.get(at);
        let (Some(Call { key, .. }), answered, length) = (entry.call, entry.answered, entry.reply.len())
        else {
            return;
        };
        self.calls.remove(&key);
        if let Some(share) = self.owners.get_mut(&key.owner()) {
            share.entries -= 1;
            share.bytes -= length;
            if answered.is_some() {
                share.answered.remove(self.entries.as_mut_slice(), at);
                self.answered.remove(self.entries.as_mut_slice(), at);
            }
            if share.entries == 0 {
                self.owners.remove(&key.owner());
            }
        }
        self.bytes -= length;
        self.entries.release(at);
    }
}
