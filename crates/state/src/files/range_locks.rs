//! The byte-range locks of one file, of all owners.

use std::collections::BTreeMap;

use super::range_set::RangeSet;
use crate::effects::MirrorPiece;
use crate::ids::{ByteRange, HostId, LockKind, LockOwner, NlmOwner};

/// A lock that is held.
pub type HeldLock<'l> = (&'l LockOwner, ByteRange, LockKind);

/// The byte-range locks of one file, of all owners. No two owners hold what excludes each other.
#[derive(Debug, Default)]
pub struct RangeLocks {
    owners: BTreeMap<LockOwner, RangeSet>,
    /// Ranges of NFS owners.
    count: usize,
}

impl RangeLocks {
    /// Locks of other owners that exclude this one.
    pub fn conflicts<'l>(
        &'l self,
        owner: &'l LockOwner,
        range: ByteRange,
        kind: LockKind,
    ) -> impl Iterator<Item = HeldLock<'l>> {
        let others = self.owners.iter().filter(move |(other, _)| *other != owner);
        let over =
            others.flat_map(move |(other, set)| set.overlapping(range).map(move |(r, k)| (other, r, k)));
        over.filter(move |(_, _, held)| held.excludes(kind))
    }

    /// Sets what an owner holds of these bytes. Returns by how many its ranges grew.
    pub fn set(&mut self, owner: &LockOwner, range: ByteRange, kind: Option<LockKind>) -> isize {
        let mut set = self.owners.remove(owner).unwrap_or_default();
        let before = set.count();
        set.set(range, kind);
        let after = set.count();
        if after > 0 {
            self.owners.insert(owner.clone(), set);
        }
        let growth = after as isize - before as isize;
        if *owner != LockOwner::Local {
            self.count = self.count.saturating_add_signed(growth);
        }
        growth
    }

    /// What an owner holds.
    pub fn of(&self, owner: &LockOwner) -> Option<&RangeSet> {
        self.owners.get(owner)
    }

    /// All that is held.
    pub fn all(&self) -> impl Iterator<Item = HeldLock<'_>> {
        self.owners
            .iter()
            .flat_map(|(owner, set)| set.overlapping(ByteRange::ALL).map(move |(r, k)| (owner, r, k)))
    }

    /// Owners of a host.
    pub fn of_host(&self, host: HostId) -> impl Iterator<Item = &LockOwner> {
        let first = LockOwner::Nlm(NlmOwner { host, svid: 0, oh: [].into() });
        let owners = self.owners.range(first..).map(|(owner, _)| owner);
        owners.take_while(move |owner| owner.host() == Some(host))
    }

    /// What all NFS owners together hold of these bytes: pieces that cover them, ascending.
    pub fn union(&self, range: ByteRange) -> Vec<MirrorPiece> {
        // Where readers and writers begin and end: the byte from which on it counts, and by how much.
        let mut edges: Vec<(u64, [isize; 2])> = Vec::new();
        let of_nfs = self.owners.iter().filter(|(owner, _)| **owner != LockOwner::Local);
        for (held, kind) in of_nfs.flat_map(|(_, set)| set.within(range)) {
            let one = if kind == LockKind::Write { [0, 1] } else { [1, 0] };
            edges.push((held.first, one));
            if held.last < range.last {
                edges.push((held.last + 1, one.map(|count: isize| -count)));
            }
        }
        edges.sort_unstable();
        pieces(range, &edges)
    }

    /// Ranges that NFS owners hold.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether NFS owners hold anything.
    pub fn is_held(&self) -> bool {
        self.owners.keys().any(|owner| *owner != LockOwner::Local)
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }
}

/// The strongest lock from edge to edge; neighbours of a kind are one piece.
fn pieces(range: ByteRange, edges: &[(u64, [isize; 2])]) -> Vec<MirrorPiece> {
    let mut pieces: Vec<MirrorPiece> = Vec::new();
    let (mut from, mut counts) = (range.first, [0, 0]);
    let mut push = |first: u64, last: u64, counts: [isize; 2]| {
        let kind = match (counts[0] > 0, counts[1] > 0) {
            (_, true) => Some(LockKind::Write),
            (true, false) => Some(LockKind::Read),
            (false, false) => None,
        };
        match pieces.last_mut() {
            Some(piece) if piece.kind == kind => piece.range.last = last,
            _ => pieces.push(MirrorPiece { range: ByteRange { first, last }, kind }),
        }
    };
    for &(at, [readers, writers]) in edges {
        if at > from {
            push(from, at - 1, counts);
            from = at;
        }
        counts = [counts[0] + readers, counts[1] + writers];
    }
    push(from, range.last, counts);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ClientId;

    fn owner(number: u64) -> LockOwner {
        LockOwner::V4 { client: ClientId(number), owner: [].into() }
    }

    fn range(first: u64, last: u64) -> ByteRange {
        ByteRange { first, last }
    }

    #[test]
    fn the_union_has_the_strongest_of_all() {
        let mut locks = RangeLocks::default();
        locks.set(&owner(1), range(0, 9), Some(LockKind::Read));
        locks.set(&owner(2), range(5, 14), Some(LockKind::Read));
        locks.set(&owner(1), range(20, u64::MAX), Some(LockKind::Write));
        let piece = |first, last, kind| MirrorPiece { range: range(first, last), kind };
        let (read, write) = (Some(LockKind::Read), Some(LockKind::Write));
        let wanted = [piece(3, 14, read), piece(15, 19, None), piece(20, u64::MAX, write)];
        assert_eq!(locks.union(range(3, u64::MAX)), wanted);
        assert_eq!(locks.union(range(15, 16)), [piece(15, 16, None)]);
        assert_eq!(locks.union(range(u64::MAX, u64::MAX)), [piece(u64::MAX, u64::MAX, write)]);
    }
}
