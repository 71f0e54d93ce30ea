//! Which calls wait for which: calls that get in each other's way form groups, one after the other, at each thing that they are about;
//! calls of one group may run at the same time, and a group begins when the one before it has ended.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::super::control::Turn;
use super::world::NodeId;

/// How often who waits looks whether all is over.
const LOOK: Duration = Duration::from_millis(50);

/// What calls are about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum About {
    /// That a node is there.
    Node(NodeId),
    /// How far its data reaches.
    Data(NodeId),
    /// A name in a directory.
    Name(NodeId, String),
}

/// What a call does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Looks at it, or uses it: with others that do so.
    Uses,
    /// Makes it longer: with others that do so.
    Extends,
    /// Changes it: alone.
    Changes,
}

/// The groups that a call belongs to, and those that must have ended before it begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Membership {
    own: Vec<u32>,
    before: Vec<u32>,
}

/// Puts calls into groups, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    /// The group under way of each thing, what its calls do, and the one before it.
    last: HashMap<About, (u32, Does, Option<u32>)>,
    members: Vec<u32>,
}

/// The groups while a record is played.
pub(super) struct Groups {
    left: Vec<AtomicU32>,
    ended: Mutex<()>,
    news: Condvar,
}

impl Grouping {
    /// A call does this to that.
    pub(super) fn join(&mut self, membership: &mut Membership, about: About, does: Does) {
        let (group, before) = match self.last.get(&about) {
            Some(&(group, did, before)) if did == does && does != Does::Changes => (group, before),
            last => {
                let (before, group) = (last.map(|(group, ..)| *group), self.members.len() as u32);
                self.members.push(0);
                self.last.insert(about, (group, does, before));
                (group, before)
            }
        };
        // A call that is about one thing twice must not wait for itself.
        if membership.own.contains(&group) || before.is_some_and(|before| membership.own.contains(&before)) {
            return;
        }
        self.members[group as usize] += 1;
        membership.own.push(group);
        membership.before.extend(before);
    }

    /// All of them, none of which has ended.
    pub(super) fn groups(&self) -> Groups {
        Groups {
            left: self.members.iter().map(|members| AtomicU32::new(*members)).collect(),
            ended: Mutex::new(()),
            news: Condvar::new(),
        }
    }
}

impl Groups {
    /// Waits until the call may begin; false: all is over.
    pub(super) fn wait(&self, membership: &Membership, turn: &Turn<'_>) -> bool {
        let may = || membership.before.iter().all(|group| self.has_ended(*group));
        if may() {
            return true;
        }
        let mut ended = self.ended.lock();
        while !may() {
            if turn.is_over() {
                return false;
            }
            self.news.wait_for(&mut ended, LOOK);
        }
        true
    }

    /// The call has ended.
    pub(super) fn leave(&self, membership: &Membership) {
        let mut is_news = false;
        for group in &membership.own {
            is_news |= self.left[*group as usize].fetch_sub(1, Ordering::AcqRel) == 1;
        }
        if is_news {
            drop(self.ended.lock());
            self.news.notify_all();
        }
    }

    fn has_ended(&self, group: u32) -> bool {
        self.left[group as usize].load(Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_looks_together_and_who_changes_is_alone() {
        let mut grouping = Grouping::default();
        let mut join = |does| {
            let mut membership = Membership::default();
            grouping.join(&mut membership, About::Node(7), does);
            membership
        };
        let calls = [Does::Uses, Does::Uses, Does::Changes, Does::Changes, Does::Uses].map(&mut join);
        let groups = grouping.groups();
        let may = |call: &Membership| call.before.iter().all(|group| groups.has_ended(*group));
        assert_eq!(calls.each_ref().map(may), [true, true, false, false, false]);
        groups.leave(&calls[0]);
        assert!(!may(&calls[2]), "one is left");
        groups.leave(&calls[1]);
        assert_eq!(calls.each_ref().map(may), [true, true, true, false, false]);
        groups.leave(&calls[2]);
        groups.leave(&calls[3]);
        assert!(may(&calls[4]));
    }
}
