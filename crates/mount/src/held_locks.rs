//! Who has locked what of a node at the server, as the programs of this mount know it.

use howdah_vfs::FileLock;
use parking_lot::Mutex;

/// The lock owners of a node.
#[derive(Default)]
pub struct NodeLocks(Mutex<Vec<OwnerLocks>>);

/// What one of them has locked, or may have.
struct OwnerLocks {
    owner: u64,
    /// The open files by which it asked.
    opens: Vec<u64>,
    /// What its programs know that it has.
    held: Vec<FileLock>,
}

impl NodeLocks {
    /// A lock owner asks for a lock by this open file.
    pub fn add(&self, owner: u64, open: u64) {
        let mut owners = self.0.lock();
        match owners.iter_mut().find(|its| its.owner == owner) {
            Some(its) if its.opens.contains(&open) => {}
            Some(its) => its.opens.push(open),
            None => owners.push(OwnerLocks { owner, opens: vec![open], held: Vec::new() }),
        }
    }

    /// A lock owner has a lock, in place of what it had there.
    pub fn granted(&self, owner: u64, lock: FileLock) {
        self.change(owner, |held| {
            cut(held, (lock.first, lock.last));
            held.push(lock);
        });
    }

    /// A lock owner has unlocked these bytes.
    pub fn unlocked(&self, owner: u64, bytes: (u64, u64)) {
        self.change(owner, |held| cut(held, bytes));
    }

    /// What a lock owner has of these bytes.
    pub fn held(&self, owner: u64, bytes: (u64, u64)) -> Vec<FileLock> {
        let mut found = Vec::new();
        self.change(owner, |held| found.extend(held.iter().filter_map(|lock| lock.within(bytes))));
        found
    }

    /// Whether a lock owner may have something.
    pub fn may_hold(&self, owner: u64) -> bool {
        self.0.lock().iter().any(|its| its.owner == owner)
    }

    /// A lock owner that asked by this open file.
    pub fn owner_by(&self, open: u64) -> Option<u64> {
        self.0.lock().iter().find(|its| its.opens.contains(&open)).map(|its| its.owner)
    }

    /// A lock owner has nothing locked any more. Says whether it may have had something.
    pub fn end_owner(&self, owner: u64) -> bool {
        let mut owners = self.0.lock();
        let before = owners.len();
        owners.retain(|its| its.owner != owner);
        owners.len() < before
    }

    fn change(&self, owner: u64, change: impl FnOnce(&mut Vec<FileLock>)) {
        let mut owners = self.0.lock();
        if let Some(its) = owners.iter_mut().find(|its| its.owner == owner) {
            change(&mut its.held);
        }
    }
}

fn cut(held: &mut Vec<FileLock>, bytes: (u64, u64)) {
    *held = held.drain(..).flat_map(|lock| lock.without(bytes)).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_knows_what_each_owner_has_and_by_which_open_files() {
        let (locks, lock) =
            (NodeLocks::default(), |first, last, exclusive| FileLock { first, last, exclusive });
        locks.granted(1, lock(0, 9, true));
        assert!(!locks.may_hold(1) && locks.held(1, FileLock::ALL).is_empty(), "it did not ask");
        locks.add(1, 10);
        locks.add(1, 11);
        locks.add(2, 12);
        locks.granted(1, lock(0, 9, false));
        locks.granted(1, lock(5, 14, true));
        assert_eq!(locks.held(1, (3, 7)), [lock(3, 4, false), lock(5, 7, true)]);
        locks.unlocked(1, (0, 5));
        assert_eq!(locks.held(1, FileLock::ALL), [lock(6, 14, true)]);
        assert_eq!((locks.owner_by(11), locks.owner_by(12), locks.owner_by(13)), (Some(1), Some(2), None));
        assert!(locks.end_owner(1) && !locks.end_owner(1) && locks.may_hold(2));
    }
}
