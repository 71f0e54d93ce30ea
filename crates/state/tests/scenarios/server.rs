//! A server with small bounds and connected clients.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use howdah_state::{
    ByteRange, ClientCaller, ClientId, ClientIdentity, Effect, ExchangeAnswer, HostId, LockGrant, LockKind,
    LockRequest, Locker, NfsState, OpenAnswer, OpenRequest, Principal, RecoveryRecords, SessionAnswer,
    ShareAccess, ShareDeny, StateBounds, StateError, StateId, StateSettings,
};

pub type State = NfsState<&'static str, ()>;

/// The address that clients call.
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 254));

pub const LEASE: Duration = Duration::from_secs(90);

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn principal(name: &str) -> Principal {
    Principal(name.as_bytes().into())
}

pub fn start(bounds: StateBounds) -> State {
    let mut state =
        NfsState::new(StateSettings { bounds, ..StateSettings::new(1, 1) }, RecoveryRecords::default());
    state.take_effects();
    state
}

/// A server with the usual bounds.
pub fn server() -> State {
    start(StateBounds::default())
}

/// A server that starts after one whose log came to this.
pub fn restart(state: &mut State) -> State {
    let records = state.records().clone();
    let mut state = NfsState::new(StateSettings::new(records.next_epoch(), 1), records);
    state.take_effects();
    state
}

pub fn exchange(
    state: &mut State,
    now: Duration,
    name: &str,
    verifier: u8,
    who: &str,
    update: bool,
) -> Result<ExchangeAnswer, StateError> {
    let principal = principal(who);
    let peer = address(who);
    let (owner, verifier, server) = (name.as_bytes(), [verifier; 8], SERVER);
    let identity = ClientIdentity { owner, verifier, principal: &principal, peer, network: peer, server };
    state.exchange_id(now, identity, update)
}

/// Where calls of a principal come from.
pub fn address(who: &str) -> IpAddr {
    [192, 0, 2, who.as_bytes()[0]].into()
}

pub fn create(
    state: &mut State,
    now: Duration,
    exchanged: ExchangeAnswer,
    who: &str,
) -> Result<SessionAnswer<()>, StateError> {
    create_from(state, now, exchanged, (who, address(who)))
}

/// The same by a principal from an address.
pub fn create_from(
    state: &mut State,
    now: Duration,
    ExchangeAnswer { client, sequence, .. }: ExchangeAnswer,
    (who, network): (&str, IpAddr),
) -> Result<SessionAnswer<()>, StateError> {
    let principal = &principal(who);
    state.create_session(now, client, sequence, ClientCaller { principal, network }, 8, ())
}

/// DESTROY_CLIENTID.
pub fn destroy(state: &mut State, client: ClientId, who: &str) -> Result<(), StateError> {
    let (principal, network) = (&principal(who), address(who));
    state.destroy_client_id(Duration::ZERO, client, ClientCaller { principal, network })
}

/// A client with a session that reclaims nothing.
pub fn connect(state: &mut State, now: Duration, name: &str) -> ClientId {
    let client = confirm(state, now, name);
    state.reclaim_complete(now, client, false).expect("RECLAIM_COMPLETE");
    client
}

/// A client with a session.
pub fn confirm(state: &mut State, now: Duration, name: &str) -> ClientId {
    let exchanged = exchange(state, now, name, 1, name, false).expect("EXCHANGE_ID");
    create(state, now, exchanged, name).expect("CREATE_SESSION");
    exchanged.client
}

pub fn open(
    state: &mut State,
    now: Duration,
    client: ClientId,
    owner: &str,
    (access, deny): (ShareAccess, ShareDeny),
) -> Result<OpenAnswer, StateError> {
    let (owner, key) = (owner.as_bytes(), &"file");
    state.open(now, OpenRequest { client, owner, key, access, deny, is_reclaim: false })
}

pub const BOTH: (ShareAccess, ShareDeny) = (ShareAccess::BOTH, ShareDeny::NONE);

pub fn range(first: u64, last: u64) -> ByteRange {
    ByteRange { first, last }
}

/// A write lock of an owner who has not locked the file yet.
pub fn lock(
    state: &mut State,
    now: Duration,
    client: ClientId,
    open: StateId,
    range: ByteRange,
) -> Result<LockGrant<&'static str>, StateError> {
    let locker = Locker::New { open, owner: b"process" };
    let kind = LockKind::Write;
    state.lock(now, LockRequest { client, locker, key: &"file", kind, range, waits: true, is_reclaim: false })
}

pub fn has_record(effects: &[Effect<&'static str>]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Persist { .. }))
}

/// The number of an NLM host.
pub fn nlm_host(state: &mut State, name: &[u8]) -> Result<HostId, StateError> {
    state.nlm(Duration::ZERO).host(name, address("h"))
}
