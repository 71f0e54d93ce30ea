//! The order in which changes may be sent. Knows no file system and no clock.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Number of a node, for as long as the layer lives.
pub type NodeNumber = u64;

/// Number of a change: they count up in the order in which programs made them.
pub type ChangeNumber = u64;

/// What a change touches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TouchedPlace {
    /// A node.
    Node(NodeNumber),
    /// A name in a directory.
    Name(NodeNumber, Vec<u8>),
}

/// Whether others may touch the same place at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It waits for all that touched the place before, and all that touch it later wait for it.
    Alone,
    /// It waits for the last that touched the place alone.
    Shared,
}

/// What waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Making, writing and setting: sent as soon as its places are free.
    Makes,
    /// The same, but what the user renames, links and removes later does not wait for it: times of a directory.
    Times,
    /// Removing and cutting: sent when all that the same user made and named before is safe on the server.
    Destroys,
    /// Renaming and linking: sent when all that the same user made before is safe, and not at all if a change of the node was refused.
    Names,
    /// Renaming what keeps others out while a set of files changes, such as git's refs: the same, and all names come before it, too.
    Seals,
}

impl Rank {
    fn gives_name(self) -> bool {
        matches!(self, Self::Names | Self::Seals)
    }
}

/// Pending changes, and what each waits for.
#[derive(Debug, Default)]
pub struct ChangeOrder {
    pending: BTreeMap<ChangeNumber, Pending>,
    places: HashMap<TouchedPlace, Users>,
    makers: HashMap<u32, Maker>,
    ready: BTreeSet<ChangeNumber>,
    running: usize,
}

#[derive(Debug)]
struct Pending {
    user: u32,
    rank: Rank,
    places: Vec<(TouchedPlace, Touch)>,
    waits_for: usize,
    followers: Vec<Follower>,
    /// It may still be joined with what follows, so that it is not sent yet.
    is_held: bool,
    is_running: bool,
    /// A change that it builds on was refused.
    is_doomed: bool,
    /// Nothing was pending of its names when it came.
    was_free: bool,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEnding {
    /// The server has it.
    Safe,
    /// The server refused it.
    Refused,
    /// It made its node under another name: what others meant to do to its name would hit another client's node.
    Elsewhere,
}

/// A change that waits for another one.
#[derive(Debug, Clone, Copy)]
struct Follower {
    number: ChangeNumber,
    bond: Bond,
}

/// Whether a change makes sense that waits for another one which was refused.
#[derive(Debug, Clone, Copy, Default)]
struct Bond {
    /// They are of the same name.
    by_name: bool,
    /// It does not.
    is_bound: bool,
}

#[derive(Debug, Default)]
struct Users {
    alone: Option<ChangeNumber>,
    shared: BTreeSet<ChangeNumber>,
}

#[derive(Debug, Default)]
struct Maker {
    makes: BTreeSet<ChangeNumber>,
    /// Those that give names.
    names: BTreeSet<ChangeNumber>,
    /// All that wait for others: those that give names or take them away.
    waiting: BTreeSet<ChangeNumber>,
    /// Those that are held back.
    held: BTreeSet<ChangeNumber>,
}

impl Maker {
    fn has_made_before(&self, number: ChangeNumber) -> bool {
        self.makes.first().is_some_and(|first| *first < number)
    }

    fn has_named_before(&self, number: ChangeNumber) -> bool {
        self.names.first().is_some_and(|first| *first < number)
    }
}

impl ChangeOrder {
    /// Takes a change that is newer than all before. `is_held`: not to be sent before it is [let go](Self::let_go).
    pub fn add(
        &mut self,
        number: ChangeNumber,
        (user, rank): (u32, Rank),
        places: Vec<(TouchedPlace, Touch)>,
        is_held: bool,
    ) {
        let mut before: HashMap<ChangeNumber, Bond> = HashMap::new();
        let mut was_free = true;
        for (place, touch) in &places {
            let users = self.places.entry(place.clone()).or_default();
            let by_name = matches!(place, TouchedPlace::Name(..));
            if let Some(alone) = users.alone {
                was_free &= !by_name;
                let makes = self.pending.get(&alone).is_some_and(|earlier| earlier.rank == Rank::Makes);
                let bond = before.entry(alone).or_default();
                bond.by_name |= by_name;
                bond.is_bound |= match by_name {
                    // What was made in part is to be removed all the same.
                    true => rank != Rank::Destroys || !makes,
                    false => *touch == Touch::Alone && rank.gives_name(),
                };
            }
            match touch {
                Touch::Shared => _ = users.shared.insert(number),
                Touch::Alone => {
                    for shared in std::mem::take(&mut users.shared) {
                        before.entry(shared).or_default();
                    }
                    users.alone = Some(number);
                }
            }
        }
        before.remove(&number);
        let waits_for = before.len();
        for (earlier, bond) in before {
            if let Some(earlier) = self.pending.get_mut(&earlier) {
                earlier.followers.push(Follower { number, bond });
            }
        }
        let maker = self.makers.entry(user).or_default();
        match rank {
            Rank::Makes => _ = maker.makes.insert(number),
            Rank::Times => {}
            Rank::Destroys | Rank::Names | Rank::Seals => _ = maker.waiting.insert(number),
        }
        if rank.gives_name() {
            maker.names.insert(number);
        }
        if is_held {
            maker.held.insert(number);
        }
        let (is_running, is_doomed, followers) = (false, false, Vec::new());
        let change =
            Pending { user, rank, places, waits_for, followers, is_held, is_running, is_doomed, was_free };
        self.pending.insert(number, change);
        self.check(number);
    }

    /// What was held back may be sent.
    pub fn let_go(&mut self, number: ChangeNumber) {
        if let Some(change) = self.pending.get_mut(&number) {
            change.is_held = false;
            if let Some(maker) = self.makers.get_mut(&change.user) {
                maker.held.remove(&number);
            }
            self.check(number);
        }
    }

    /// What was held back of a user may be sent.
    pub fn let_go_user(&mut self, user: u32) {
        let held = self.makers.get_mut(&user).map(|maker| std::mem::take(&mut maker.held));
        held.into_iter().flatten().for_each(|number| self.let_go(number));
    }

    /// The oldest change that may be sent now. It counts as sent. `true`: it builds on one that was refused.
    pub fn next_ready(&mut self) -> Option<(ChangeNumber, bool)> {
        let number = self.ready.pop_first()?;
        let change = self.pending.get_mut(&number)?;
        change.is_running = true;
        self.running += 1;
        Some((number, change.is_doomed))
    }

    /// A change is over: what waited for it may be sent.
    pub fn over(&mut self, number: ChangeNumber, ended: ChangeEnding) {
        let Some(change) = self.pending.remove(&number) else { return };
        self.running -= usize::from(change.is_running);
        self.ready.remove(&number);
        for (place, _) in &change.places {
            let Some(users) = self.places.get_mut(place) else { continue };
            users.shared.remove(&number);
            if users.alone == Some(number) {
                users.alone = None;
            }
            if users.alone.is_none() && users.shared.is_empty() {
                self.places.remove(place);
            }
        }
        for Follower { number, bond } in change.followers {
            let Some(later) = self.pending.get_mut(&number) else { continue };
            later.waits_for -= 1;
            later.is_doomed |= match ended {
                ChangeEnding::Safe => false,
                ChangeEnding::Refused => bond.is_bound,
                ChangeEnding::Elsewhere => bond.by_name,
            };
            self.check(number);
        }
        if ended == ChangeEnding::Refused {
            self.doom_seals(number, change.user);
        }
        self.settle_maker(number, change.user);
    }

    /// A set of files that is not all there is not published.
    fn doom_seals(&mut self, number: ChangeNumber, user: u32) {
        let later = self.makers.get(&user).into_iter().flat_map(|maker| maker.waiting.range(number..));
        for number in later {
            if let Some(change) = self.pending.get_mut(number) {
                change.is_doomed |= change.rank == Rank::Seals;
            }
        }
    }

    /// Lets go what waited for a user's change to be safe.
    fn settle_maker(&mut self, number: ChangeNumber, user: u32) {
        let Some(maker) = self.makers.get_mut(&user) else { return };
        let made_first = maker.makes.first() == Some(&number);
        let named_first = maker.names.first() == Some(&number);
        maker.makes.remove(&number);
        maker.names.remove(&number);
        maker.waiting.remove(&number);
        maker.held.remove(&number);
        if maker.makes.is_empty() && maker.waiting.is_empty() {
            self.makers.remove(&user);
            return;
        }
        if made_first || named_first {
            let mut until = maker.makes.first().copied().unwrap_or(ChangeNumber::MAX);
            if !made_first {
                // Others that give names did not wait for it, except the next.
                until = until.min(maker.names.first().map_or(until, |next| next + 1));
            }
            let free: Vec<_> = maker.waiting.range(number..until).copied().collect();
            free.into_iter().for_each(|number| self.check(number));
        }
    }

    /// What a user made and named that is not safe yet.
    pub fn made_by(&self, user: u32) -> impl Iterator<Item = ChangeNumber> + use<'_> {
        self.makers.get(&user).into_iter().flat_map(|maker| maker.makes.iter().chain(&maker.names).copied())
    }

    /// Puts a change among those that may be sent, if it may.
    fn check(&mut self, number: ChangeNumber) {
        let Some(change) = self.pending.get(&number) else { return };
        let waits_for_user = self.makers.get(&change.user).is_some_and(|maker| match change.rank {
            Rank::Makes | Rank::Times => false,
            Rank::Names => maker.has_made_before(number),
            Rank::Destroys | Rank::Seals => maker.has_made_before(number) || maker.has_named_before(number),
        });
        if change.waits_for == 0 && !change.is_held && !change.is_running && !waits_for_user {
            self.ready.insert(number);
        }
    }

    /// The changes that touch a place, of which the last alone and those since count: all others are over before them.
    pub fn touching<'o>(&'o self, place: &TouchedPlace) -> impl Iterator<Item = ChangeNumber> + use<'o> {
        let users = self.places.get(place);
        users.into_iter().flat_map(|users| users.alone.into_iter().chain(users.shared.iter().copied()))
    }

    /// The last change that touches a place alone.
    pub fn last_alone(&self, place: &TouchedPlace) -> Option<ChangeNumber> {
        self.places.get(place)?.alone
    }

    /// Whether others wait for a change.
    pub fn is_followed(&self, number: ChangeNumber) -> bool {
        self.pending.get(&number).is_some_and(|change| !change.followers.is_empty())
    }

    /// Whether nothing was pending of a change's names when it came.
    pub fn was_free(&self, number: ChangeNumber) -> bool {
        self.pending.get(&number).is_some_and(|change| change.was_free)
    }

    /// Whether a change is not over.
    pub fn is_pending(&self, number: ChangeNumber) -> bool {
        self.pending.contains_key(&number)
    }

    /// Whether a change is being sent.
    pub fn is_running(&self, number: ChangeNumber) -> bool {
        self.pending.get(&number).is_some_and(|change| change.is_running)
    }

    /// The oldest change.
    pub fn first(&self) -> Option<ChangeNumber> {
        self.pending.first_key_value().map(|(number, _)| *number)
    }

    /// Changes that are not over.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Those that are being sent.
    pub fn running(&self) -> usize {
        self.running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a rename may be sent while an earlier change of the same user, of another node, is on its way.
    fn is_free_beside(rank: Rank) -> bool {
        let mut order = ChangeOrder::default();
        order.add(1, (0, rank), vec![(TouchedPlace::Node(1), Touch::Alone)], false);
        order.add(2, (0, Rank::Names), vec![(TouchedPlace::Node(2), Touch::Alone)], false);
        assert_eq!(order.next_ready(), Some((1, false)));
        let is_free = order.next_ready() == Some((2, false));
        order.over(1, ChangeEnding::Safe);
        assert_eq!(order.next_ready(), (!is_free).then_some((2, false)));
        is_free
    }

    #[test]
    fn a_rename_waits_for_what_was_made_and_not_for_times_of_a_directory() {
        assert!(!is_free_beside(Rank::Makes));
        assert!(is_free_beside(Rank::Times));
    }

    #[test]
    fn a_rename_lets_go_what_its_user_holds_back() {
        let mut order = ChangeOrder::default();
        order.add(1, (0, Rank::Makes), vec![(TouchedPlace::Node(1), Touch::Alone)], true);
        order.add(2, (7, Rank::Makes), vec![(TouchedPlace::Node(2), Touch::Alone)], true);
        assert_eq!(order.next_ready(), None);
        order.let_go_user(0);
        assert_eq!(order.next_ready(), Some((1, false)));
        assert_eq!(order.next_ready(), None);
    }
}
