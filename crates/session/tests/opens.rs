//! Opens and locks of a client against the tables of the server: restarts, leases that expire, another client that wants the same. What a
//! program believes to have locked is locked at the server, or its file is lost.
//!
//! A failure prints its seed; `SEED=n cargo test -p howdah-session --test opens` runs that one alone.

use std::collections::BTreeMap;
use std::time::Duration;

use howdah_random::Random;
use howdah_session::{
    CloseStep, LockStep, OpenAccess, OpenStep, OpenTable, ReclaimStep, SettleCall, SettleStep, StateToUse,
    UnlockStep,
};
use howdah_state::{
    ByteRange, ClientId, ClientIdentity, IoKind, LockKind, LockRequest, Locker, NfsState, OpenRequest,
    Principal, RecoveryRecords, ShareAccess, ShareDeny, StateError, StateId as ServerStateId, StateSettings,
};
use howdah_wire::nfs4::StateId;

const LEASE: Duration = Duration::from_secs(30);
const SEEDS: u64 = 100;
const STEPS: u32 = 3000;

type State = NfsState<u8, ()>;

/// What a program has locked: owner, file, locker, bytes, exclusive.
type Believed = (u32, u8, u64, (u64, u64), bool);

#[derive(Debug, Default)]
struct Seen {
    reclaimed: u32,
    lost: u32,
    reopened: u32,
    outdated: u32,
    settled: u32,
}

struct World {
    state: State,
    client: ClientId,
    rival: ClientId,
    table: OpenTable<u8>,
    random: Random,
    now: Duration,
    /// How many programs have a file open.
    programs: BTreeMap<(u32, u8), u32>,
    believed: Vec<Believed>,
    seen: Seen,
}

fn start(records: RecoveryRecords) -> State {
    let settings = StateSettings::new(records.next_epoch(), 1);
    let mut state =
        State::new(StateSettings { lease: LEASE, grace: LEASE, courtesy: 4 * LEASE, ..settings }, records);
    state.take_effects();
    state
}

fn connect(state: &mut State, now: Duration, name: &[u8]) -> ClientId {
    let (principal, peer) = (Principal(name.into()), [192, 0, 2, 1].into());
    let server = [192, 0, 2, 9].into();
    let identity =
        ClientIdentity { owner: name, verifier: [1; 8], principal: &principal, peer, network: peer, server };
    let found = state.exchange_id(now, identity, false).expect("EXCHANGE_ID");
    let created = state.create_session(now, found.client, found.sequence, identity.caller(), 8, ());
    created.expect("CREATE_SESSION");
    found.client
}

fn ours(stateid: ServerStateId) -> StateId {
    StateId { sequence: stateid.seqid, other: stateid.other }
}

fn theirs(stateid: StateId) -> ServerStateId {
    ServerStateId { seqid: stateid.sequence, other: stateid.other }
}

fn share(access: OpenAccess) -> ShareAccess {
    match (access.reads, access.writes) {
        (true, true) => ShareAccess::BOTH,
        (false, true) => ShareAccess::WRITE,
        _ => ShareAccess::READ,
    }
}

fn kind(is_exclusive: bool) -> LockKind {
    if is_exclusive { LockKind::Write } else { LockKind::Read }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut state = start(RecoveryRecords::default());
        let [client, rival] = [b"client", b"rival!"].map(|name| connect(&mut state, Duration::ZERO, name));
        for client in [client, rival] {
            state.reclaim_complete(Duration::ZERO, client, false).expect("RECLAIM_COMPLETE");
        }
        state.take_effects();
        Self {
            state,
            client,
            rival,
            table: OpenTable::default(),
            random: Random::new(seed),
            now: Duration::ZERO,
            programs: BTreeMap::new(),
            believed: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn knows(&self, client: ClientId) -> bool {
        self.state.clients(self.now).any(|view| view.client == client)
    }

    /// As at a call: the lease is renewed, or the client learns that the server forgot it. Then all is set right.
    fn sync(&mut self) {
        self.meet();
        while let Some(step) = self.table.next_settle() {
            let answer = self.settle(&step);
            self.seen.settled += 1;
            if self.random.one_in(30) {
                self.restart();
                self.meet();
            }
            // It may have no answer either.
            let answer = answer.filter(|_| !self.random.one_in(10));
            self.table.on_settled(&step, answer);
            if answer.is_none() {
                self.now += Duration::from_secs(1);
                self.state.expire(self.now);
                self.meet();
            }
        }
    }

    fn meet(&mut self) {
        while !self.knows(self.client) {
            self.recover();
        }
        self.renew();
    }

    fn settle(&mut self, step: &SettleStep<u8>) -> Option<Option<StateId>> {
        let given = match step.call {
            SettleCall::Lock { locker, range, is_exclusive, open, held } => {
                self.lock(step.key, (locker, open, held), (range, is_exclusive), false)
            }
            SettleCall::Unlock { range: (first, last), held, .. } => {
                let bytes = ByteRange { first, last };
                self.state.unlock(self.now, self.client, theirs(held), &step.key, bytes)
            }
            SettleCall::Close(open) => {
                let closed = self.state.close(self.now, self.client, theirs(open), &step.key);
                assert_ne!(closed, Err(StateError::LocksHeld));
                return Some(None);
            }
        };
        self.state.take_effects();
        match given {
            Err(StateError::Grace) => None,
            given => Some(given.ok().map(ours)),
        }
    }

    /// EXCHANGE_ID of a known client renews its lease, too.
    fn renew(&mut self) {
        let (principal, peer) = (Principal(b"client".as_slice().into()), [192, 0, 2, 1].into());
        let server = [192, 0, 2, 9].into();
        let (owner, verifier) = (b"client".as_slice(), [1; 8]);
        let identity = ClientIdentity { owner, verifier, principal: &principal, peer, network: peer, server };
        let found = self.state.exchange_id(self.now, identity, false).expect("EXCHANGE_ID");
        assert_eq!(found.client, self.client);
    }

    fn recover(&mut self) {
        self.client = connect(&mut self.state, self.now, b"client");
        self.table.on_forgotten();
        while let Some(step) = self.table.next_reclaim() {
            let given = self.claim(&step);
            match given {
                Ok(_) => self.seen.reclaimed += 1,
                Err(_) => self.seen.lost += 1,
            }
            self.table.on_reclaimed(&step, given.ok().map(ours));
        }
        self.state.reclaim_complete(self.now, self.client, false).expect("RECLAIM_COMPLETE");
        while let Some(step) = self.table.next_reopen() {
            match self.claim(&step) {
                Err(StateError::Grace) => {
                    self.now += Duration::from_secs(5);
                    self.state.expire(self.now);
                    self.renew();
                }
                given => {
                    self.seen.reopened += 1;
                    self.table.on_reclaimed(&step, given.ok().map(ours));
                }
            }
        }
        self.state.take_effects();
    }

    fn claim(&mut self, step: &ReclaimStep<u8>) -> Result<ServerStateId, StateError> {
        let client = self.client;
        match step {
            ReclaimStep::Open { owner, key, access, is_reclaim } => {
                let (name, access) = (owner.to_be_bytes(), share(*access));
                let (deny, is_reclaim) = (ShareDeny::NONE, *is_reclaim);
                let request = OpenRequest { client, owner: &name, key, access, deny, is_reclaim };
                self.state.open(self.now, request).map(|answer| answer.stateid)
            }
            ReclaimStep::Lock { key, locker, range, is_exclusive, open, held, .. } => {
                self.lock(*key, (*locker, *open, *held), (*range, *is_exclusive), true)
            }
        }
    }

    fn lock(
        &mut self,
        key: u8,
        (locker, open, held): (u64, StateId, Option<StateId>),
        ((first, last), is_exclusive): ((u64, u64), bool),
        is_reclaim: bool,
    ) -> Result<ServerStateId, StateError> {
        let owner = locker.to_be_bytes();
        let new = Locker::New { open: theirs(open), owner: &owner };
        let locker = held.map_or(new, |held| Locker::Existing(theirs(held)));
        let (client, kind, range) = (self.client, kind(is_exclusive), ByteRange { first, last });
        let request = LockRequest { client, locker, key: &key, kind, range, waits: false, is_reclaim };
        self.state.lock(self.now, request).map(|answer| answer.stateid)
    }

    /// The server may forget all before an answer counts.
    fn may_restart(&mut self) {
        if self.random.one_in(30) {
            self.restart();
            self.meet();
            self.seen.outdated += 1;
        }
    }

    fn restart(&mut self) {
        let records = self.state.records().clone();
        self.state = start(records);
    }

    fn any(&mut self) -> (u32, u8) {
        (self.random.below(2) as u32, self.random.below(3) as u8)
    }

    fn range(&mut self) -> (u64, u64) {
        let first = self.random.below(20);
        (first, first + self.random.below(10))
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..22 => self.open(),
            22..46 => self.close(),
            46..66 => self.take_lock(),
            66..74 => self.unlock(),
            74..80 => self.io(),
            80..90 => self.rival(),
            90..96 => {
                self.now += Duration::from_secs(self.random.below(60));
                self.state.expire(self.now);
            }
            96..98 => self.restart(),
            98 => drop(self.state.release_client(self.now, self.client)),
            _ => self.sync(),
        }
        self.state.take_effects();
        self.check();
    }

    fn open(&mut self) {
        self.sync();
        let (owner, key) = self.any();
        let access = OpenAccess { reads: true, writes: self.random.one_in(2) };
        let is_open = match self.table.open(owner, &key, access) {
            OpenStep::Done => true,
            OpenStep::Wait => panic!("nothing is under way"),
            OpenStep::Open(all) => {
                let era = self.table.era();
                let step = ReclaimStep::Open { owner, key, access: all, is_reclaim: false };
                let given = self.claim(&step).ok();
                self.may_restart();
                self.table.on_opened((owner, &key), era, given.map(|given| (ours(given), all)))
            }
        };
        if is_open {
            *self.programs.entry((owner, key)).or_default() += 1;
        }
    }

    fn close(&mut self) {
        let (owner, key) = self.any();
        let Some(programs) = self.programs.get_mut(&(owner, key)) else { return };
        *programs -= 1;
        if *programs == 0 {
            self.programs.remove(&(owner, key));
            self.believed.retain(|lock| (lock.0, lock.1) != (owner, key));
        }
        if self.random.one_in(10) {
            return self.leave(owner, key);
        }
        loop {
            self.sync();
            let era = self.table.era();
            match self.table.close(owner, &key) {
                CloseStep::Done => return,
                CloseStep::Wait => panic!("nothing is under way"),
                CloseStep::Unlock(locker, stateid) => {
                    let given =
                        self.state.unlock(self.now, self.client, theirs(stateid), &key, ByteRange::ALL);
                    self.may_restart();
                    let all = (0, u64::MAX);
                    self.table.on_unlocked((owner, &key, locker), era, all, given.ok().map(ours));
                }
                CloseStep::Close(stateid) => {
                    let closed = self.state.close(self.now, self.client, theirs(stateid), &key);
                    assert_eq!(closed, Ok(()));
                    self.may_restart();
                    self.table.on_closed(owner, &key, era);
                }
            }
        }
    }

    /// Closes a file, and does not wait for the server.
    fn leave(&mut self, owner: u32, key: u8) {
        for locker in 0..4 {
            if !self.programs.contains_key(&(owner, key)) && self.table.holds(owner, &key, locker) {
                self.table.unlock_later(owner, &key, locker, (0, u64::MAX));
                self.table.end_locker(owner, &key, locker);
            }
        }
        self.table.leave(owner, &key);
    }

    fn take_lock(&mut self) {
        self.sync();
        let ((owner, key), range) = (self.any(), self.range());
        let locker = u64::from(owner) * 2 + self.random.below(2);
        let is_exclusive = self.random.one_in(2);
        let era = self.table.era();
        let (open, held) = match self.table.lock(owner, &key, locker) {
            LockStep::NotOpen => return assert!(!self.programs.contains_key(&(owner, key))),
            LockStep::Lost => return,
            LockStep::Wait => panic!("nothing is under way"),
            LockStep::First(open) => (open, None),
            LockStep::Further(held) => (held, Some(held)),
        };
        if self.random.one_in(20) {
            // It may not arrive.
            if self.random.one_in(2) {
                let _ = self.lock(key, (locker, open, held), (range, is_exclusive), false);
            }
            self.may_restart();
            return self.table.on_unanswered((owner, &key, locker), era, range, false);
        }
        let given = self.lock(key, (locker, open, held), (range, is_exclusive), false);
        self.may_restart();
        let locked = (range.0, range.1, is_exclusive);
        if self.table.on_locked((owner, &key, locker), era, locked, given.ok().map(ours)) {
            self.forget((owner, key, locker), range);
            self.believed.push((owner, key, locker, range, is_exclusive));
        }
    }

    fn unlock(&mut self) {
        self.sync();
        let ((owner, key), range) = (self.any(), self.range());
        let locker = u64::from(owner) * 2 + self.random.below(2);
        let era = self.table.era();
        if let UnlockStep::Unlock(stateid) = self.table.unlock(owner, &key, locker) {
            let bytes = ByteRange { first: range.0, last: range.1 };
            let is_unanswered = self.random.one_in(20);
            let is_made = !is_unanswered || self.random.one_in(2);
            let given =
                is_made.then(|| self.state.unlock(self.now, self.client, theirs(stateid), &key, bytes));
            self.may_restart();
            match given {
                Some(given) if !is_unanswered => {
                    self.table.on_unlocked((owner, &key, locker), era, range, given.ok().map(ours));
                }
                _ => self.table.on_unanswered((owner, &key, locker), era, range, true),
            }
        }
        self.forget((owner, key, locker), range);
    }

    /// A program does not have these bytes locked any more, as it was.
    fn forget(&mut self, (owner, key, locker): (u32, u8, u64), (first, last): (u64, u64)) {
        let mut kept = Vec::new();
        for lock in self.believed.drain(..) {
            let (its, (from, to)) = ((lock.0, lock.1, lock.2), lock.3);
            if its != (owner, key, locker) || to < first || from > last {
                kept.push(lock);
                continue;
            }
            if from < first {
                kept.push((owner, key, locker, (from, first - 1), lock.4));
            }
            if to > last {
                kept.push((owner, key, locker, (last + 1, to), lock.4));
            }
        }
        self.believed = kept;
    }

    fn io(&mut self) {
        self.sync();
        let (owner, key) = self.any();
        let is_open = self.programs.contains_key(&(owner, key));
        match self.table.state_to_use(owner, &key, OpenAccess::default()) {
            StateToUse::Anonymous => assert!(!is_open),
            StateToUse::Open(stateid) => {
                let done = self.state.check_io(self.now, self.client, theirs(stateid), &key, IoKind::Read);
                assert!(is_open && done.is_ok(), "{done:?}");
            }
            StateToUse::Wait => panic!("nothing is under way"),
            StateToUse::Lost => assert!(is_open),
        }
    }

    /// Another client locks something for a while, if it can.
    fn rival(&mut self) {
        if !self.knows(self.rival) {
            self.rival = connect(&mut self.state, self.now, b"rival!");
            self.state.reclaim_complete(self.now, self.rival, false).expect("RECLAIM_COMPLETE");
        }
        let (client, (_, key), (first, last)) = (self.rival, self.any(), self.range());
        let (access, deny) = (ShareAccess::BOTH, ShareDeny::NONE);
        let request = OpenRequest { client, owner: b"rival", key: &key, access, deny, is_reclaim: false };
        let Ok(open) = self.state.open(self.now, request) else { return };
        let locker = Locker::New { open: open.stateid, owner: b"rival" };
        let (kind, range) = (LockKind::Write, ByteRange { first, last });
        let request = LockRequest { client, locker, key: &key, kind, range, waits: false, is_reclaim: false };
        let _ = self.state.lock(self.now, request);
        self.state.close(self.now, client, open.stateid, &key).expect("CLOSE");
    }

    fn check(&mut self) {
        // Without a lease it holds only until somebody else asks.
        let mut clients = self.state.clients(self.now);
        let has_lease = clients.any(|view| view.client == self.client && view.silence < LEASE);
        drop(clients);
        if !has_lease || self.state.is_grace() {
            return;
        }
        for (owner, key, locker, (first, last), _) in self.believed.clone() {
            if self.table.state_to_use(owner, &key, OpenAccess::default()) == StateToUse::Lost {
                continue;
            }
            let range = ByteRange { first, last };
            let free = self.state.test_lock(self.now, self.client, b"somebody", &key, LockKind::Write, range);
            assert!(
                matches!(free, Err(StateError::Denied(_))),
                "{owner} {key} {locker} {first}..{last}: {free:?}"
            );
        }
    }

    fn finish(&mut self) {
        while !self.programs.is_empty() {
            self.close();
        }
        self.sync();
        assert!(self.table.is_empty());
        assert_eq!(self.state.files_of_client(self.client, 10), [0; 0]);
    }
}

#[test]
fn what_a_program_has_locked_is_locked_or_lost() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("a number")],
        Err(_) => (0..SEEDS).collect(),
    };
    let mut all = [0; 5];
    for seed in seeds.iter().copied() {
        // Printed when the test fails.
        #[allow(clippy::print_stdout)]
        {
            println!("SEED={seed}");
        }
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.finish();
        let Seen { reclaimed, lost, reopened, outdated, settled } = world.seen;
        let its = [reclaimed, lost, reopened, outdated, settled];
        all.iter_mut().zip(its).for_each(|(all, of)| *all += of);
    }
    assert!(seeds.len() == 1 || all.iter().all(|count| *count > 100), "{all:?}");
}

#[test]
fn revoked_locks_are_lost_until_the_file_is_closed_and_a_revoked_open_is_opened_again() {
    let (mut table, all) = (OpenTable::<u8>::default(), OpenAccess::BOTH);
    let [open, lock] = [1, 2].map(|number| StateId { sequence: 5, other: [number; 12] });
    let begin = |table: &mut OpenTable<u8>| {
        assert_eq!(table.open(0, &7, all), OpenStep::Open(all));
        assert_eq!(table.open(0, &7, all), OpenStep::Wait);
        assert!(table.on_opened((0, &7), table.era(), Some((open, all))));
    };
    begin(&mut table);
    assert_eq!(table.lock(0, &7, 3), LockStep::First(open));
    assert_eq!(table.close(0, &7), CloseStep::Wait);
    assert!(table.on_locked((0, &7, 3), 0, (0, 9, true), Some(lock)));
    assert_eq!(table.stateids(), [open, lock]);
    table.on_revoked(lock);
    assert_eq!((table.state_to_use(0, &7, all), table.lock(0, &7, 3)), (StateToUse::Lost, LockStep::Lost));
    assert_eq!((table.unlock(0, &7, 3), table.close(0, &7)), (UnlockStep::Done, CloseStep::Close(open)));
    assert!(table.on_closed(0, &7, 0) && table.is_empty());
    // The same of a lock that the server refuses to give back.
    begin(&mut table);
    assert_eq!(table.lock(0, &7, 3), LockStep::First(open));
    assert!(table.on_locked((0, &7, 3), 0, (0, 9, true), Some(lock)));
    table.on_forgotten();
    for given in [Some(open), None] {
        let step = table.next_reclaim().expect("the open, then the lock");
        table.on_reclaimed(&step, given);
    }
    assert_eq!((table.next_reclaim(), table.state_to_use(0, &7, all)), (None, StateToUse::Lost));
    assert_eq!(table.close(0, &7), CloseStep::Close(open));
    assert!(table.on_closed(0, &7, table.era()));
    begin(&mut table);
    table.on_revoked(StateId { sequence: 9, ..open });
    assert_eq!((table.state_to_use(0, &7, all), table.lock(0, &7, 3)), (StateToUse::Wait, LockStep::Wait));
    let step = table.next_reopen().expect("it is to be opened again");
    assert_eq!(step, ReclaimStep::Open { owner: 0, key: 7, access: all, is_reclaim: false });
    table.on_reclaimed(&step, Some(lock));
    assert_eq!(table.state_to_use(0, &7, all), StateToUse::Open(StateId { sequence: 0, ..lock }));
    assert_eq!(table.next_reopen(), None);
}

#[test]
fn a_locker_that_lost_its_locks_holds_the_file_until_it_unlocks() {
    let (mut table, reads) = (OpenTable::<u8>::default(), OpenAccess { reads: true, writes: false });
    let [open, lock] = [1, 2].map(|number| StateId { sequence: 1, other: [number; 12] });
    assert_eq!(table.open(0, &7, reads), OpenStep::Open(reads));
    assert!(table.on_opened((0, &7), table.era(), Some((open, reads))));
    assert_eq!(table.state_to_use(0, &7, OpenAccess::BOTH), StateToUse::Anonymous, "it is open for reading");
    assert_eq!(table.lock(0, &7, 3), LockStep::First(open));
    assert!(!table.holds(0, &7, 3));
    assert!(table.on_locked((0, &7, 3), 0, (0, 9, false), Some(lock)));
    assert!(table.holds(0, &7, 3) && table.owners(&7, 3) == [0] && table.owners(&7, 4).is_empty());
    table.on_revoked(lock);
    assert!(table.holds(0, &7, 3) && table.owners(&7, 3) == [0]);
    assert_eq!(table.state_to_use(0, &7, OpenAccess::BOTH), StateToUse::Lost);
    assert_eq!((table.unlock(0, &7, 3), table.end_locker(0, &7, 3)), (UnlockStep::Done, None));
    assert!(!table.holds(0, &7, 3));
    assert_eq!(table.close(0, &7), CloseStep::Close(open));
}

#[test]
fn a_locker_that_lost_its_locks_leaves_those_of_others_which_are_unlocked_before_the_file_is_closed() {
    let (mut table, all) = (OpenTable::<u8>::default(), OpenAccess::BOTH);
    let [open, one, two] = [1, 2, 3].map(|number| StateId { sequence: 1, other: [number; 12] });
    for step in [OpenStep::Open(all), OpenStep::Done] {
        assert_eq!(table.open(0, &7, all), step);
        if step != OpenStep::Done {
            assert!(table.on_opened((0, &7), table.era(), Some((open, all))));
        }
    }
    for (locker, given) in [(3, one), (4, two)] {
        assert_eq!(table.lock(0, &7, locker), LockStep::First(open));
        assert!(table.on_locked((0, &7, locker), 0, (locker, locker, true), Some(given)));
    }
    table.on_revoked(one);
    assert_eq!(table.state_to_use(0, &7, all), StateToUse::Lost);
    assert_eq!(table.stateids(), [open, two]);
    assert_eq!((table.unlock(0, &7, 3), table.end_locker(0, &7, 3)), (UnlockStep::Done, None));
    assert_eq!(table.close(0, &7), CloseStep::Done);
    assert_eq!(table.state_to_use(0, &7, all), StateToUse::Open(StateId { sequence: 0, ..open }));
    assert_eq!(table.close(0, &7), CloseStep::Unlock(4, two));
    table.on_unlocked((0, &7, 4), 0, (0, u64::MAX), Some(two));
    assert_eq!(table.close(0, &7), CloseStep::Close(open));
}

#[test]
fn an_upgrade_without_an_answer_leaves_the_lock_that_was_there() {
    let (mut table, all) = (OpenTable::<u8>::default(), OpenAccess::BOTH);
    let [open, lock] = [1, 2].map(|number| StateId { sequence: 1, other: [number; 12] });
    assert_eq!(table.open(0, &7, all), OpenStep::Open(all));
    assert!(table.on_opened((0, &7), table.era(), Some((open, all))));
    assert_eq!(table.lock(0, &7, 3), LockStep::First(open));
    assert!(table.on_locked((0, &7, 3), 0, (0, 4, false), Some(lock)));
    assert_eq!(table.lock(0, &7, 3), LockStep::Further(lock));
    table.on_unanswered((0, &7, 3), 0, (0, 9), false);
    assert!(table.owes() && table.owes_of(0, &7));
    assert_eq!((table.lock(0, &7, 3), table.unlock(0, &7, 3)), (LockStep::Wait, UnlockStep::Wait));
    let mut calls = Vec::new();
    while let Some(step) = table.next_settle() {
        calls.push(step.call);
        table.on_settled(&step, Some(Some(lock)));
    }
    let (is_exclusive, held) = (false, Some(lock));
    assert_eq!(
        calls,
        [
            SettleCall::Lock { locker: 3, range: (0, 4), is_exclusive, open, held },
            SettleCall::Unlock { locker: 3, range: (5, 9), held: lock },
        ]
    );
    assert_eq!(table.unlock(0, &7, 3), UnlockStep::Unlock(lock));
}

#[test]
fn an_unlock_waits_while_the_lock_is_given_back() {
    let (mut table, all) = (OpenTable::<u8>::default(), OpenAccess::BOTH);
    let [open, lock] = [1, 2].map(|number| StateId { sequence: 1, other: [number; 12] });
    assert_eq!(table.open(0, &7, all), OpenStep::Open(all));
    assert!(table.on_opened((0, &7), table.era(), Some((open, all))));
    assert_eq!(table.lock(0, &7, 3), LockStep::First(open));
    assert!(table.on_locked((0, &7, 3), 0, (0, 9, true), Some(lock)));
    table.on_forgotten();
    let step = table.next_reclaim().expect("the open");
    table.on_reclaimed(&step, Some(open));
    let step = table.next_reclaim().expect("the lock");
    assert_eq!(table.unlock(0, &7, 3), UnlockStep::Wait, "the server may give it back just now");
    table.on_reclaimed(&step, Some(lock));
    assert_eq!(table.next_reclaim(), None);
    assert_eq!(table.unlock(0, &7, 3), UnlockStep::Unlock(lock));
}
