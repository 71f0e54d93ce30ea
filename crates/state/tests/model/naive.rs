//! What the server's tables must be: bytes and opens in vectors.

use std::collections::BTreeSet;
use std::time::Duration;

use howdah_state::{
    ByteRange, ClientId, LockKind, LockOwner, MirrorPiece, NfsState, OpenId, ShareAccess, ShareDeny, StateId,
};

use super::truth::bytes;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteLock {
    pub key: u8,
    pub byte: u64,
    pub owner: LockOwner,
    pub kind: LockKind,
}

#[derive(Debug, Clone)]
pub struct Opened {
    pub key: u8,
    pub open: OpenId,
    pub access: ShareAccess,
    pub deny: ShareDeny,
    pub lock_owners: Vec<LockOwner>,
}

#[derive(Debug, Default)]
pub struct Naive {
    pub bytes: Vec<ByteLock>,
    pub opens: Vec<Opened>,
    /// What the kernel got.
    pub kernel: Vec<(u8, u64, LockKind)>,
    pub delegations: Vec<Delegated>,
}

#[derive(Debug, Clone, Copy)]
pub struct Delegated {
    pub key: u8,
    pub client: ClientId,
    pub stateid: StateId,
    /// Since when it is asked for back.
    pub recalled: Option<Duration>,
}

impl Naive {
    pub fn set(&mut self, key: u8, owner: &LockOwner, range: ByteRange, kind: Option<LockKind>) {
        self.bytes.retain(|one| {
            one.key != key || one.owner != *owner || !bytes(range).any(|byte| byte == one.byte)
        });
        if let Some(kind) = kind {
            self.bytes.extend(bytes(range).map(|byte| ByteLock { key, byte, owner: owner.clone(), kind }));
        }
    }

    /// Locks of others that exclude this one.
    pub fn conflicts<'n>(
        &'n self,
        key: u8,
        owner: &'n LockOwner,
        range: ByteRange,
        kind: LockKind,
    ) -> impl Iterator<Item = &'n LockOwner> {
        let others = self.bytes.iter().filter(move |one| one.key == key && one.owner != *owner);
        let over = others.filter(move |one| bytes(range).any(|byte| byte == one.byte));
        over.filter(move |one| one.kind.excludes(kind)).map(|one| &one.owner)
    }

    /// Whether this owner would wait for itself: through any owners that wait, by what is known of all waits.
    pub fn is_circle(&self, state: &NfsState<u8, ()>, wish: (u8, &LockOwner, ByteRange, LockKind)) -> bool {
        let (key, first, range, kind) = wish;
        let mut reached: BTreeSet<&LockOwner> = self.conflicts(key, first, range, kind).collect();
        loop {
            let before = reached.len();
            for wait in state.files().locks.waits().filter(|wait| wait.owner != first) {
                if reached.contains(wait.owner) {
                    reached.extend(self.conflicts(*wait.key, wait.owner, wait.range, wait.kind));
                }
            }
            if reached.len() == before {
                return reached.contains(first);
            }
        }
    }

    /// Clients with other opens in the way.
    pub fn share_conflicts(
        &self,
        key: u8,
        mine: Option<OpenId>,
        access: ShareAccess,
        deny: ShareDeny,
    ) -> impl Iterator<Item = ClientId> {
        let others = self.opens.iter().filter(move |one| one.key == key && Some(one.open) != mine);
        others
            .filter(move |one| one.deny.denies(access) || deny.denies(one.access))
            .map(|one| one.open.client)
    }

    /// Clients who have delegations of a file, but for this one.
    pub fn delegates(&self, key: u8, except: Option<ClientId>) -> impl Iterator<Item = ClientId> {
        let others = self.delegations.iter().filter(move |one| one.key == key && Some(one.client) != except);
        others.map(|one| one.client)
    }

    pub fn opened(&mut self, open: OpenId, key: u8, access: ShareAccess, deny: ShareDeny) {
        match self.opens.iter_mut().find(|one| one.open == open) {
            Some(one) => (one.access, one.deny) = (one.access.with(access), one.deny.with(deny)),
            None => self.opens.push(Opened { key, open, access, deny, lock_owners: Vec::new() }),
        }
    }

    /// This lock owner has locks under an open.
    pub fn locks_under(&mut self, client: ClientId, open: StateId, owner: &LockOwner) {
        let open = OpenId { client, index: open.parts().2 };
        let open = self.opens.iter_mut().find(|one| one.open == open).expect("it is open");
        if !open.lock_owners.contains(owner) {
            open.lock_owners.push(owner.clone());
        }
    }

    pub fn closed(&mut self, open: OpenId) {
        let Some(place) = self.opens.iter().position(|one| one.open == open) else {
            panic!("{open:?} was closed and not open")
        };
        let gone = self.opens.remove(place);
        self.bytes.retain(|one| one.key != gone.key || !gone.lock_owners.contains(&one.owner));
    }

    pub fn mirrored(&mut self, key: u8, pieces: &[MirrorPiece]) {
        for piece in pieces {
            self.kernel
                .retain(|(other, byte, _)| *other != key || !bytes(piece.range).any(|one| one == *byte));
            if let Some(kind) = piece.kind {
                self.kernel.extend(bytes(piece.range).map(|byte| (key, byte, kind)));
            }
        }
    }

    /// The state's own view is the same, and the kernel knows the union.
    pub fn assert_is(&self, state: &NfsState<u8, ()>) {
        let mut mine = self.bytes.clone();
        let of = |lock: howdah_state::LockView<'_, u8>| {
            let (key, owner, kind) = (*lock.key, lock.owner.clone(), lock.kind);
            bytes(lock.range)
                .map(move |byte| ByteLock { key, byte, owner: owner.clone(), kind })
                .collect::<Vec<_>>()
        };
        let mut its: Vec<ByteLock> = state.files().locks.held().flat_map(of).collect();
        mine.sort();
        its.sort();
        assert_eq!(mine, its, "locks");
        let mut union: Vec<(u8, u64, LockKind)> = Vec::new();
        for one in mine.iter().filter(|one| one.owner != LockOwner::Local) {
            match union.iter_mut().find(|(key, byte, _)| (*key, *byte) == (one.key, one.byte)) {
                Some((.., kind)) => *kind = one.kind.max(*kind),
                None => union.push((one.key, one.byte, one.kind)),
            }
        }
        let mut kernel = self.kernel.clone();
        union.sort();
        kernel.sort();
        assert_eq!(union, kernel, "what the kernel knows");
    }
}
