//! The server, its disk, its clients, and time.

use std::collections::HashMap;
use std::time::Duration;

use howdah_random::Random;
use howdah_state::{
    ByteRange, ClientId, LockKind, LockOwner, NfsState, RecoveryRecords, Serial, StateBounds, StateSettings,
};

use super::host::Host;
use super::machine::Machine;
use super::naive::Naive;
use super::truth::{BYTES, Thing, Truth};

pub const LEASE: Duration = Duration::from_secs(10);
pub const KEYS: u64 = 3;
const MACHINES: usize = 4;
const HOSTS: usize = 2;

/// That the runs came where they should.
#[derive(Debug, Default)]
pub struct Seen(HashMap<&'static str, u64>);

pub struct World {
    pub random: Random,
    pub now: Duration,
    pub state: NfsState<u8, ()>,
    pub epoch: u32,
    /// The durable log, and what is on its way there.
    pub disk: RecoveryRecords,
    pub written: Serial,
    pub pending: Vec<(Serial, howdah_state::DurableRecord)>,
    pub machines: Vec<Machine>,
    pub hosts: Vec<Host>,
    pub truth: Truth,
    pub naive: Naive,
    /// When each client was last heard.
    pub heard: HashMap<ClientId, Duration>,
    /// One crash in so many steps; and one in as many answers.
    pub calm: u64,
    pub seen: Seen,
}

pub fn settings(epoch: u32) -> StateSettings {
    StateSettings {
        lease: LEASE,
        grace: LEASE,
        courtesy: LEASE * 20,
        turn: Duration::from_secs(2),
        rest: Duration::from_secs(1),
        bounds: StateBounds {
            states_of_client: 40,
            ranges_of_client: 30,
            waiters_of_client: 4,
            ..StateBounds::default()
        },
        ..StateSettings::new(epoch, 7)
    }
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut world = Self {
            random: Random::new(seed),
            now: Duration::ZERO,
            state: NfsState::new(settings(1), RecoveryRecords::default()),
            epoch: 1,
            disk: RecoveryRecords::default(),
            written: Serial(0),
            pending: Vec::new(),
            machines: (0..MACHINES).map(Machine::new).collect(),
            hosts: (0..HOSTS).map(Host::new).collect(),
            truth: Truth::default(),
            naive: Naive::default(),
            heard: HashMap::new(),
            calm: 50 << (seed % 6),
            seen: Seen::default(),
        };
        let _ = world.deliver();
        world
    }

    pub fn step(&mut self) {
        match self.random.below(100) {
            _ if self.random.one_in(self.calm) => self.crash(),
            0..10 => self.pass_time(),
            20..24 => self.local_step(),
            24..26 => self.change_as_nobody(),
            10..20 => {
                let host = self.random.index(HOSTS);
                self.host_step(host);
            }
            _ => {
                let machine = self.random.index(MACHINES);
                self.machine_step(machine);
            }
        }
        self.check();
    }

    fn pass_time(&mut self) {
        let most = if self.random.one_in(20) { LEASE.as_millis() as u64 * 4 } else { 1_500 };
        self.now += Duration::from_millis(self.random.below(most));
        self.state.expire(self.now);
        self.saw("time");
        if self.deliver() {
            self.state.expire(self.now);
            let again = self.state.take_effects();
            assert_eq!(again.list, [], "a second time changes nothing");
        }
    }

    /// The server ends, and what was not yet written is lost, but for some of it. It starts again.
    pub fn crash(&mut self) {
        self.saw("crash");
        let written = self.random.index(self.pending.len() + 1);
        self.write(written);
        self.pending.clear();
        self.written = Serial(0);
        self.now += Duration::from_millis(self.random.below(3_000));
        self.epoch = self.disk.next_epoch();
        // The clock starts anew with the server.
        self.now = Duration::ZERO;
        self.state = NfsState::new(settings(self.epoch), self.disk.clone());
        self.naive = Naive::default();
        // None can be reclaimed.
        self.truth.held.retain(|one| one.thing != Thing::Delegation);
        self.machines.iter_mut().for_each(|machine| machine.delegations.clear());
        self.heard.clear();
        self.hosts.iter_mut().for_each(|host| host.id = None);
        self.machines.iter_mut().for_each(|machine| machine.silent_until = machine.silent_until.min(LEASE));
        let effects = self.state.take_effects();
        self.queue(&effects.list);
        self.write(self.pending.len());
        self.end_grace();
    }

    /// What nobody reclaimed is lost once grace is over.
    pub fn end_grace(&mut self) {
        if !self.state.is_grace() {
            let epoch = self.epoch;
            self.truth.revoked(|party| party.epoch() != epoch);
        }
    }

    /// Writes the first of what is on its way to the disk.
    pub fn write(&mut self, count: usize) {
        for (serial, record) in self.pending.drain(..count) {
            self.disk.apply(&record);
            self.written = serial;
            if record == howdah_state::DurableRecord::EndGrace {
                // Also if the server crashes before it does anything else: who did not come back in time has lost what it had.
                let epoch = self.epoch;
                self.truth.revoked(|party| party.epoch() != epoch);
            }
        }
    }

    pub fn is_lapsed(&self, client: ClientId) -> bool {
        self.heard.get(&client).is_none_or(|heard| self.now.saturating_sub(*heard) > LEASE)
    }

    /// Whether somebody holds what keeps an owner from a lock, and has not lost its right to.
    pub fn is_locked(&self, key: u8, owner: &LockOwner, range: ByteRange, kind: LockKind) -> bool {
        let mut others = self.naive.conflicts(key, owner, range, kind).map(LockOwner::client);
        others.any(|other| other.is_none_or(|other| owner.client() == Some(other) || !self.is_lapsed(other)))
    }

    /// Whether somebody may have its turn to take a lock, or get one when a client ends that is in the way.
    pub fn has_turns(&self, key: u8) -> bool {
        self.state.files().locks.waits().any(|wait| {
            // A local process may take what somebody has its turn for.
            let may_have_one = |holder: &LockOwner| {
                *holder == LockOwner::Local || holder.client().is_some_and(|client| self.is_lapsed(client))
            };
            *wait.key == key && wait.holder.is_none_or(may_have_one)
        })
    }

    pub fn key(&mut self) -> u8 {
        self.random.below(KEYS) as u8
    }

    pub fn range(&mut self) -> ByteRange {
        let first = self.random.below(BYTES);
        let last = first + self.random.below(BYTES - first);
        ByteRange { first, last: if last == BYTES - 1 { u64::MAX } else { last } }
    }

    pub fn kind(&mut self) -> LockKind {
        if self.random.one_in(2) { LockKind::Read } else { LockKind::Write }
    }

    pub fn saw(&mut self, what: &'static str) {
        *self.seen.0.entry(what).or_default() += 1;
    }

    fn check(&mut self) {
        self.naive.assert_is(&self.state);
        let denying = self.naive.opens.iter().filter(|one| one.deny.bits() != 0).count();
        assert_eq!(
            self.state.files().shares.restrictions().load(std::sync::atomic::Ordering::Relaxed),
            denying,
            "restrictions"
        );
        let bounds = settings(self.epoch).bounds;
        for client in self.state.clients(self.now) {
            assert!(client.opens <= bounds.states_of_client && client.locks <= bounds.ranges_of_client + 2);
            let opens = self.naive.opens.iter().filter(|one| one.open.client == client.client).count();
            assert_eq!(client.opens, opens, "opens of {client:?}");
            let mine = self.naive.delegations.iter().filter(|one| one.client == client.client).count();
            assert_eq!(client.delegations, mine, "delegations of {client:?}");
        }
        assert_eq!(self.state.files().delegations.count(), self.naive.delegations.len());
        assert!(self.state.files().count() <= KEYS as usize);
        assert!(
            self.state.files().locks.waits().count() <= bounds.waiters_of_client * (MACHINES * 2 + HOSTS)
        );
    }

    /// Everybody goes, and nothing is left.
    pub fn finish(&mut self) {
        let clients: Vec<ClientId> = self.state.clients(self.now).map(|client| client.client).collect();
        clients.into_iter().for_each(|client| assert!(self.state.release_client(self.now, client)));
        let hosts: Vec<_> = self.state.hosts().iter().map(|(host, _)| host).collect();
        hosts.into_iter().for_each(|host| self.state.release_host(self.now, host));
        for key in 0..KEYS as u8 {
            self.state.set_local(self.now, &key, ByteRange::ALL, None);
        }
        let _ = self.state.take_effects();
        assert_eq!(self.state.files().count(), 0);
        assert_eq!(self.state.files().locks.held().count() + self.state.files().locks.waits().count(), 0);
        assert_eq!(self.state.records().present_clients().count(), 0);
        assert_eq!(self.state.records().present_hosts().count(), 0);
    }
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(what, times)| *self.0.entry(what).or_default() += times);
    }

    /// All that can happen did, and not once.
    pub fn assert_all(&self) {
        let all = [
            "crash",
            "time",
            "answer lost",
            "open",
            "open denied",
            "open in grace",
            "open reclaimed",
            "lock",
            "lock denied",
            "lock reclaimed",
            "reclaim refused",
            "unlock",
            "close",
            "downgrade",
            "kernel refused",
            "client ended by conflict",
            "client replaced",
            "notified",
            "granted to host",
            "host lock",
            "host reclaimed",
            "host blocked",
            "grace ended",
            "destroyed",
            "busy",
            "host ended",
            "delegated",
            "recalled",
            "revoked",
            "given back",
            "changed",
            "change delayed",
            "open delayed",
            "deadlock",
        ];
        let rare: Vec<_> =
            all.iter().filter(|what| self.0.get(*what).is_none_or(|times| *times < 20)).collect();
        assert!(rare.is_empty(), "seldom or never: {rare:?} in {self:?}");
    }
}
