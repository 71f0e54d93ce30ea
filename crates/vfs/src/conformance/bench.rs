//! What a case works on: a subject, a directory of its own in it, and the users it knows.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::actor::Actor;
use super::verdict::{Problem, Verdict};
use super::{Abilities, Subject};
use crate::{Caller, FsError, GroupList, Limits, NewAttributes, Node};

/// Directories that earlier cases may have left in the same file system: past that many something else is wrong.
const MOST_LEFTOVERS: usize = 10_000;

/// Counts the cases of this process, so that each finds a free name at once even where they share a file system.
static CASES: AtomicUsize = AtomicUsize::new(0);

fn next_name() -> String {
    format!("case-{}", CASES.fetch_add(1, Ordering::Relaxed))
}

/// A subject with an empty directory in which anybody may do anything.
pub(super) struct Bench<'s> {
    subject: &'s Subject,
    /// The case's own directory, with mode 0777.
    pub(super) home: Node,
    /// The superuser where that is possible.
    pub(super) me: Actor<'s>,
}

impl<'s> Bench<'s> {
    pub(super) fn new(subject: &'s Subject) -> Verdict<Self> {
        let me = Actor { fs: &*subject.fs, caller: subject.main_caller() };
        let root = me.node(subject.fs.root())?;
        let home = (0..MOST_LEFTOVERS)
            .map(|_| me.make_directory(&root, next_name(), 0o777))
            .find(|made| *made != Err(FsError::Exists))
            .ok_or_else(|| Problem("the subject is full of old cases".to_owned()))??;
        Ok(Self { subject, home, me })
    }

    pub(super) fn abilities(&self) -> &'s Abilities {
        &self.subject.abilities
    }

    pub(super) fn root(&self) -> Verdict<Node> {
        Ok(self.me.node(self.subject.fs.root())?)
    }

    pub(super) fn limits(&self) -> Verdict<Limits> {
        Ok(self.me.fs.limits(&self.me.caller, &self.home.handle)?)
    }

    pub(super) fn actor(&self, caller: Caller) -> Actor<'s> {
        Actor { fs: &*self.subject.fs, caller }
    }

    /// A user with a group of her own.
    pub(super) fn alice(&self) -> Actor<'s> {
        self.actor(Caller::new(1001, 1001))
    }

    /// A user who is in alice's group too.
    pub(super) fn bob(&self) -> Actor<'s> {
        self.actor(Caller { groups: GroupList::new([7, 1001]), ..Caller::new(1002, 1002) })
    }

    /// A user who shares no group with anybody.
    pub(super) fn carol(&self) -> Actor<'s> {
        self.actor(Caller::new(1003, 1003))
    }

    /// An empty file of mode 0644.
    pub(super) fn file(&self, name: &str) -> Verdict<Node> {
        Ok(self.me.create(&self.home, name, 0o644)?)
    }

    /// An empty directory of mode 0755.
    pub(super) fn directory(&self, name: &str) -> Verdict<Node> {
        Ok(self.me.make_directory(&self.home, name, 0o755)?)
    }

    /// A file that alice owns.
    pub(super) fn alices_file(&self, name: &str, mode: u32) -> Verdict<Node> {
        Ok(self.alice().create(&self.home, name, mode)?)
    }

    /// Gives a directory or file another mode.
    pub(super) fn set_mode(&self, node: &Node, mode: u32) -> Verdict {
        Ok(self.me.set(node, NewAttributes::with_mode(mode))?)
    }
}
