//! What a client does after it lost its client id: it reclaims.

use howdah_state::{ByteRange, LockRequest, Locker, OpenRequest};

use super::machine::{Lost, Machine, Open, Step, needed};
use super::truth::{self, BYTES, Thing};
use super::world::World;

impl World {
    /// A new client id: what it had is to be reclaimed, or lost.
    pub fn recover(&mut self, machine: &mut Machine) -> Step {
        if !self.state.is_grace() {
            let mine = self.truth.of(machine.me());
            mine.for_each(|one| assert!(one.is_revoked, "{one:?} was lost without a word"));
            self.truth.held.retain(|one| one.owner.0 != machine.me());
            machine.opens.clear();
        }
        for place in 0..machine.opens.len() {
            let mut open = machine.opens[place].clone();
            let reclaimed = self.reclaim(machine, &mut open);
            machine.opens[place] = open;
            reclaimed?;
        }
        if self.random.one_in(3) { Ok(()) } else { self.complete(machine) }
    }

    pub fn reclaim(&mut self, machine: &Machine, open: &mut Open) -> Step {
        let thing = Thing::Open(open.access, open.deny);
        if !self.reclaim_open(machine, open, thing)? {
            return Ok(());
        }
        for (owner, stateid) in &mut open.locks {
            let held = self.truth.of(machine.me()).filter(|one| one.owner.1 == *owner && one.key == open.key);
            let locks: Vec<(Thing, bool)> = held.map(|one| (one.thing, one.is_revoked)).collect();
            let mut locker = None;
            for (thing, is_revoked) in locks {
                let Thing::Byte(byte, kind) = thing else { continue };
                let range = ByteRange { first: byte, last: if byte == BYTES - 1 { u64::MAX } else { byte } };
                let locker_now = match locker {
                    None => Locker::New { open: open.stateid, owner: &[*owner] },
                    Some(stateid) => Locker::Existing(stateid),
                };
                let (client, key) = (machine.client(), &open.key);
                let request = LockRequest {
                    client,
                    locker: locker_now,
                    key,
                    kind,
                    range,
                    waits: false,
                    is_reclaim: true,
                };
                match self.state.lock(self.now, request) {
                    Ok(answer) => {
                        locker = Some(answer.stateid);
                        let lock_owner = machine.lock_owner(*owner);
                        self.naive.set(open.key, &lock_owner, range, Some(kind));
                        self.naive.locks_under(client, open.stateid, &lock_owner);
                        self.arrived()?;
                        self.saw("lock reclaimed");
                        self.grant(machine, (*owner, open.key), thing, true);
                    }
                    Err(error) => {
                        // An open that was downgraded since does not allow it any more.
                        let is_refused = is_revoked || !open.access.allows(needed(kind));
                        assert!(is_refused, "{thing:?} was not reclaimed: {error:?}");
                        self.saw("reclaim refused");
                        self.truth.released((machine.me(), *owner), open.key, thing);
                    }
                }
            }
            *stateid = locker.unwrap_or(*stateid);
        }
        Ok(())
    }

    /// Whether the open is there again.
    pub fn reclaim_open(&mut self, machine: &Machine, open: &mut Open, thing: Thing) -> Result<bool, Lost> {
        let mine = self.truth.of(machine.me());
        let is_it = |one: &&truth::Holding| {
            one.owner.1 == open.owner && one.key == open.key && matches!(one.thing, Thing::Open(..))
        };
        let Some(is_revoked) = mine.filter(is_it).map(|one| one.is_revoked).next() else { return Ok(false) };
        let Open { owner, key, access, deny, .. } = *open;
        let client = machine.client();
        let request = OpenRequest { client, owner: &[owner], key: &key, access, deny, is_reclaim: true };
        match self.state.open(self.now, request) {
            Ok(answer) => {
                assert!(answer.is_new);
                self.naive.opened(answer.open, key, access, deny);
                open.stateid = answer.stateid;
                self.arrived()?;
                self.saw("open reclaimed");
                self.grant(machine, (owner, key), thing, true);
                Ok(true)
            }
            Err(error) => {
                assert!(is_revoked, "{open:?} was not reclaimed: {error:?}");
                self.saw("reclaim refused");
                Ok(false)
            }
        }
    }
}
