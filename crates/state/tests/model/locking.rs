//! Locks.

use howdah_state::{ByteRange, LockKind, LockOwner, LockRequest, Locker, StateError, StateId};

use super::machine::{Machine, Open, Step, needed};
use super::truth::{Thing, bytes};
use super::world::World;

impl World {
    pub fn lock(&mut self, machine: &mut Machine, open: usize) -> Step {
        let (range, kind, waits) = (self.range(), self.kind(), self.random.one_in(2));
        let Open { owner, key, stateid, access, .. } = machine.opens[open];
        let lock_owner = owner * 2 + self.random.below(2) as u8;
        let client = machine.client();
        let there = machine.opens[open].locks.iter().position(|(other, _)| *other == lock_owner);
        let name = [lock_owner];
        let locker = match there {
            Some(there) if self.random.one_in(2) => Locker::Existing(machine.opens[open].locks[there].1),
            _ => Locker::New { open: stateid, owner: &name },
        };
        let full_owner = machine.lock_owner(lock_owner);
        let (is_firm, has_turns) = (self.is_locked(key, &full_owner, range, kind), self.has_turns(key));
        let is_circle = self.naive.is_circle(&self.state, (key, &full_owner, range, kind));
        let request = LockRequest { client, locker, key: &key, kind, range, waits, is_reclaim: false };
        match self.state.lock(self.now, request) {
            Ok(answer) => {
                assert!(access.allows(needed(kind)) && !is_firm && !self.state.is_grace());
                if self.random.one_in(20) {
                    self.saw("kernel refused");
                    self.state.refuse(self.now, &answer, false);
                    return self.arrived();
                }
                self.naive.set(key, &full_owner, range, Some(kind));
                self.naive.locks_under(client, stateid, &full_owner);
                if kind == LockKind::Read {
                    self.truth.weakened((machine.me(), lock_owner), key, range);
                }
                self.arrived()?;
                self.saw("lock");
                let locks = &mut machine.opens[open].locks;
                match there {
                    Some(there) => locks[there].1 = answer.stateid,
                    None => locks.push((lock_owner, answer.stateid)),
                }
                for byte in bytes(range) {
                    self.grant(machine, (lock_owner, key), Thing::Byte(byte, kind), false);
                }
            }
            Err(StateError::OpenMode) => assert!(!access.allows(needed(kind))),
            Err(StateError::Grace) => assert!(self.state.is_grace()),
            Err(StateError::NoSpace) => {}
            Err(StateError::Deadlock) => {
                assert!(is_firm && waits && is_circle, "{is_firm} {waits} {is_circle}");
                self.saw("deadlock");
                return self.arrived();
            }
            Err(StateError::Denied(conflict)) => {
                assert!(is_firm || has_turns, "{conflict:?}");
                assert!(conflict.owner != full_owner && (waits || !conflict.is_waiting));
                self.saw("lock denied");
                return self.arrived();
            }
            Err(error) => panic!("LOCK: {error:?}"),
        }
        Ok(())
    }

    pub fn unlock(&mut self, machine: &mut Machine, open: usize) -> Step {
        let range = self.range();
        let Open { key, ref mut locks, .. } = machine.opens[open];
        if locks.is_empty() {
            return Ok(());
        }
        let lock = self.random.index(locks.len());
        let (owner, stateid) = locks[lock];
        let client = machine.client.expect("it is connected");
        let wrong = StateId { seqid: stateid.seqid + 1, ..stateid };
        assert_eq!(self.state.unlock(self.now, client, wrong, &key, range), Err(StateError::BadStateId));
        if stateid.seqid > 1 {
            let wrong = StateId { seqid: stateid.seqid - 1, ..stateid };
            assert_eq!(self.state.unlock(self.now, client, wrong, &key, range), Err(StateError::OldStateId));
        }
        match self.state.unlock(self.now, client, stateid, &key, range) {
            Ok(after) => {
                assert_eq!(after.seqid, stateid.seqid + 1);
                self.naive.set(key, &LockOwner::V4 { client, owner: [owner].into() }, range, None);
                for byte in bytes(range) {
                    self.truth.released((machine.me(), owner), key, Thing::Byte(byte, LockKind::Read));
                }
                self.arrived()?;
                self.saw("unlock");
                machine.opens[open].locks[lock].1 = after;
                Ok(())
            }
            Err(StateError::NoSpace) => Ok(()),
            Err(error) => panic!("LOCKU: {error:?}"),
        }
    }

    /// A process of the server's own host locks some bytes that are free, or lets all go.
    pub fn local_step(&mut self) {
        let (key, range, kind) = (self.key(), self.range(), self.kind());
        let held = self.state.files().locks.ranges.within(&key, &LockOwner::Local, ByteRange::ALL);
        if held.is_empty() {
            if self.state.is_grace()
                || self.naive.conflicts(key, &LockOwner::Local, range, kind).next().is_some()
            {
                return;
            }
            self.saw("local lock");
            self.state.set_local(self.now, &key, range, Some((range, kind)));
            self.naive.set(key, &LockOwner::Local, range, Some(kind));
        }
        for (range, _) in held {
            self.saw("local lock let go");
            self.state.set_local(self.now, &key, range, None);
            self.naive.set(key, &LockOwner::Local, range, None);
        }
        let _ = self.deliver();
    }

    pub fn test(&mut self, machine: &Machine) -> Step {
        let (key, range, kind) = (self.key(), self.range(), self.kind());
        let owner = machine.lock_owner(9);
        let (is_firm, has_turns) = (self.is_locked(key, &owner, range, kind), self.has_turns(key));
        match self.state.test_lock(self.now, machine.client(), &[9], &key, kind, range) {
            Ok(()) => assert!(!is_firm),
            Err(StateError::Grace) => assert!(self.state.is_grace()),
            Err(StateError::Denied(_)) => assert!(is_firm || has_turns),
            Err(error) => panic!("LOCKT: {error:?}"),
        }
        Ok(())
    }
}
