//! Changes of files that are under way, and files of which delegations are given: which of the two comes first is settled without a
//! lock, so that a change of a file that nobody has a delegation of waits for nobody.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Changes that share a counter hold one another up at worst: no delegation is given for a moment.
const CHANGES: usize = 1024;
/// Files that share a counter of delegations cost more: each change of one asks the state in vain. Files in delegated directories count.
const DELEGATIONS: usize = 1 << 16;

/// Changes under way, and delegations given, by file.
#[derive(Debug)]
pub struct ChangeWatch {
    changes: Box<[AtomicU32]>,
    delegations: Box<[AtomicU32]>,
    /// Delegations in all.
    given: AtomicUsize,
    /// Changes under way of files that nobody looked up.
    unnamed: AtomicUsize,
}

/// A change of a file that is under way.
#[derive(Debug)]
#[must_use = "the change is over when this is dropped"]
pub struct Changing<'w> {
    changes: &'w AtomicU32,
    delegations: &'w AtomicU32,
}

/// A change under way of files that nobody looked up, while there are no delegations.
#[derive(Debug)]
#[must_use = "the change is over when this is dropped"]
pub struct UnnamedChange<'w> {
    watch: &'w ChangeWatch,
}

impl Default for ChangeWatch {
    fn default() -> Self {
        let counters = |count| (0..count).map(|_| AtomicU32::new(0)).collect();
        let (given, unnamed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { changes: counters(CHANGES), delegations: counters(DELEGATIONS), given, unnamed }
    }
}

impl ChangeWatch {
    /// Whether any delegation is given at all.
    pub fn is_used(&self) -> bool {
        self.given.load(Ordering::Relaxed) != 0
    }

    /// A change of a file begins. It must not go on while the file [may be delegated](Changing::may_be_delegated).
    pub fn begin<K: Hash>(&self, key: &K) -> Changing<'_> {
        let (changes, delegations) = self.counters(Self::digest(key));
        // Both sides first say what they do and then look at the other, all in one order: one of them sees the other.
        changes.fetch_add(1, Ordering::SeqCst);
        Changing { changes, delegations }
    }

    /// A change begins of files that are known by name alone, such as those of REMOVE: while nobody has any delegation, which they are
    /// need not be found out. `None`: somebody has one.
    pub fn begin_unnamed(&self) -> Option<UnnamedChange<'_>> {
        self.unnamed.fetch_add(1, Ordering::SeqCst);
        let change = UnnamedChange { watch: self };
        (self.given.load(Ordering::SeqCst) == 0).then_some(change)
    }

    /// A delegation of a file is given, unless a change of it is under way.
    pub(crate) fn give<K: Hash>(&self, key: &K) -> bool {
        let (changes, delegations) = self.counters(Self::digest(key));
        self.given.fetch_add(1, Ordering::SeqCst);
        delegations.fetch_add(1, Ordering::SeqCst);
        let is_free = changes.load(Ordering::SeqCst) == 0 && self.unnamed.load(Ordering::SeqCst) == 0;
        if !is_free {
            self.take(key);
        }
        is_free
    }

    /// A delegation that was given ends.
    pub(crate) fn take<K: Hash>(&self, key: &K) {
        self.take_child(Self::digest(key));
        self.given.fetch_sub(1, Ordering::SeqCst);
    }

    /// A file is in a delegated directory. Changes of it may be under way: they ask once more when they are over.
    pub(crate) fn give_child(&self, digest: u64) {
        self.counters(digest).1.fetch_add(1, Ordering::SeqCst);
    }

    /// It is in that one no more.
    pub(crate) fn take_child(&self, digest: u64) {
        self.counters(digest).1.fetch_sub(1, Ordering::SeqCst);
    }

    /// What a file is known by here.
    pub(crate) fn digest<K: Hash>(key: &K) -> u64 {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        hasher.finish()
    }

    fn counters(&self, digest: u64) -> (&AtomicU32, &AtomicU32) {
        let digest = digest as usize;
        (&self.changes[digest % CHANGES], &self.delegations[digest % DELEGATIONS])
    }
}

impl Changing<'_> {
    /// Whether somebody may have a delegation of the file, or of a directory that it is in: the state knows.
    pub fn may_be_delegated(&self) -> bool {
        self.delegations.load(Ordering::SeqCst) != 0
    }
}

impl Drop for UnnamedChange<'_> {
    fn drop(&mut self) {
        self.watch.unnamed.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.changes.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_change_and_a_delegation_exclude_each_other() {
        let watch = ChangeWatch::default();
        let change = watch.begin(&1);
        assert!(!change.may_be_delegated() && !watch.give(&1));
        assert!(!change.may_be_delegated(), "what was not given counts no longer");
        drop(change);
        assert!(watch.give(&1) && watch.begin(&1).may_be_delegated());
        watch.take(&1);
        assert!(!watch.begin(&1).may_be_delegated());
    }

    #[test]
    fn none_is_given_while_files_change_that_nobody_looked_up() {
        let watch = ChangeWatch::default();
        let change = watch.begin_unnamed().expect("nobody has one");
        assert!(!watch.give(&1));
        drop(change);
        assert!(watch.give(&1) && watch.begin_unnamed().is_none());
        assert!(watch.give(&2), "what was not begun is not under way");
    }

    /// Of a change and a delegation that begin at once at most one goes on.
    #[test]
    fn threads_never_both_go_on() {
        let (watch, is_changing, is_given) =
            (ChangeWatch::default(), AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let change = watch.begin(&7);
                    if !change.may_be_delegated() {
                        is_changing.store(true, Ordering::SeqCst);
                        assert!(!is_given.load(Ordering::SeqCst));
                        is_changing.store(false, Ordering::SeqCst);
                    }
                }
            });
            scope.spawn(|| {
                for _ in 0..20_000 {
                    if watch.give(&7) {
                        is_given.store(true, Ordering::SeqCst);
                        assert!(!is_changing.load(Ordering::SeqCst));
                        is_given.store(false, Ordering::SeqCst);
                        watch.take(&7);
                    }
                }
            });
        });
    }
}
