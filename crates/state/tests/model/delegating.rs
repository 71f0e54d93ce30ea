//! Read delegations: given, asked for back, given back.

use howdah_state::{ClientId, StateError};

use super::machine::{Machine, Step};
use super::naive::Delegated;
use super::truth::{Party, Thing};
use super::world::World;

impl World {
    /// After an open for reading.
    pub fn delegate(&mut self, machine: &mut Machine, key: u8) -> Step {
        let client = machine.client();
        let Some(stateid) = self.state.delegate(self.now, client, &key) else {
            return Ok(());
        };
        assert!(!self.naive.delegations.iter().any(|one| (one.key, one.client) == (key, client)));
        self.naive.delegations.push(Delegated { key, client, stateid, recalled: None });
        self.arrived()?;
        self.saw("delegated");
        machine.delegations.push((key, stateid));
        let party = Party::Client(client);
        self.truth.granted((machine.me(), 0), party, key, Thing::Delegation, false);
        Ok(())
    }

    /// Gives back what it was asked for, or what it has no use for; or fails to for now.
    pub fn give_back(&mut self, machine: &mut Machine) -> Step {
        if machine.delegations.is_empty() {
            return Ok(());
        }
        let (key, stateid) = machine.delegations.remove(self.random.index(machine.delegations.len()));
        let client = machine.client();
        let has_it = |one: &Delegated| (one.client, one.stateid) == (client, stateid);
        let is_mine = self.naive.delegations.iter().any(has_it);
        self.truth
            .held
            .retain(|one| one.owner.0 != machine.me() || one.key != key || one.thing != Thing::Delegation);
        match self.state.return_delegation(client, stateid, &key) {
            Ok(()) => {
                assert!(is_mine);
                self.saw("given back");
                self.naive.delegations.retain(|one| !has_it(one));
            }
            Err(StateError::DelegationRevoked) => {
                assert!(!is_mine);
                assert_eq!(self.state.test_stateid(client, stateid), Err(StateError::DelegationRevoked));
                assert_eq!(self.state.free_stateid(client, stateid), Ok(()));
                assert_eq!(self.state.test_stateid(client, stateid), Err(StateError::BadStateId));
            }
            Err(error) => assert!(!is_mine && error == StateError::BadStateId, "{error:?}"),
        }
        self.arrived()
    }

    /// A client changes a file by none of its opens, as by SETATTR of the mode.
    pub fn change(&mut self, machine: &Machine) -> Step {
        let key = self.key();
        if self.may_change(key, Some(machine.client())) {
            self.arrived()?;
            self.truth.changed(Some(machine.me()), key);
        }
        Ok(())
    }

    /// Somebody changes a file who is no client of NFSv4. In grace the server has such callers wait.
    pub fn change_as_nobody(&mut self) {
        let key = self.key();
        if !self.state.is_grace() && self.may_change(key, None) && self.deliver() {
            self.truth.changed(None, key);
        }
    }

    fn may_change(&mut self, key: u8, by: Option<ClientId>) -> bool {
        let watch = self.state.files().delegations.watch();
        let change = watch.begin(&key);
        let others = self.naive.delegates(key, by).count();
        assert!(change.may_be_delegated() || others == 0, "the watch knows of all delegations");
        match self.state.recall(self.now, &key, by) {
            Ok(()) => {
                assert!(self.naive.delegates(key, by).all(|other| self.is_lapsed(other)));
                self.saw("changed");
                true
            }
            Err(error) => {
                assert_eq!(error, StateError::Delay);
                self.assert_delegated(key, by);
                self.saw("change delayed");
                // What is asked for back must be on its way before the next is asked.
                let _ = self.deliver();
                false
            }
        }
    }

    /// Somebody else has a delegation, and its lease.
    pub fn assert_delegated(&self, key: u8, except: Option<ClientId>) {
        assert!(self.naive.delegates(key, except).any(|other| !self.is_lapsed(other)));
    }
}
