//! Directories that the server delegates to the client: nobody else changes one before the client has given it back (RFC 8881 10.9).

use std::collections::BTreeMap;

use howdah_wire::nfs4::StateId;

/// What became of a delegation while it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Nothing yet.
    Open,
    /// The server wanted it back before its answer was read here. Who took that call gives it back.
    Recalled,
    /// All delegations were given up meanwhile.
    GivenUp,
}

/// A delegation as the server gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantedDelegation {
    /// What it is known by.
    pub state: StateId,
    /// Whether the server asks for it back before attributes of files in the directory change, too.
    pub covers_children: bool,
}

/// The delegations of a client. `K` names a directory.
#[derive(Debug)]
pub struct HeldDelegations<K> {
    held: BTreeMap<K, GrantedDelegation>,
    asked: BTreeMap<K, Asked>,
    most: usize,
}

impl<K: Clone + Ord> HeldDelegations<K> {
    /// None yet, and never more than so many.
    pub fn new(most: usize) -> Self {
        Self { held: BTreeMap::new(), asked: BTreeMap::new(), most }
    }

    /// Whether there are as many as there may be.
    pub fn is_full(&self) -> bool {
        self.held.len() + self.asked.len() >= self.most
    }

    /// Whether a delegation of a directory is to be asked for now. Then [`Self::on_answer`] follows.
    pub fn ask(&mut self, key: &K) -> bool {
        if self.is_full() || self.held.contains_key(key) || self.asked.contains_key(key) {
            return false;
        }
        self.asked.insert(key.clone(), Asked::Open);
        true
    }

    /// The server answered, or did not. Gives a delegation that is to be given back at once.
    pub fn on_answer(&mut self, key: &K, granted: Option<GrantedDelegation>) -> Option<StateId> {
        let asked = self.asked.remove(key)?;
        let granted = granted?;
        match asked {
            Asked::Open => {
                self.held.insert(key.clone(), granted);
                None
            }
            Asked::Recalled => None,
            Asked::GivenUp => Some(granted.state),
        }
    }

    /// The server wants one back.
    pub fn on_recall(&mut self, key: &K) {
        self.held.remove(key);
        if let Some(asked) = self.asked.get_mut(key) {
            *asked = Asked::Recalled;
        }
    }

    /// Gives up all but so many, which are to be given back.
    pub fn give_up(&mut self, keep: usize) -> Vec<(K, StateId)> {
        if keep == 0 {
            self.asked.values_mut().for_each(|asked| *asked = Asked::GivenUp);
        }
        let given: Vec<K> = self.held.keys().skip(keep).cloned().collect();
        let entries = given.into_iter().filter_map(|key| self.held.remove_entry(&key));
        entries.map(|(key, given)| (key, given.state)).collect()
    }

    /// The server has forgotten all.
    pub fn forget(&mut self) {
        self.held.clear();
        self.asked.values_mut().for_each(|asked| *asked = Asked::GivenUp);
    }

    /// Whether there is one of a directory.
    pub fn holds(&self, key: &K) -> bool {
        self.held.contains_key(key)
    }

    /// Whether there is one of a directory that covers attributes of the files in it.
    pub fn covers_children(&self, key: &K) -> bool {
        self.held.get(key).is_some_and(|held| held.covers_children)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(number: u8) -> StateId {
        StateId { sequence: 1, other: [number; 12] }
    }

    fn granted(number: u8) -> Option<GrantedDelegation> {
        Some(GrantedDelegation { state: state(number), covers_children: number == 1 })
    }

    #[test]
    fn one_is_asked_for_once_and_held_until_it_is_recalled() {
        let mut table = HeldDelegations::new(10);
        assert!(table.ask(&1) && !table.ask(&1), "it is being asked for");
        assert!(!table.holds(&1));
        assert_eq!(table.on_answer(&1, granted(1)), None);
        assert!(table.holds(&1) && table.covers_children(&1) && !table.ask(&1));
        table.on_recall(&1);
        assert!(!table.holds(&1) && !table.covers_children(&1) && table.ask(&1));
        assert_eq!(table.on_answer(&1, None), None);
        assert_eq!((table.holds(&1), table.count()), (false, 0));
    }

    #[test]
    fn a_recall_that_overtakes_the_answer_counts() {
        let mut table = HeldDelegations::new(10);
        assert!(table.ask(&1));
        table.on_recall(&1);
        assert_eq!(table.on_answer(&1, granted(1)), None, "the recall has it given back");
        assert!(!table.holds(&1));
    }

    #[test]
    fn what_is_answered_after_all_were_given_up_is_given_back() {
        for forgets in [false, true] {
            let mut table = HeldDelegations::new(10);
            assert!(table.ask(&1) && table.ask(&2));
            table.on_answer(&1, granted(1));
            if forgets {
                table.forget();
            } else {
                assert_eq!(table.give_up(0), [(1, state(1))]);
            }
            assert_eq!(table.on_answer(&2, granted(2)), Some(state(2)));
            assert_eq!(table.count(), 0);
            assert!(table.ask(&2));
        }
    }

    #[test]
    fn they_are_bounded_and_fewer_when_the_server_asks() {
        let mut table = HeldDelegations::new(3);
        for key in 0..5 {
            assert_eq!((table.is_full(), table.ask(&key)), (key >= 3, key < 3));
            table.on_answer(&key, granted(key));
        }
        assert_eq!(table.give_up(5), []);
        assert_eq!(table.give_up(1).len(), 2);
        assert_eq!(table.count(), 1);
    }
}
