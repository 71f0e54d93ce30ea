//! What the server does with effects, and crashes between them.

use howdah_state::{ClientEnd, Effect};

use super::truth::{Machine, Party, Thing, bytes};
use super::world::{LEASE, World};

impl Party {
    pub fn epoch(self) -> u32 {
        match self {
            Self::Client(client) => client.epoch(),
            Self::Host(epoch, _) => epoch,
        }
    }
}

impl World {
    /// Takes the effects of a call and sends its answer once the log is durable up to where it must be. False if the server
    /// crashed before.
    pub fn deliver(&mut self) -> bool {
        let effects = self.state.take_effects();
        self.queue(&effects.list);
        if self.random.one_in(self.calm) {
            self.saw("answer lost");
            self.crash();
            return false;
        }
        let needed = self.pending.iter().filter(|(serial, _)| *serial <= effects.durable).count();
        let more = self.random.index(self.pending.len() - needed + 1);
        self.write(needed + more);
        assert!(self.written >= effects.durable, "what an answer rests on was given out as an effect");
        for effect in &effects.list {
            self.act(effect);
        }
        self.end_grace();
        true
    }

    /// What is done at once, before anything is durable.
    pub fn queue(&mut self, effects: &[Effect<u8>]) {
        for effect in effects {
            match effect {
                Effect::Persist { serial, record } => {
                    let last = self.pending.last().map_or(self.written, |(serial, _)| *serial);
                    assert_eq!(serial.0, last.0 + 1, "serials follow each other");
                    if *record == howdah_state::DurableRecord::EndGrace {
                        self.saw("grace ended");
                    }
                    self.pending.push((*serial, record.clone()));
                }
                Effect::Mirror { key, range } => {
                    self.naive.mirrored(*key, &self.state.files().locks.ranges.union(key, *range).0)
                }
                Effect::Closed { open, .. } => self.naive.closed(*open),
                Effect::ClientEnded { client, why, .. } => {
                    self.saw(match why {
                        ClientEnd::Conflict => "client ended by conflict",
                        ClientEnd::Replaced => "client replaced",
                        _ => "client ended",
                    });
                    self.naive.delegations.retain(|one| one.client != *client);
                    self.truth.revoked(|party| party == Party::Client(*client));
                }
                Effect::HostEnded { host } => {
                    self.saw("host ended");
                    self.naive.bytes.retain(|one| one.owner.host() != Some(*host));
                    self.hosts.iter_mut().filter(|one| one.id == Some(*host)).for_each(|one| one.id = None);
                    let epoch = self.epoch;
                    self.truth.revoked(|party| party == Party::Host(epoch, *host));
                }
                Effect::Granted { grant, .. } => {
                    self.naive.set(grant.key, &grant.owner, grant.range, Some(grant.kind));
                }
                Effect::Notify { .. } => self.saw("notified"),
                Effect::Recall { client, stateid, key } => {
                    self.saw("recalled");
                    let now = self.now;
                    let mut all = self.naive.delegations.iter_mut();
                    let one = all.find(|one| (one.key, one.client, one.stateid) == (*key, *client, *stateid));
                    assert_eq!(one.expect("it was given").recalled.replace(now), None, "once");
                }
                Effect::Revoked { client, key } => {
                    self.saw("revoked");
                    let now = self.now;
                    self.naive.delegations.retain(|one| {
                        let is_it = (one.key, one.client) == (*key, *client);
                        assert!(!is_it || one.recalled.is_some_and(|since| now >= since + LEASE));
                        !is_it
                    });
                    let mine = self.truth.held.iter_mut().filter(|one| one.party == Party::Client(*client));
                    mine.filter(|one| one.key == *key && one.thing == Thing::Delegation)
                        .for_each(|one| one.is_revoked = true);
                }
            }
        }
    }

    /// What is done when the log is durable.
    fn act(&mut self, effect: &Effect<u8>) {
        if let Effect::Granted { owner, grant } = effect {
            self.saw("granted to host");
            let host = self.hosts.iter().position(|host| host.id == Some(owner.host)).expect("a host");
            self.assert_recorded_host(host);
            let party = Party::Host(self.epoch, owner.host);
            for byte in bytes(grant.range) {
                let thing = Thing::Byte(byte, grant.kind);
                self.truth.granted((Machine::Nlm(host), owner.svid as u8), party, grant.key, thing, false);
            }
        }
    }

    /// A grant that arrives has a durable record.
    pub fn assert_recorded(&self, owner: &[u8]) {
        assert!(self.disk.present_clients().any(|one| one == owner), "{owner:?} has no durable record");
    }

    pub fn assert_recorded_host(&self, host: usize) {
        let name = [host as u8];
        assert!(self.disk.present_hosts().any(|one| one == name), "host {host} has no durable record");
    }
}
