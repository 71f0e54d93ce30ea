//! Opens, and I/O by them.

use howdah_state::{
    ClientCaller, ClientId, IoKind, OpenRequest, Principal, ShareAccess, ShareDeny, StateError, StateId,
};

use super::machine::{Machine, Open, Step};
use super::truth::Thing;
use super::world::World;

impl World {
    pub fn open(&mut self, machine: &mut Machine) -> Step {
        let (owner, key) = (self.random.below(2) as u8, self.key());
        let access = ShareAccess::from_bits(1 + self.random.below(3) as u32).expect("bits");
        let deny = if self.random.one_in(4) { self.random.below(4) as u32 } else { 0 };
        let deny = ShareDeny::from_bits(deny).expect("bits");
        let client = machine.client();
        let mine = self.naive.opens.iter().find(|one| {
            one.open.client == client
                && one.key == key
                && machine.opens.iter().any(|open| {
                    open.owner == owner && open.key == key && open.stateid.parts().2 == one.open.index
                })
        });
        let mine = mine.map(|one| one.open);
        let in_the_way: Vec<ClientId> = self.naive.share_conflicts(key, mine, access, deny).collect();
        let is_firm = in_the_way.iter().any(|other| *other == client || !self.is_lapsed(*other));
        let is_early = self.state.is_grace() || !machine.is_complete;
        let request = OpenRequest { client, owner: &[owner], key: &key, access, deny, is_reclaim: false };
        match self.state.open(self.now, request) {
            Ok(answer) => {
                assert!(!is_early && !is_firm && answer.is_new == mine.is_none());
                self.naive.opened(answer.open, key, access, deny);
                self.arrived()?;
                self.saw("open");
                let believed = machine.opens.iter_mut().find(|open| open.owner == owner && open.key == key);
                match believed {
                    Some(open) => {
                        open.stateid = answer.stateid;
                        open.access = open.access.with(access);
                        open.deny = open.deny.with(deny);
                    }
                    None => {
                        let stateid = answer.stateid;
                        machine.opens.push(Open { owner, key, stateid, access, deny, locks: Vec::new() });
                    }
                }
                let open = machine.opens.iter().find(|open| open.owner == owner && open.key == key);
                let thing = open.map(|open| Thing::Open(open.access, open.deny)).expect("it is open");
                self.grant(machine, (owner, key), thing, false);
                if access == ShareAccess::READ {
                    return self.delegate(machine, key);
                }
            }
            Err(StateError::Delay) => {
                self.assert_delegated(key, Some(client));
                assert!(!is_early && (access != ShareAccess::READ || deny.denies(ShareAccess::READ)));
                self.saw("open delayed");
                return self.arrived();
            }
            Err(StateError::Grace) => {
                assert!(is_early);
                self.saw("open in grace");
            }
            Err(error) => {
                assert!(is_firm && error == StateError::ShareDenied, "{error:?}");
                self.saw("open denied");
                return self.arrived();
            }
        }
        Ok(())
    }

    pub fn downgrade(&mut self, machine: &mut Machine, open: usize) -> Step {
        let access = ShareAccess::from_bits(1 + self.random.below(3) as u32).expect("bits");
        let deny = ShareDeny::from_bits(self.random.below(4) as u32).expect("bits");
        let client = machine.client();
        let Open { owner, key, stateid, access: had, deny: denied, .. } = machine.opens[open];
        match self.state.downgrade(client, stateid, &key, access, deny) {
            Ok(after) => {
                assert!(had.allows(access) && denied.covers(deny));
                let index = stateid.parts().2;
                let one = self
                    .naive
                    .opens
                    .iter_mut()
                    .find(|one| one.open.client == client && one.open.index == index);
                let one = one.expect("it is open");
                (one.access, one.deny) = (access, deny);
                self.arrived()?;
                self.saw("downgrade");
                let open = &mut machine.opens[open];
                (open.stateid, open.access, open.deny) = (after, access, deny);
                self.grant(machine, (owner, key), Thing::Open(access, deny), false);
            }
            Err(error) => assert_eq!(error, StateError::Invalid),
        }
        Ok(())
    }

    pub fn close(&mut self, machine: &mut Machine, open: usize) -> Step {
        let client = machine.client();
        let Open { key, stateid, .. } = machine.opens[open];
        assert_eq!(self.state.close(self.now, client, stateid, &key), Ok(()));
        // It asked for that, whether the answer arrives or not.
        let gone = machine.opens.remove(open);
        let me = machine.me();
        self.truth.released((me, gone.owner), key, Thing::Open(gone.access, gone.deny));
        let is_gone = |owner: u8| gone.locks.iter().any(|(lock, _)| *lock == owner);
        self.truth.held.retain(|one| {
            one.owner.0 != me
                || one.key != key
                || matches!(one.thing, Thing::Open(..))
                || !is_gone(one.owner.1)
        });
        self.arrived()?;
        self.saw("close");
        assert_eq!(self.state.test_stateid(client, stateid), Err(StateError::BadStateId));
        Ok(())
    }

    pub fn read(&mut self, machine: &Machine) -> Step {
        let key = self.key();
        let io = if self.random.one_in(2) { IoKind::Read } else { IoKind::Write };
        let access = if io == IoKind::Read { ShareAccess::READ } else { ShareAccess::WRITE };
        let denying = self.naive.opens.iter().filter(|one| one.key == key && one.deny.denies(access));
        let is_firm = denying.clone().any(|one| !self.is_lapsed(one.open.client));
        match self.state.check_io(self.now, machine.client(), StateId::ANONYMOUS, &key, io) {
            Ok(_) => assert!(!is_firm),
            Err(StateError::Grace) => assert!(self.state.is_grace()),
            Err(error) => assert!(is_firm && error == StateError::Locked),
        }
        for open in &machine.opens {
            let is_mine = open.stateid.parts().1 == machine.client().number()
                && open.stateid.parts().0 == machine.client().epoch();
            let checked = self.state.check_io(self.now, machine.client(), open.stateid, &open.key, io);
            match checked {
                Ok(_) => assert!(is_mine && open.access.allows(access)),
                Err(StateError::OpenMode) => assert!(is_mine && !open.access.allows(access)),
                Err(error) => assert!(!is_mine, "{error:?}"),
            }
        }
        self.try_stateids(machine, io);
        self.arrived()
    }

    /// Every stateid that any machine knows, at changes around its own: the state and what it shows must agree.
    fn try_stateids(&mut self, machine: &Machine, io: IoKind) {
        let of_opens = machine.opens.iter().flat_map(|open| {
            let locks = open.locks.iter().map(|(_, lock)| *lock);
            locks.chain([open.stateid]).map(|stateid| (open.key, stateid))
        });
        let others = self.machines.iter().filter_map(|other| other.client);
        let clients: Vec<ClientId> = others.chain([machine.client()]).collect();
        for (key, stateid) in of_opens.chain(machine.delegations.iter().copied()) {
            for seqid in [0, stateid.seqid.wrapping_sub(1), stateid.seqid, stateid.seqid + 1] {
                for client in &clients {
                    for key in [key, key + 1] {
                        let _ =
                            self.state.check_io(self.now, *client, StateId { seqid, ..stateid }, &key, io);
                    }
                }
            }
        }
    }

    pub fn leave(&mut self, machine: &mut Machine) -> Step {
        while self.random.one_in(2) && !machine.opens.is_empty() {
            self.close(machine, 0)?;
        }
        let client = machine.client();
        let principal = Principal(machine.name().into());
        let caller = ClientCaller { principal: &principal, network: [192, 0, 2, 1].into() };
        assert_eq!(self.state.destroy_client_id(self.now, client, caller), Err(StateError::ClientIdBusy));
        assert_eq!(self.state.destroy_session(machine.session.take().expect("a session")), Ok(()));
        let has_opens = self.naive.opens.iter().any(|one| one.open.client == client)
            || self.naive.delegations.iter().any(|one| one.client == client);
        match self.state.destroy_client_id(self.now, client, caller) {
            Ok(()) => {
                assert!(!has_opens);
                self.arrived()?;
                self.saw("destroyed");
                let me = machine.me();
                self.truth.held.retain(|one| one.owner.0 != me);
                machine.opens.clear();
                machine.delegations.clear();
                machine.client = None;
            }
            Err(error) => {
                assert!(has_opens && error == StateError::ClientIdBusy);
                self.saw("busy");
            }
        }
        Ok(())
    }
}
