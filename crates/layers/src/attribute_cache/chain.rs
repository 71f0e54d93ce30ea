//! What the replies to our changes of one directory say together: whether all that happened to it was ours. Each says how the
//! directory was before and after; those that overlapped come in any order. Knows no file system and no clock.

use std::hash::{DefaultHasher, Hash, Hasher};

use howdah_vfs::{Attributes, Before, Change, Timestamp};

/// A point in the order of calls: what a call saw that started before a change ended says nothing about the time after.
pub type ChainMoment = u64;

/// The most replies that may wait for one that fits between; with more, it is not known what happened.
const APART_MAX: usize = 1024;
/// Nanoseconds between two times that are surely of two changes: howdah's server makes up times for changes within one tick of
/// its host's clock, and sends the tick's own time when it has forgotten them.
const TOLD_APART: i128 = 1_000_000;
/// So many states that the directory went through are remembered while calls are under way.
const PASSED_MAX: usize = 1024;

/// Changes of ours to one directory, from the beginning of the first to the end of the last of those that overlap.
#[derive(Default)]
pub struct Chain {
    /// The directory after the last change that follows those before it without a gap.
    tip: Option<Attributes>,
    /// How it was on the way there, and is.
    passed: Vec<Before>,
    /// What does not follow yet: a reply that comes may fit between.
    apart: Vec<Link>,
    calls: Vec<OwnCall>,
    /// When the directory was seen from which the first of them leads on.
    started: ChainMoment,
    /// Which of several states is the last is not known.
    is_vague: bool,
}

/// A change of ours, or a look (which leads from a state to itself).
struct Link {
    before: Before,
    after: Attributes,
    arrived: ChainMoment,
}

/// A call of ours that changes the directory.
struct OwnCall {
    since: ChainMoment,
    name: Option<u64>,
    /// Another call for the same name was under way at the same time.
    is_crossed: bool,
}

/// Who changed a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedBy {
    /// All changes were ours, as far as replies say so far.
    Us,
    /// Replies do not say: some have no attributes, or have states that others have, too.
    Unclear,
    /// Between two changes of ours was another one.
    Stranger,
}

/// A call of ours is over.
#[derive(Debug, Clone, Copy)]
pub struct ChangeEnd {
    /// Who changed the directory.
    pub changed_by: ChangedBy,
    /// Whether the name that it changed is as it left it.
    pub is_name_known: bool,
    /// The directory now, if nothing is apart.
    pub tip: Option<Attributes>,
    /// When the chain started.
    pub started: ChainMoment,
    /// Whether it changed who may do what in the directory, or may have.
    pub changes_rights: bool,
}

/// What a look at the directory says while calls are under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookedAt {
    /// How it was before changes that are known.
    Past,
    /// How it is.
    Tip,
    /// How it is after changes that are not known yet.
    Ahead,
}

impl Chain {
    /// Whether calls are under way.
    pub fn is_busy(&self) -> bool {
        !self.calls.is_empty()
    }

    /// A call begins that changes the directory, and in it a name. `seen` is the directory as it is known, and since when.
    pub fn begin(
        &mut self,
        since: ChainMoment,
        name: Option<&[u8]>,
        seen: Option<(ChainMoment, Attributes)>,
    ) {
        if self.calls.is_empty() {
            self.restart(seen.map(|seen| seen.1));
            self.started = seen.map_or(since, |seen| seen.0);
        }
        let name = name.map(hashed);
        let mut is_crossed = false;
        for other in self.calls.iter_mut().filter(|other| name.is_some() && other.name == name) {
            // A call may name the same twice.
            let crosses = other.since != since;
            other.is_crossed |= crosses;
            is_crossed |= crosses;
        }
        self.calls.push(OwnCall { since, name, is_crossed });
    }

    /// The call that began at `since` is over. `None`: it is not known to have begun.
    pub fn end(&mut self, since: ChainMoment, change: &Change, now: ChainMoment) -> Option<ChangeEnd> {
        let (mut is_there, mut is_crossed, mut names) = (false, false, false);
        self.calls.retain(|call| {
            let is_it = call.since == since;
            is_there |= is_it;
            is_crossed |= is_it && call.is_crossed;
            names |= is_it && call.name.is_some();
            !is_it
        });
        if !is_there {
            return None;
        }
        let earlier = self.tip;
        let follows = match (change.before, change.after) {
            _ if earlier.is_none() => None,
            (Some(before), Some(after)) => self.add(Link { before, after, arrived: now }),
            // Without the state before, only that nothing has changed can be seen.
            (None, Some(after)) if self.has(&Before::from(&after)) => Some(true),
            _ => None,
        };
        let changed_by = match follows {
            Some(_) => self.changed_by(),
            None => {
                self.restart(change.after.and_then(|after| self.newest(Some(after))));
                ChangedBy::Unclear
            }
        };
        let is_newest = change.after.is_some() && change.after == self.tip;
        let is_name_known = match changed_by {
            ChangedBy::Us => follows == Some(true),
            ChangedBy::Unclear | ChangedBy::Stranger => is_newest,
        };
        let changes_rights = !names && earlier.map(rights) != change.after.map(rights);
        let tip = self.tip.filter(|_| self.apart.is_empty() && !self.is_vague);
        let started = self.started;
        Some(ChangeEnd {
            started,
            changed_by,
            is_name_known: is_name_known && !is_crossed,
            tip,
            changes_rights,
        })
    }

    /// How the directory is now is not known.
    pub fn lose(&mut self) {
        self.restart(None);
    }

    /// Somebody looked at the directory while calls are under way.
    pub fn look(&mut self, seen: &Attributes, now: ChainMoment) -> LookedAt {
        let state = Before::from(seen);
        if self.is_tip(&state) {
            return LookedAt::Tip;
        }
        let link = Link { before: state, after: *seen, arrived: now };
        match !self.has(&state) && self.add(link) == Some(true) {
            true => LookedAt::Ahead,
            false => LookedAt::Past,
        }
    }

    /// Takes a link. Says whether it follows, or may yet; `Some(false)`: it is older than what is known. `None`: there is no room for it.
    fn add(&mut self, link: Link) -> Option<bool> {
        let is_old = self.tip.is_some_and(|tip| link.after.version() < tip.version());
        if is_old && !self.follows(&link) {
            return Some(false);
        }
        if self.apart.len() >= APART_MAX {
            return None;
        }
        self.apart.push(link);
        while let Some(next) = self.apart.iter().position(|link| self.follows(link)) {
            let link = self.apart.swap_remove(next);
            self.join(link);
        }
        Some(true)
    }

    /// Whether the directory was so on its way, or is.
    fn has(&self, state: &Before) -> bool {
        self.passed.contains(state)
    }

    fn is_tip(&self, state: &Before) -> bool {
        self.tip.as_ref().is_some_and(|tip| Before::from(tip) == *state)
    }

    /// Whether a link leads on from the tip, or from one known state to another, as within one tick of the server's clock.
    fn follows(&self, link: &Link) -> bool {
        self.is_tip(&link.before) || self.has(&link.before) && self.has(&Before::from(&link.after))
    }

    fn join(&mut self, link: Link) {
        let after = Before::from(&link.after);
        if self.is_tip(&link.before) {
            self.tip = Some(link.after);
            if link.before != after {
                self.pass(after);
            }
            return;
        }
        // Which of the states of one tick came last is not known.
        let is_in_tick = self.tip.is_some_and(|tip| tip.version() == link.after.version());
        self.is_vague |= is_in_tick && link.before != after && !self.is_tip(&after);
    }

    fn pass(&mut self, state: Before) {
        if self.passed.len() >= PASSED_MAX {
            self.passed.drain(..PASSED_MAX / 2);
        }
        self.passed.push(state);
    }

    /// Who changed the directory. What is apart when all calls that began before its reply are over stays apart.
    fn changed_by(&mut self) -> ChangedBy {
        let oldest = self.calls.iter().map(|call| call.since).min();
        let is_proven = |link: &Link| oldest.is_none_or(|oldest| oldest > link.arrived);
        if !self.apart.iter().any(is_proven) {
            return ChangedBy::Us;
        }
        self.apart.sort_by_key(|link| link.before.changed);
        let mut reached = self.tip.map(|tip| tip.changed);
        let (mut has_hole, mut is_strangers) = (false, false);
        for link in &self.apart {
            // Where states overlap, the server looks at them while others change the directory: that shows no change of a stranger.
            has_hole |= reached.is_some_and(|reached| is_later(link.before.changed, reached));
            is_strangers |= has_hole && is_proven(link);
            reached = reached.map(|reached| reached.max(link.after.changed));
        }
        self.restart(self.newest(None));
        if is_strangers { ChangedBy::Stranger } else { ChangedBy::Unclear }
    }

    /// The latest state in a reply.
    fn newest(&self, last: Option<Attributes>) -> Option<Attributes> {
        let all = self.tip.into_iter().chain(self.apart.iter().map(|link| link.after)).chain(last);
        all.max_by_key(Attributes::version)
    }

    fn restart(&mut self, tip: Option<Attributes>) {
        self.tip = tip;
        self.is_vague = false;
        self.apart.clear();
        self.passed.clear();
        self.passed.extend(tip.as_ref().map(Before::from));
    }
}

/// Whether a directory was changed between two times in a server's replies: it may report one change with two times a little
/// apart.
pub fn is_later(time: Timestamp, than: Timestamp) -> bool {
    let nanoseconds =
        |time: Timestamp| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    nanoseconds(time) - nanoseconds(than) >= TOLD_APART
}

fn rights(attributes: Attributes) -> (u32, u32, u32) {
    (attributes.mode, attributes.user, attributes.group)
}

/// Two names with one number are taken for the same: then less is known than could be.
fn hashed(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, FileSystem};

    use super::*;

    /// A directory after so many changes, each in a second of its own.
    fn state(number: u64) -> Attributes {
        sized(number, 0)
    }

    /// The same within a second, with a size of its own.
    fn sized(number: u64, size: u64) -> Attributes {
        let memory = MemoryFileSystem::new();
        let root = memory.attributes(&Caller::ROOT, &memory.root()).expect("there");
        let changed = Timestamp { seconds: number as i64, nanoseconds: 0 };
        Attributes {
            size,
            modified: changed,
            accessed: changed,
            created: None,
            file_system: 1,
            ..root.with_changed(changed)
        }
    }

    fn from(before: Attributes, after: Attributes) -> Change {
        Change { before: Some(Before::from(&before)), after: Some(after) }
    }

    /// A chain from state 0, with calls that began at the moments 1, 2, and so on.
    fn chain(calls: u64) -> Chain {
        let mut chain = Chain::default();
        for since in 1..=calls {
            chain.begin(since, Some(&since.to_be_bytes()), Some((0, state(0))));
        }
        chain
    }

    fn end(chain: &mut Chain, since: ChainMoment, change: &Change) -> ChangeEnd {
        chain.end(since, change, 100 + since).expect("it began")
    }

    #[test]
    fn replies_in_any_order_make_one_chain() {
        for order in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
            let mut chain = chain(3);
            let ends = order.map(|number| end(&mut chain, number, &from(state(number - 1), state(number))));
            assert!(ends.iter().all(|end| end.changed_by == ChangedBy::Us && end.is_name_known), "{order:?}");
            assert_eq!(ends[2].tip, Some(state(3)), "{order:?}");
            assert!(!chain.is_busy());
        }
    }

    #[test]
    fn a_gap_is_a_strangers_once_no_reply_can_fill_it() {
        let mut alone = chain(1);
        assert_eq!(end(&mut alone, 1, &from(state(1), state(2))).changed_by, ChangedBy::Stranger);
        let mut chain = chain(2);
        let first = end(&mut chain, 2, &from(state(2), state(3)));
        assert_eq!((first.changed_by, first.tip), (ChangedBy::Us, None), "the other reply may fit between");
        let last = end(&mut chain, 1, &from(state(0), state(1)));
        assert_eq!((last.changed_by, last.tip), (ChangedBy::Stranger, Some(state(3))));
        assert!(!last.is_name_known, "it may have changed after this call");
    }

    #[test]
    fn a_call_that_begins_later_fills_no_gap() {
        let mut chain = chain(1);
        chain.begin(2, Some(b"other"), None);
        assert_eq!(end(&mut chain, 1, &from(state(1), state(2))).changed_by, ChangedBy::Us);
        chain.begin(500, Some(b"later"), None);
        let end = end(&mut chain, 2, &from(state(2), state(3)));
        assert_eq!((end.changed_by, end.is_name_known), (ChangedBy::Stranger, true));
    }

    #[test]
    fn what_the_server_looks_at_while_others_change_it_is_no_proof() {
        let mut chain = chain(2);
        end(&mut chain, 1, &from(state(0), state(2)));
        let last = end(&mut chain, 2, &from(state(0), state(3)));
        assert_eq!(last.changed_by, ChangedBy::Unclear);
        assert_eq!(last.tip, Some(state(3)));
    }

    #[test]
    fn without_attributes_it_is_unclear_unless_nothing_changed() {
        let change =
            |before: Option<Attributes>, after| Change { before: before.as_ref().map(Before::from), after };
        for (answer, changed_by) in [
            (change(None, Some(state(0))), ChangedBy::Us),
            (change(None, Some(state(1))), ChangedBy::Unclear),
            (change(Some(state(0)), None), ChangedBy::Unclear),
            (change(None, None), ChangedBy::Unclear),
        ] {
            assert_eq!(end(&mut chain(1), 1, &answer).changed_by, changed_by, "{answer:?}");
        }
    }

    #[test]
    fn looks_find_states_of_the_chain() {
        let mut chain = chain(3);
        assert_eq!(chain.look(&state(0), 10), LookedAt::Tip);
        assert_eq!(chain.look(&state(2), 10), LookedAt::Ahead);
        end(&mut chain, 1, &from(state(0), state(1)));
        assert_eq!(end(&mut chain, 2, &from(state(1), state(2))).changed_by, ChangedBy::Us);
        assert_eq!(
            [0, 1, 2].map(|number| chain.look(&state(number), 300)),
            [LookedAt::Past, LookedAt::Past, LookedAt::Tip]
        );
        chain.look(&state(4), 300);
        let last = end(&mut chain, 3, &from(state(2), state(3)));
        assert_eq!((last.changed_by, last.tip), (ChangedBy::Stranger, Some(state(4))));
    }

    #[test]
    fn within_one_tick_of_the_servers_clock_sizes_tell_states_apart() {
        let mut chain = chain(3);
        let [one, two] = [1, 2].map(|size| sized(0, size));
        end(&mut chain, 3, &from(two, one));
        end(&mut chain, 2, &from(one, two));
        let last = end(&mut chain, 1, &from(state(0), one));
        assert_eq!((last.changed_by, last.tip), (ChangedBy::Us, Some(one)));
    }

    #[test]
    fn one_name_changed_by_two_calls_at_once_is_not_known() {
        let mut chain = Chain::default();
        for (since, name) in [(1, "same"), (2, "other"), (3, "same"), (3, "twice"), (4, "twice")] {
            chain.begin(since, Some(name.as_bytes()), Some((0, state(0))));
        }
        let known = [1, 2, 3, 4]
            .map(|number| end(&mut chain, number, &from(state(number - 1), state(number))).is_name_known);
        assert_eq!(known, [false, true, false, false]);
    }

    #[test]
    fn what_is_apart_is_bounded() {
        let mut chain = chain(2);
        for number in 0..2 * APART_MAX as u64 {
            chain.look(&state(10 + 2 * number), 10);
            assert!(chain.apart.len() <= APART_MAX);
        }
        assert_eq!(end(&mut chain, 1, &from(state(5), state(6))).changed_by, ChangedBy::Unclear);
        assert!(chain.apart.is_empty() && chain.passed.len() <= PASSED_MAX);
    }
}
