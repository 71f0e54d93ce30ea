//! The state of NFSv4 and NLM under any calls: no two owners hold what excludes each other, records come in order, and what they
//! come to is what the state says.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use howdah_state::{
    ByteRange, ClientCaller, ClientId, ClientIdentity, Effect, Effects, IoKind, LockGrant, LockKind,
    LockRequest, Locker, NfsState, NlmLockRequest, NlmOwner, OpenRequest, Principal, RecoveryRecords, Serial,
    ShareAccess, ShareDeny, StateBounds, StateId, StateSettings,
};

/// The most events of one input.
const EVENTS_MAX: usize = 500;
const STATES_MAX: usize = 8;
/// Where all calls come from.
const NETWORK: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

#[derive(Debug, Arbitrary)]
enum Event {
    Exchange { name: u8, verifier: u8, principal: u8, update: bool },
    Create { client: u8, later: i8, principal: u8 },
    Complete { client: u8, one_fs: bool },
    Open { client: u8, owner: u8, key: u8, access: u8, deny: u8, is_reclaim: bool },
    Downgrade { client: u8, state: u8, key: u8, access: u8, deny: u8 },
    Close { client: u8, state: u8, key: u8 },
    Lock { client: u8, state: u8, owner: Option<u8>, key: u8, how: How, is_refused: bool },
    Unlock { client: u8, state: u8, key: u8, how: How },
    Io { client: u8, state: u8, key: u8, is_write: bool },
    Free { client: u8, state: u8 },
    DestroySession { session: u8 },
    Destroy { client: u8, is_forced: bool },
    NlmLock { host: u8, svid: u8, key: u8, how: How, is_refused: bool },
    NlmUnlock { host: u8, svid: u8, key: u8, how: How },
    NlmCancel { host: u8, svid: u8, key: u8, how: How },
    NlmShare { host: u8, key: u8, access: u8, deny: u8, is_reclaim: bool },
    NlmUnshare { host: u8, key: u8 },
    NlmRelease { host: u8 },
    Time { seconds: u8 },
    Restart,
}

/// Of a lock.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct How {
    first: u64,
    length: u64,
    is_write: bool,
    waits: bool,
    is_reclaim: bool,
}

impl How {
    fn range(self) -> ByteRange {
        // Half of them near to each other.
        let (first, length) =
            if self.waits { (self.first % 32, self.length % 32) } else { (self.first, self.length) };
        ByteRange::from_length(first, length).unwrap_or(ByteRange { first, last: u64::MAX })
    }

    fn kind(self) -> LockKind {
        if self.is_write { LockKind::Write } else { LockKind::Read }
    }
}

struct Server {
    state: NfsState<u8, ()>,
    now: Duration,
    disk: RecoveryRecords,
    written: Serial,
    clients: Vec<(ClientId, u32)>,
    states: Vec<StateId>,
    sessions: Vec<howdah_state::SessionId>,
}

/// Every event is an input's next bytes.
pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let mut server = Server::start(RecoveryRecords::default());
    for _ in 0..EVENTS_MAX {
        let Some(event) = (!input.is_empty()).then(|| input.arbitrary::<Event>().ok()).flatten() else {
            return;
        };
        if matches!(event, Event::Restart) {
            server = Server::start(server.disk);
            continue;
        }
        server.apply(event);
        server.check();
    }
}

impl Server {
    fn start(disk: RecoveryRecords) -> Self {
        let bounds =
            StateBounds { states_of_client: STATES_MAX, ranges_of_client: 8, ..StateBounds::default() };
        let settings = StateSettings { bounds, ..StateSettings::new(disk.next_epoch(), 1) };
        let mut server = Self {
            state: NfsState::new(settings, disk.clone()),
            now: Duration::ZERO,
            disk,
            written: Serial(0),
            clients: Vec::new(),
            states: vec![StateId::ANONYMOUS, StateId::READ_BYPASS, StateId::INVALID],
            sessions: Vec::new(),
        };
        server.check();
        server
    }

    fn client(&self, which: u8) -> ClientId {
        let client = self.clients.get(usize::from(which) % self.clients.len().max(1));
        client.map_or(ClientId(u64::from(which)), |(client, _)| *client)
    }

    fn stateid(&self, which: u8) -> StateId {
        self.states[usize::from(which) % self.states.len()]
    }

    fn owner(&mut self, host: u8, svid: u8) -> NlmOwner {
        let host = self.state.nlm(self.now).host(&[host % 3], NETWORK).expect("few hosts");
        NlmOwner { host, svid: u32::from(svid % 2), oh: [0].into() }
    }

    fn apply(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Exchange { name, verifier, principal, update } => {
                self.exchange(name, verifier, principal, update)
            }
            Event::Create { client, later, principal } => self.create(client, later, principal),
            Event::Complete { client, one_fs } => {
                let _ = self.state.reclaim_complete(now, self.client(client), one_fs);
            }
            Event::Open { client, owner, key, access, deny, is_reclaim } => {
                let (access, deny) = modes(access, deny);
                let (client, owner, key) = (self.client(client), &[owner % 3][..], &(key % 3));
                let opened =
                    self.state.open(now, OpenRequest { client, owner, key, access, deny, is_reclaim });
                self.states.extend(opened.map(|opened| opened.stateid));
            }
            Event::Downgrade { client, state, key, access, deny } => {
                let (access, deny) = modes(access, deny);
                let (client, state) = (self.client(client), self.stateid(state));
                self.states.extend(self.state.downgrade(client, state, &(key % 3), access, deny));
            }
            Event::Close { client, state, key } => {
                let _ = self.state.close(now, self.client(client), self.stateid(state), &(key % 3));
            }
            Event::Lock { client, state, owner, key, how, is_refused } => {
                self.lock(client, state, owner, key % 3, (how, is_refused));
            }
            Event::Unlock { client, state, key, how } => {
                let (client, state) = (self.client(client), self.stateid(state));
                self.states.extend(self.state.unlock(now, client, state, &(key % 3), how.range()));
            }
            Event::Io { client, state, key, is_write } => {
                let io = if is_write { IoKind::Write } else { IoKind::Read };
                let _ = self.state.check_io(now, self.client(client), self.stateid(state), &(key % 3), io);
            }
            Event::Free { client, state } => {
                let _ = self.state.free_stateid(self.client(client), self.stateid(state));
            }
            Event::DestroySession { session } if !self.sessions.is_empty() => {
                let session = self.sessions[usize::from(session) % self.sessions.len()];
                let _ = self.state.destroy_session(session);
            }
            Event::Destroy { client, is_forced: false } => {
                // Of one of the two it is.
                for principal in [[0], [1]].map(|name| Principal(name.into())) {
                    let caller = ClientCaller { principal: &principal, network: NETWORK };
                    let _ = self.state.destroy_client_id(now, self.client(client), caller);
                }
            }
            Event::Destroy { client, is_forced: true } => {
                self.state.release_client(now, self.client(client));
            }
            Event::Time { seconds } => self.now += Duration::from_secs(u64::from(seconds)),
            event => self.apply_nlm(event),
        }
        if matches!(self.now.as_secs() % 3, 0) {
            self.state.expire(self.now);
        }
    }

    fn apply_nlm(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::NlmLock { host, svid, key, how, is_refused } => {
                let (owner, key, range, kind) = (self.owner(host, svid), &(key % 3), how.range(), how.kind());
                let How { waits, is_reclaim, .. } = how;
                let request = NlmLockRequest { owner: &owner, key, kind, range, waits, is_reclaim };
                if let Ok(grant) = self.state.nlm(now).lock(request)
                    && is_refused
                {
                    self.state.refuse(now, &grant, false);
                }
            }
            Event::NlmUnlock { host, svid, key, how } => {
                let owner = self.owner(host, svid);
                let _ = self.state.nlm(now).unlock(&owner, &(key % 3), how.range());
            }
            Event::NlmCancel { host, svid, key, how } => {
                let owner = self.owner(host, svid);
                self.state.nlm(now).cancel(&owner, &(key % 3), how.kind(), how.range());
            }
            Event::NlmShare { host, key, access, deny, is_reclaim } => {
                let owner = self.owner(host, 0);
                let _ = self.state.nlm(now).share(&owner, &(key % 3), modes(access, deny), is_reclaim);
            }
            Event::NlmUnshare { host, key } => {
                let owner = self.owner(host, 0);
                self.state.nlm(self.now).unshare(&owner, &(key % 3));
            }
            Event::NlmRelease { host } => {
                let owner = self.owner(host, 0);
                self.state.release_host(now, owner.host);
            }
            _ => {}
        }
    }

    fn exchange(&mut self, name: u8, verifier: u8, principal: u8, update: bool) {
        let identity = ClientIdentity {
            owner: &[name % 4],
            verifier: [verifier % 2; 8],
            principal: &Principal([principal % 2].into()),
            peer: NETWORK,
            network: NETWORK,
            server: [192, 0, 2, 2].into(),
        };
        if let Ok(exchanged) = self.state.exchange_id(self.now, identity, update) {
            self.clients.push((exchanged.client, exchanged.sequence));
        }
    }

    fn create(&mut self, client: u8, later: i8, principal: u8) {
        let Some((client, sequence)) = self.clients.get(usize::from(client) % self.clients.len().max(1))
        else {
            return;
        };
        let (client, sequence) = (*client, sequence.wrapping_add_signed(i32::from(later.clamp(-1, 1))));
        let principal = Principal([principal % 2].into());
        let caller = ClientCaller { principal: &principal, network: NETWORK };
        let created = self.state.create_session(self.now, client, sequence, caller, 4, ());
        if let Ok(howdah_state::SessionAnswer::Created(session)) = created {
            self.sessions.push(session.id());
            self.state.answer_created(client, sequence, Some(&[0]));
        }
    }

    fn lock(&mut self, client: u8, state: u8, owner: Option<u8>, key: u8, (how, is_refused): (How, bool)) {
        let (client, state) = (self.client(client), self.stateid(state));
        let owner = owner.map(|owner| [owner % 3]);
        let locker =
            owner.as_ref().map_or(Locker::Existing(state), |owner| Locker::New { open: state, owner });
        let How { waits, is_reclaim, .. } = how;
        let (key, kind, range) = (&key, how.kind(), how.range());
        match self.state.lock(self.now, LockRequest { client, locker, key, kind, range, waits, is_reclaim }) {
            Ok(answer) if is_refused => self.state.refuse(self.now, &answer, false),
            Ok(answer) => self.states.push(answer.stateid),
            Err(_) => {}
        }
    }

    fn check(&mut self) {
        let effects = self.state.take_effects();
        self.write(&effects);
        assert!(effects.durable <= self.written);
        assert_eq!(self.disk, *self.state.records());
        let held: Vec<_> = self.state.files().locks.held().collect();
        for (at, one) in held.iter().enumerate() {
            let excludes = |other: &&howdah_state::LockView<'_, u8>| {
                other.key == one.key && other.range.overlaps(one.range) && other.kind.excludes(one.kind)
            };
            let other = held[at + 1..].iter().find(excludes);
            assert!(other.is_none(), "{one:?} and {other:?}");
        }
        assert!(self.state.clients(self.now).all(|client| client.opens <= STATES_MAX));
    }

    fn write(&mut self, effects: &Effects<u8>) {
        for effect in &effects.list {
            match effect {
                Effect::Persist { serial, record } => {
                    assert_eq!(serial.0, self.written.0 + 1);
                    self.written = *serial;
                    self.disk.apply(record);
                }
                Effect::Granted { grant: LockGrant { owner, .. }, owner: to } => {
                    assert_eq!(owner.host(), Some(to.host));
                }
                Effect::Mirror { key, range } => {
                    let (pieces, _) = self.state.files().locks.ranges.union(key, *range);
                    let meets = |pair: &[howdah_state::MirrorPiece]| {
                        pair[0].range.last + 1 == pair[1].range.first && pair[0].kind != pair[1].kind
                    };
                    assert!(!pieces.is_empty() && pieces.windows(2).all(meets), "{pieces:?}");
                }
                _ => {}
            }
        }
    }
}

fn modes(access: u8, deny: u8) -> (ShareAccess, ShareDeny) {
    let access = ShareAccess::from_bits(u32::from(access % 4)).expect("two bits");
    // Seldom, or nothing is ever opened.
    let deny = if deny > 200 { u32::from(deny % 4) } else { 0 };
    (access, ShareDeny::from_bits(deny).expect("two bits"))
}
