//! What clients and hosts rightly believe to hold: grants whose answers arrived. Knows nothing of how the server works.

use howdah_state::{ByteRange, ClientId, HostId, LockKind, ShareAccess, ShareDeny};

/// Bytes of a file that are looked at one by one; the last stands for all from there on.
pub const BYTES: u64 = 12;

/// Who holds it: a run of a client, or a host as one run of the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    Client(ClientId),
    Host(u32, HostId),
}

/// A machine and its lock or open owner: it outlives runs of server and client.
pub type Owner = (Machine, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    V4(usize),
    Nlm(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    Byte(u64, LockKind),
    Open(ShareAccess, ShareDeny),
    /// It may keep what it read, and open the file for reading without a word.
    Delegation,
}

#[derive(Debug)]
pub struct Holding {
    pub owner: Owner,
    pub party: Party,
    pub key: u8,
    pub thing: Thing,
    /// The server took it away; its holder may not know.
    pub is_revoked: bool,
    /// Since then somebody was granted what conflicts.
    pub is_poisoned: bool,
}

#[derive(Debug, Default)]
pub struct Truth {
    pub held: Vec<Holding>,
}

pub fn bytes(range: ByteRange) -> impl Iterator<Item = u64> {
    range.first..=range.last.min(BYTES - 1)
}

impl Thing {
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Byte(one, _), Self::Byte(two, _)) => one == two,
            (Self::Open(..), Self::Open(..)) | (Self::Delegation, Self::Delegation) => true,
            _ => false,
        }
    }

    fn excludes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Byte(one, kind), Self::Byte(two, other)) => one == two && kind.excludes(other),
            (Self::Open(access, deny), Self::Open(other, denied)) => {
                deny.denies(other) || denied.denies(access)
            }
            (Self::Open(access, deny), Self::Delegation) | (Self::Delegation, Self::Open(access, deny)) => {
                access.allows(ShareAccess::WRITE) || deny.denies(ShareAccess::READ)
            }
            (Self::Byte(_, kind), Self::Delegation) | (Self::Delegation, Self::Byte(_, kind)) => {
                kind == LockKind::Write
            }
            _ => false,
        }
    }
}

impl Truth {
    /// The answer of a grant arrived.
    pub fn granted(&mut self, owner: Owner, party: Party, key: u8, thing: Thing, is_reclaim: bool) {
        let others = self.held.iter_mut().filter(|one| one.owner != owner && one.key == key);
        // A client's delegation does not stand in its own way.
        let others = others.filter(|one| {
            one.owner.0 != owner.0 || (one.thing != Thing::Delegation && thing != Thing::Delegation)
        });
        for other in others.filter(|one| one.thing.excludes(thing)) {
            assert!(other.is_revoked, "{owner:?} was granted {thing:?} of {key}, which {other:?} holds");
            other.is_poisoned = true;
        }
        if is_reclaim {
            let mine = self.held.iter().find(|one| one.is(owner, key, thing)).expect("it was held");
            assert!(!mine.is_poisoned, "{mine:?} was reclaimed after a conflicting grant");
        }
        self.released(owner, key, thing);
        self.held.push(Holding { owner, party, key, thing, is_revoked: false, is_poisoned: false });
    }

    /// Something of a file was changed.
    pub fn changed(&mut self, by: Option<Machine>, key: u8) {
        let others = self.held.iter().filter(|one| one.key == key && Some(one.owner.0) != by);
        for other in others.filter(|one| one.thing == Thing::Delegation) {
            assert!(other.is_revoked, "{by:?} changed {key}, which {other:?} has a delegation of");
        }
    }

    /// The owner has it no more.
    pub fn released(&mut self, owner: Owner, key: u8, thing: Thing) {
        self.held.retain(|one| !one.is(owner, key, thing));
    }

    /// The server ended a client or host.
    pub fn revoked(&mut self, is_it: impl Fn(Party) -> bool) {
        self.held.iter_mut().filter(|one| is_it(one.party)).for_each(|one| one.is_revoked = true);
    }

    /// The owner asks for read locks where it may have write locks: it has those no more.
    pub fn weakened(&mut self, owner: Owner, key: u8, range: ByteRange) {
        for one in self.held.iter_mut().filter(|one| one.owner == owner && one.key == key) {
            if let Thing::Byte(byte, kind) = &mut one.thing
                && bytes(range).any(|other| other == *byte)
            {
                *kind = LockKind::Read;
            }
        }
    }

    /// What a machine believes to have.
    pub fn of(&self, machine: Machine) -> impl Iterator<Item = &Holding> {
        self.held.iter().filter(move |one| one.owner.0 == machine)
    }
}

impl Holding {
    fn is(&self, owner: Owner, key: u8, thing: Thing) -> bool {
        self.owner == owner && self.key == key && self.thing.is_same(thing)
    }
}
