//! A client of NFSv4: what it does, what it believes, and what it must get.

use std::time::Duration;

use howdah_state::{
    ClientId, ClientIdentity, LockKind, LockOwner, Principal, SequenceAnswer, SequenceRequest, SessionAnswer,
    SessionId, ShareAccess, ShareDeny, StateError, StateId,
};

use super::truth::{self, Party, Thing};
use super::world::{LEASE, World};

#[derive(Debug, Default)]
pub struct Machine {
    pub number: usize,
    pub restarts: u64,
    pub client: Option<ClientId>,
    pub session: Option<SessionId>,
    pub sequence: u32,
    pub is_complete: bool,
    pub silent_until: Duration,
    pub opens: Vec<Open>,
    /// Delegations that it believes to have.
    pub delegations: Vec<(u8, StateId)>,
}

/// An open that it believes to have.
#[derive(Debug, Clone)]
pub struct Open {
    pub owner: u8,
    pub key: u8,
    pub stateid: StateId,
    pub access: ShareAccess,
    pub deny: ShareDeny,
    pub locks: Vec<(u8, StateId)>,
}

/// The server crashed before the answer: what the client knows stays as it was.
pub struct Lost;

pub type Step = Result<(), Lost>;

pub fn needed(kind: LockKind) -> ShareAccess {
    if kind == LockKind::Read { ShareAccess::READ } else { ShareAccess::WRITE }
}

impl Machine {
    pub fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    pub fn me(&self) -> truth::Machine {
        truth::Machine::V4(self.number)
    }

    pub fn name(&self) -> [u8; 1] {
        [self.number as u8]
    }

    pub fn client(&self) -> ClientId {
        self.client.expect("it is connected")
    }

    pub fn lock_owner(&self, owner: u8) -> LockOwner {
        LockOwner::V4 { client: self.client(), owner: [owner].into() }
    }
}

impl World {
    pub fn machine_step(&mut self, number: usize) {
        let mut machine = std::mem::take(&mut self.machines[number]);
        if self.now >= machine.silent_until {
            let _ = self.act_as(&mut machine);
        }
        self.machines[number] = machine;
    }

    pub fn act_as(&mut self, machine: &mut Machine) -> Step {
        if self.random.one_in(60) {
            let most = LEASE.as_millis() as u64 * 4;
            machine.silent_until = self.now + Duration::from_millis(self.random.below(most));
        }
        if self.random.one_in(150) {
            self.restart(machine);
        }
        if machine.session.is_none() {
            return self.connect(machine);
        }
        let Some(guard) = self.sequence(machine) else { return Ok(()) };
        let step = self.operation(machine);
        guard.finish(None);
        step
    }

    /// The client starts anew and remembers nothing. What it had is nobody's until the server ends it.
    pub fn restart(&mut self, machine: &mut Machine) {
        machine.restarts += 1;
        let ghost = truth::Machine::V4(1_000 + machine.number + 10 * machine.restarts as usize);
        let mine = self.truth.held.iter_mut().filter(|one| one.owner.0 == machine.me());
        mine.for_each(|one| one.owner.0 = ghost);
        *machine = Machine { restarts: machine.restarts, ..Machine::new(machine.number) };
    }

    pub fn sequence(&mut self, machine: &mut Machine) -> Option<howdah_state::SlotGuard<()>> {
        let session = machine.session.and_then(|session| self.state.sessions().find(session));
        let request = SequenceRequest { sequence: machine.sequence + 1, slot: 0, highest_slot: 0, digest: 0 };
        match session.map(|session| session.sequence(self.now, request)) {
            Some(Ok(SequenceAnswer::New(guard))) => {
                machine.sequence += 1;
                self.heard.insert(machine.client(), self.now);
                Some(guard)
            }
            None | Some(Err(StateError::BadSession)) => {
                machine.session = None;
                None
            }
            other => panic!("SEQUENCE: {other:?}"),
        }
    }

    pub fn connect(&mut self, machine: &mut Machine) -> Step {
        let principal = Principal(machine.name().into());
        let identity = ClientIdentity {
            owner: &machine.name(),
            verifier: machine.restarts.to_be_bytes(),
            principal: &principal,
            peer: [192, 0, 2, 1].into(),
            network: [192, 0, 2, 1].into(),
            server: [192, 0, 2, 9].into(),
        };
        let exchanged = self.state.exchange_id(self.now, identity, false).expect("EXCHANGE_ID");
        self.heard.insert(exchanged.client, self.now);
        assert!(!exchanged.is_confirmed || machine.client == Some(exchanged.client));
        self.arrived()?;
        let is_new = machine.client != Some(exchanged.client);
        let (client, sequence) = (exchanged.client, exchanged.sequence);
        let created = self.state.create_session(self.now, client, sequence, identity.caller(), 4, ());
        let Ok(SessionAnswer::Created(session)) = created else { panic!("CREATE_SESSION: {created:?}") };
        self.state.answer_created(client, sequence, Some(b"created"));
        self.arrived()?;
        let again = self.state.create_session(self.now, client, sequence, identity.caller(), 4, ());
        assert!(matches!(again, Ok(SessionAnswer::Replay(reply)) if *reply == *b"created"));
        machine.session = Some(session.id());
        machine.sequence = 0;
        machine.client = Some(client);
        if is_new {
            machine.is_complete = false;
            self.recover(machine)?;
        }
        Ok(())
    }

    pub fn arrived(&mut self) -> Step {
        if self.deliver() { Ok(()) } else { Err(Lost) }
    }

    /// A grant's answer arrived.
    pub fn grant(&mut self, machine: &Machine, (owner, key): (u8, u8), thing: Thing, is_reclaim: bool) {
        self.assert_recorded(&machine.name());
        let party = Party::Client(machine.client());
        self.truth.granted((machine.me(), owner), party, key, thing, is_reclaim);
    }

    pub fn complete(&mut self, machine: &mut Machine) -> Step {
        let completed = self.state.reclaim_complete(self.now, machine.client(), false);
        if machine.is_complete {
            assert_eq!(completed, Err(StateError::CompleteAlready));
            return Ok(());
        }
        assert_eq!(completed, Ok(()));
        self.arrived()?;
        machine.is_complete = true;
        // What it did not get back by now is lost.
        let (client, me) = (machine.client(), machine.me());
        self.truth.held.retain(|one| one.owner.0 != me || one.party == Party::Client(client));
        machine.opens.retain(|open| {
            open.stateid.parts().1 == client.number() && open.stateid.parts().0 == client.epoch()
        });
        for open in &mut machine.opens {
            open.locks
                .retain(|(_, lock)| lock.parts().1 == client.number() && lock.parts().0 == client.epoch());
        }
        Ok(())
    }

    pub fn operation(&mut self, machine: &mut Machine) -> Step {
        if !machine.is_complete && self.random.one_in(2) {
            return self.complete(machine);
        }
        let open = (!machine.opens.is_empty()).then(|| self.random.index(machine.opens.len()));
        match (self.random.below(24), open) {
            (0..5, _) | (_, None) => self.open(machine),
            (5..11, Some(open)) if machine.is_complete => self.lock(machine, open),
            (11..14, Some(open)) if machine.is_complete => self.unlock(machine, open),
            (14, Some(open)) if machine.is_complete => self.downgrade(machine, open),
            (15..17, Some(open)) if machine.is_complete => self.close(machine, open),
            (17, _) => self.test(machine),
            (18, _) => self.read(machine),
            (19, _) if machine.is_complete => self.leave(machine),
            (20..22, _) if machine.is_complete => self.change(machine),
            (22..24, _) => self.give_back(machine),
            _ => Ok(()),
        }
    }
}
