//! A host of NLM.

use howdah_state::{HostId, LockKind, LockOwner, NlmLockRequest, NlmOwner, StateError};

use super::truth::BYTES;
use super::truth::{Machine, Party, Thing, bytes};
use super::world::World;

#[derive(Debug)]
pub struct Host {
    number: usize,
    pub id: Option<HostId>,
    epoch: u32,
}

impl Host {
    pub fn new(number: usize) -> Self {
        Self { number, id: None, epoch: 0 }
    }
}

impl World {
    pub fn host_step(&mut self, number: usize) {
        let id = self.state.nlm(self.now).host(&[number as u8], [192, 0, 2, 1].into()).expect("a host");
        let host = &mut self.hosts[number];
        host.id = Some(id);
        let has_restarted = std::mem::replace(&mut host.epoch, self.epoch) != self.epoch;
        debug_assert_eq!(host.number, number);
        let owner = NlmOwner { host: id, svid: self.random.below(2) as u32, oh: [1].into() };
        if has_restarted {
            return self.host_recovers(number, id);
        }
        match self.random.below(8) {
            0..4 => self.host_lock(number, &owner),
            4..7 => self.host_unlock(number, &owner),
            _ if self.random.one_in(6) => self.host_restart(number, id),
            _ => self.host_cancel(&owner),
        }
    }

    /// The server's notice of its restart.
    fn host_recovers(&mut self, number: usize, id: HostId) {
        let me = Machine::Nlm(number);
        let epoch = self.epoch;
        let held: Vec<_> =
            self.truth.of(me).map(|one| (one.owner.1, one.key, one.thing, one.is_revoked)).collect();
        for (svid, key, thing, is_revoked) in held {
            let Thing::Byte(byte, kind) = thing else { continue };
            let range = howdah_state::ByteRange {
                first: byte,
                last: if byte == BYTES - 1 { u64::MAX } else { byte },
            };
            let owner = NlmOwner { host: id, svid: u32::from(svid), oh: [1].into() };
            let request =
                NlmLockRequest { owner: &owner, key: &key, kind, range, waits: false, is_reclaim: true };
            match self.state.nlm(self.now).lock(request) {
                Ok(_) => {
                    self.naive.set(key, &LockOwner::Nlm(owner), range, Some(kind));
                    if !self.deliver() {
                        return;
                    }
                    self.saw("host reclaimed");
                    self.assert_recorded_host(number);
                    self.truth.granted((me, svid), Party::Host(epoch, id), key, thing, true);
                }
                Err(error) => {
                    assert!(is_revoked, "{thing:?} of {key} was not reclaimed: {error:?}");
                    self.truth.released((me, svid), key, thing);
                }
            }
        }
    }

    fn host_lock(&mut self, number: usize, owner: &NlmOwner) {
        let (key, range, kind, waits) = (self.key(), self.range(), self.kind(), self.random.one_in(2));
        let full = LockOwner::Nlm(owner.clone());
        let (is_firm, has_turns) = (self.is_locked(key, &full, range, kind), self.has_turns(key));
        let is_circle = self.naive.is_circle(&self.state, (key, &full, range, kind));
        let request = NlmLockRequest { owner, key: &key, kind, range, waits, is_reclaim: false };
        match self.state.nlm(self.now).lock(request) {
            Ok(grant) => {
                assert!(!is_firm);
                if self.random.one_in(20) {
                    self.saw("kernel refused");
                    self.state.refuse(self.now, &grant, false);
                    self.deliver();
                    return;
                }
                self.naive.set(key, &full, range, Some(kind));
                if kind == LockKind::Read {
                    self.truth.weakened((Machine::Nlm(number), owner.svid as u8), key, range);
                }
                if self.deliver() {
                    self.saw("host lock");
                    self.assert_recorded_host(number);
                    let party = Party::Host(self.epoch, owner.host);
                    for byte in bytes(range) {
                        let me = (Machine::Nlm(number), owner.svid as u8);
                        self.truth.granted(me, party, key, Thing::Byte(byte, kind), false);
                    }
                }
            }
            Err(StateError::Denied(conflict)) => {
                assert!(is_firm || has_turns);
                if conflict.is_waiting {
                    self.saw("host blocked");
                }
                self.deliver();
            }
            Err(StateError::Deadlock) => {
                assert!(is_firm && waits && is_circle, "{is_firm} {waits} {is_circle}");
                self.saw("deadlock");
                self.deliver();
            }
            Err(StateError::Grace) => assert!(self.state.is_grace()),
            Err(StateError::Delay) => {
                assert!(kind == LockKind::Write);
                self.assert_delegated(key, None);
                self.deliver();
            }
            Err(error) => assert_eq!(error, StateError::NoSpace),
        }
    }

    fn host_unlock(&mut self, number: usize, owner: &NlmOwner) {
        let (key, range) = (self.key(), self.range());
        if self.state.nlm(self.now).unlock(owner, &key, range).is_ok() {
            self.naive.set(key, &LockOwner::Nlm(owner.clone()), range, None);
            let me = (Machine::Nlm(number), owner.svid as u8);
            for byte in bytes(range) {
                self.truth.released(me, key, Thing::Byte(byte, LockKind::Read));
            }
        }
        self.deliver();
    }

    fn host_cancel(&mut self, owner: &NlmOwner) {
        let waits =
            self.state.files().locks.waits().filter(|wait| *wait.owner == LockOwner::Nlm(owner.clone()));
        let waits: Vec<_> = waits.map(|wait| (*wait.key, wait.kind, wait.range)).collect();
        for (key, kind, range) in waits {
            assert!(self.state.nlm(self.now).cancel(owner, &key, kind, range));
        }
        self.deliver();
    }

    /// The host restarted and says so.
    fn host_restart(&mut self, number: usize, id: HostId) {
        let me = Machine::Nlm(number);
        self.state.release_host(self.now, id);
        self.truth.held.retain(|one| one.owner.0 != me);
        self.hosts[number].id = None;
        self.deliver();
    }
}
