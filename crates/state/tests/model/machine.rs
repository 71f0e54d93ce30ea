//! A client of NFSv4: what it does, what it believes, and what it must get.

use std::time::Duration;

use howdah_state::{
    ByteRange, ClientId, ClientIdentity, IoKind, LockKind, LockOwner, LockRequest, Locker, OpenRequest,
    Principal, SequenceAnswer, SequenceRequest, SessionAnswer, SessionId, ShareAccess, ShareDeny, StateError,
    StateId,
};

use super::truth::{self, BYTES, Party, Thing, bytes};
use super::world::{LEASE, World};

#[derive(Debug, Default)]
pub struct Machine {
    number: usize,
    restarts: u64,
    client: Option<ClientId>,
    session: Option<SessionId>,
    sequence: u32,
    is_complete: bool,
    pub silent_until: Duration,
    opens: Vec<Open>,
}

/// An open that it believes to have.
#[derive(Debug, Clone)]
struct Open {
    owner: u8,
    key: u8,
    stateid: StateId,
    access: ShareAccess,
    deny: ShareDeny,
    locks: Vec<(u8, StateId)>,
}

/// The server crashed before the answer: what the client knows stays as it was.
struct Lost;

type Step = Result<(), Lost>;

fn needed(kind: LockKind) -> ShareAccess {
    if kind == LockKind::Read { ShareAccess::READ } else { ShareAccess::WRITE }
}

impl Machine {
    pub fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    fn me(&self) -> truth::Machine {
        truth::Machine::V4(self.number)
    }

    fn name(&self) -> [u8; 1] {
        [self.number as u8]
    }

    fn client(&self) -> ClientId {
        self.client.expect("it is connected")
    }

    fn lock_owner(&self, owner: u8) -> LockOwner {
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

    fn act_as(&mut self, machine: &mut Machine) -> Step {
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
    fn restart(&mut self, machine: &mut Machine) {
        machine.restarts += 1;
        let ghost = truth::Machine::V4(1_000 + machine.number + 10 * machine.restarts as usize);
        let mine = self.truth.held.iter_mut().filter(|one| one.owner.0 == machine.me());
        mine.for_each(|one| one.owner.0 = ghost);
        *machine = Machine { restarts: machine.restarts, ..Machine::new(machine.number) };
    }

    fn sequence(&mut self, machine: &mut Machine) -> Option<howdah_state::SlotGuard<()>> {
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

    fn connect(&mut self, machine: &mut Machine) -> Step {
        let principal = Principal(machine.name().into());
        let identity = ClientIdentity {
            owner: &machine.name(),
            verifier: machine.restarts.to_be_bytes(),
            principal: &principal,
            peer: [192, 0, 2, 1].into(),
        };
        let exchanged = self.state.exchange_id(self.now, identity, false).expect("EXCHANGE_ID");
        self.heard.insert(exchanged.client, self.now);
        assert!(!exchanged.is_confirmed || machine.client == Some(exchanged.client));
        self.arrived()?;
        let is_new = machine.client != Some(exchanged.client);
        let (client, sequence) = (exchanged.client, exchanged.sequence);
        let created = self.state.create_session(self.now, client, sequence, &principal, 4, ());
        let Ok(SessionAnswer::Created(session)) = created else { panic!("CREATE_SESSION: {created:?}") };
        self.state.remember_created(client, sequence, b"created");
        self.arrived()?;
        let again = self.state.create_session(self.now, client, sequence, &principal, 4, ());
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

    fn arrived(&mut self) -> Step {
        if self.deliver() { Ok(()) } else { Err(Lost) }
    }

    /// A new client id: what it had is to be reclaimed, or lost.
    fn recover(&mut self, machine: &mut Machine) -> Step {
        if !self.state.is_grace() {
            let mine = self.truth.of(machine.me());
            mine.for_each(|one| assert!(one.is_revoked, "{one:?} was lost without a word"));
            self.truth.held.retain(|one| one.owner.0 != machine.me());
            machine.opens.clear();
        }
        for place in 0..machine.opens.len() {
            let mut open = machine.opens[place].clone();
            let reclaimed = self.reclaim(machine, &mut open);
            machine.opens[place] = open;
            reclaimed?;
        }
        if self.random.one_in(3) { Ok(()) } else { self.complete(machine) }
    }

    fn reclaim(&mut self, machine: &Machine, open: &mut Open) -> Step {
        let thing = Thing::Open(open.access, open.deny);
        if !self.reclaim_open(machine, open, thing)? {
            return Ok(());
        }
        for (owner, stateid) in &mut open.locks {
            let held = self.truth.of(machine.me()).filter(|one| one.owner.1 == *owner && one.key == open.key);
            let locks: Vec<(Thing, bool)> = held.map(|one| (one.thing, one.is_revoked)).collect();
            let mut locker = None;
            for (thing, is_revoked) in locks {
                let Thing::Byte(byte, kind) = thing else { continue };
                let range = ByteRange { first: byte, last: if byte == BYTES - 1 { u64::MAX } else { byte } };
                let locker_now = match locker {
                    None => Locker::New { open: open.stateid, owner: &[*owner] },
                    Some(stateid) => Locker::Existing(stateid),
                };
                let (client, key) = (machine.client(), &open.key);
                let request = LockRequest {
                    client,
                    locker: locker_now,
                    key,
                    kind,
                    range,
                    waits: false,
                    is_reclaim: true,
                };
                match self.state.lock(self.now, request) {
                    Ok(answer) => {
                        locker = Some(answer.stateid);
                        let lock_owner = machine.lock_owner(*owner);
                        self.naive.set(open.key, &lock_owner, range, Some(kind));
                        self.naive.locks_under(client, open.stateid, &lock_owner);
                        self.arrived()?;
                        self.saw("lock reclaimed");
                        self.grant(machine, (*owner, open.key), thing, true);
                    }
                    Err(error) => {
                        // An open that was downgraded since does not allow it any more.
                        let is_refused = is_revoked || !open.access.allows(needed(kind));
                        assert!(is_refused, "{thing:?} was not reclaimed: {error:?}");
                        self.saw("reclaim refused");
                        self.truth.released((machine.me(), *owner), open.key, thing);
                    }
                }
            }
            *stateid = locker.unwrap_or(*stateid);
        }
        Ok(())
    }

    /// Whether the open is there again.
    fn reclaim_open(&mut self, machine: &Machine, open: &mut Open, thing: Thing) -> Result<bool, Lost> {
        let mine = self.truth.of(machine.me());
        let is_it = |one: &&truth::Holding| {
            one.owner.1 == open.owner && one.key == open.key && matches!(one.thing, Thing::Open(..))
        };
        let Some(is_revoked) = mine.filter(is_it).map(|one| one.is_revoked).next() else { return Ok(false) };
        let Open { owner, key, access, deny, .. } = *open;
        let client = machine.client();
        let request = OpenRequest { client, owner: &[owner], key: &key, access, deny, is_reclaim: true };
        match self.state.open(self.now, request) {
            Ok(answer) => {
                assert!(answer.is_new);
                self.naive.opened(answer.open, key, access, deny);
                open.stateid = answer.stateid;
                self.arrived()?;
                self.saw("open reclaimed");
                self.grant(machine, (owner, key), thing, true);
                Ok(true)
            }
            Err(error) => {
                assert!(is_revoked, "{open:?} was not reclaimed: {error:?}");
                self.saw("reclaim refused");
                Ok(false)
            }
        }
    }

    /// A grant's answer arrived.
    fn grant(&mut self, machine: &Machine, (owner, key): (u8, u8), thing: Thing, is_reclaim: bool) {
        self.assert_recorded(&machine.name());
        let party = Party::Client(machine.client());
        self.truth.granted((machine.me(), owner), party, key, thing, is_reclaim);
    }

    fn complete(&mut self, machine: &mut Machine) -> Step {
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

    fn operation(&mut self, machine: &mut Machine) -> Step {
        if !machine.is_complete && self.random.one_in(2) {
            return self.complete(machine);
        }
        let open = (!machine.opens.is_empty()).then(|| self.random.index(machine.opens.len()));
        match (self.random.below(20), open) {
            (0..5, _) | (_, None) => self.open(machine),
            (5..11, Some(open)) if machine.is_complete => self.lock(machine, open),
            (11..14, Some(open)) if machine.is_complete => self.unlock(machine, open),
            (14, Some(open)) if machine.is_complete => self.downgrade(machine, open),
            (15..17, Some(open)) if machine.is_complete => self.close(machine, open),
            (17, _) => self.test(machine),
            (18, _) => self.read(machine),
            (19, _) if machine.is_complete => self.leave(machine),
            _ => Ok(()),
        }
    }

    fn open(&mut self, machine: &mut Machine) -> Step {
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
            }
            Err(StateError::Grace) => {
                assert!(is_early);
                self.saw("open in grace");
            }
            Err(error) => {
                assert!(is_firm && error == StateError::ShareDenied, "{error:?}");
                self.saw("open denied");
            }
        }
        Ok(())
    }

    fn lock(&mut self, machine: &mut Machine, open: usize) -> Step {
        let (range, kind, waits) = (self.range(), self.kind(), self.random.one_in(2));
        let Open { owner, key, stateid, access, .. } = machine.opens[open];
        let lock_owner = owner * 2 + self.random.below(2) as u8;
        let client = machine.client();
        let there = machine.opens[open].locks.iter().position(|(other, _)| *other == lock_owner);
        let name = [lock_owner];
        let locker = match there {
            Some(there) if self.random.one_in(2) => Locker::Existing(machine.opens[open].locks[there].1),
            _ => Locker::New { open: stateid, owner: &name },
        };
        let full_owner = machine.lock_owner(lock_owner);
        let (is_firm, has_turns) = (self.is_locked(key, &full_owner, range, kind), self.has_turns(key));
        let request = LockRequest { client, locker, key: &key, kind, range, waits, is_reclaim: false };
        match self.state.lock(self.now, request) {
            Ok(answer) => {
                assert!(access.allows(needed(kind)) && !is_firm && !self.state.is_grace());
                if self.random.one_in(20) {
                    self.saw("kernel refused");
                    self.state.take_back(self.now, &answer);
                    return self.arrived();
                }
                self.naive.set(key, &full_owner, range, Some(kind));
                self.naive.locks_under(client, stateid, &full_owner);
                if kind == LockKind::Read {
                    self.truth.weakened((machine.me(), lock_owner), key, range);
                }
                self.arrived()?;
                self.saw("lock");
                let locks = &mut machine.opens[open].locks;
                match there {
                    Some(there) => locks[there].1 = answer.stateid,
                    None => locks.push((lock_owner, answer.stateid)),
                }
                for byte in bytes(range) {
                    self.grant(machine, (lock_owner, key), Thing::Byte(byte, kind), false);
                }
            }
            Err(StateError::OpenMode) => assert!(!access.allows(needed(kind))),
            Err(StateError::Grace) => assert!(self.state.is_grace()),
            Err(StateError::NoSpace) => {}
            Err(StateError::Denied(conflict)) => {
                assert!(is_firm || has_turns, "{conflict:?}");
                assert!(conflict.owner != full_owner && (waits || !conflict.is_waiting));
                self.saw("lock denied");
                return self.arrived();
            }
            Err(error) => panic!("LOCK: {error:?}"),
        }
        Ok(())
    }

    fn unlock(&mut self, machine: &mut Machine, open: usize) -> Step {
        let range = self.range();
        let Open { key, ref mut locks, .. } = machine.opens[open];
        if locks.is_empty() {
            return Ok(());
        }
        let lock = self.random.index(locks.len());
        let (owner, stateid) = locks[lock];
        let client = machine.client.expect("it is connected");
        let wrong = StateId { seqid: stateid.seqid + 1, ..stateid };
        assert_eq!(self.state.unlock(self.now, client, wrong, &key, range), Err(StateError::BadStateId));
        if stateid.seqid > 1 {
            let wrong = StateId { seqid: stateid.seqid - 1, ..stateid };
            assert_eq!(self.state.unlock(self.now, client, wrong, &key, range), Err(StateError::OldStateId));
        }
        match self.state.unlock(self.now, client, stateid, &key, range) {
            Ok(after) => {
                assert_eq!(after.seqid, stateid.seqid + 1);
                self.naive.set(key, &LockOwner::V4 { client, owner: [owner].into() }, range, None);
                for byte in bytes(range) {
                    self.truth.released((machine.me(), owner), key, Thing::Byte(byte, LockKind::Read));
                }
                self.arrived()?;
                self.saw("unlock");
                machine.opens[open].locks[lock].1 = after;
                Ok(())
            }
            Err(StateError::NoSpace) => Ok(()),
            Err(error) => panic!("LOCKU: {error:?}"),
        }
    }

    fn downgrade(&mut self, machine: &mut Machine, open: usize) -> Step {
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

    fn close(&mut self, machine: &mut Machine, open: usize) -> Step {
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

    fn test(&mut self, machine: &Machine) -> Step {
        let (key, range, kind) = (self.key(), self.range(), self.kind());
        let owner = machine.lock_owner(9);
        let (is_firm, has_turns) = (self.is_locked(key, &owner, range, kind), self.has_turns(key));
        match self.state.test_lock(self.now, machine.client(), &[9], &key, kind, range) {
            Ok(()) => assert!(!is_firm),
            Err(StateError::Grace) => assert!(self.state.is_grace()),
            Err(StateError::Denied(_)) => assert!(is_firm || has_turns),
            Err(error) => panic!("LOCKT: {error:?}"),
        }
        Ok(())
    }

    fn read(&mut self, machine: &Machine) -> Step {
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
        self.arrived()
    }

    fn leave(&mut self, machine: &mut Machine) -> Step {
        while self.random.one_in(2) && !machine.opens.is_empty() {
            self.close(machine, 0)?;
        }
        let client = machine.client();
        assert_eq!(self.state.destroy_client_id(self.now, client), Err(StateError::ClientIdBusy));
        assert_eq!(self.state.destroy_session(machine.session.take().expect("a session")), Ok(()));
        let has_opens = self.naive.opens.iter().any(|one| one.open.client == client);
        match self.state.destroy_client_id(self.now, client) {
            Ok(()) => {
                assert!(!has_opens);
                self.arrived()?;
                self.saw("destroyed");
                let me = machine.me();
                self.truth.held.retain(|one| one.owner.0 != me);
                machine.opens.clear();
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
