//! Memory of ten thousand NFSv4 clients with a hundred opens each. One more client opens files until it is refused; the others can
//! still open files.

mod common;

use std::net::IpAddr;

use howdah_server::states::{FileKey, SessionData, StateOptions, States};
use howdah_server::{Ends, Peer, Transport};
use howdah_state::limits::{MEMORY_MAX, MEMORY_OF_NETWORK_MAX};
use howdah_state::{
    ClientId, ClientIdentity, MemoryBounds, OpenRequest, Principal, SessionAnswer, ShareAccess, ShareDeny,
    StateError,
};
use howdah_vfs::Handle;
use howdah_wire::nfs4::create_session::ChannelSizes;
use parking_lot::Mutex;

const CLIENTS: u32 = 10_000;
const OPENS: u32 = 100;
/// Most bytes of memory for an open, with its file, owner and share.
const OPEN_MOST: usize = 1_500;
/// Most bytes of memory for a client without opens.
const CLIENT_MOST: usize = 8 << 10;

fn connect(states: &States, name: u32) -> ClientId {
    // Not all behind one address, which has a bound of its own.
    connect_from(states, name, IpAddr::from((0x0a00_0000 | name).to_be_bytes()))
}

fn connect_from(states: &States, name: u32, peer: IpAddr) -> ClientId {
    let principal = Principal(Box::new([1]));
    let owner = format!("Linux NFSv4.2 client-{name}");
    let sizes = ChannelSizes {
        header_padding: 0,
        request: 1 << 20,
        response: 1 << 20,
        kept_response: 8 << 10,
        operations: 8,
        slots: 64,
        rdma_reads: None,
    };
    let made = states.ask(|state, now| {
        let identity = ClientIdentity {
            owner: owner.as_bytes(),
            verifier: [1; 8],
            principal: &principal,
            peer,
            network: peer,
            server: peer,
        };
        let exchanged = state.exchange_id(now, identity, false)?;
        let ends = Ends { client: (peer, 700).into(), server: (peer, 2049).into() };
        let data = SessionData::new(sizes, &Peer::plain(ends, Transport::Tcp));
        let session =
            state.create_session(now, exchanged.client, exchanged.sequence, identity.caller(), 64, data)?;
        assert!(matches!(session, SessionAnswer::Created(_)));
        state.reclaim_complete(now, exchanged.client, false)?;
        Ok(exchanged.client)
    });
    made.expect("a client")
}

fn open(states: &States, client: ClientId, file: u64) -> Result<(), StateError> {
    open_as(states, client, file, b"open id:12345678")
}

fn open_as(states: &States, client: ClientId, file: u64, owner: &[u8]) -> Result<(), StateError> {
    let node = Handle::new(&[&file.to_be_bytes()[..], &[7; 24]].concat()).expect("a handle");
    let key = FileKey { export: 1, node };
    states.ask(|state, now| {
        let (access, deny) = (ShareAccess::BOTH, ShareDeny::NONE);
        state.open(now, OpenRequest { client, owner, key: &key, access, deny, is_reclaim: false })?;
        Ok(())
    })
}

/// The tests look at the memory of this process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn ten_thousand_clients_with_a_hundred_opens_fit_and_one_that_leaks_hurts_nobody() {
    let _alone = ALONE.lock();
    // As on a large host, on whatever this runs.
    let memory = MemoryBounds { all: MEMORY_MAX, of_network: MEMORY_OF_NETWORK_MAX };
    let states = States::new(StateOptions { memory, ..StateOptions::forgetful() });
    let before = common::resident();
    let clients: Vec<ClientId> = (0..CLIENTS).map(|name| connect(&states, name)).collect();
    let with_clients = common::resident();
    for (client, number) in clients.iter().zip(0_u64..) {
        (0..u64::from(OPENS)).for_each(|open_number| {
            open(&states, *client, number * u64::from(OPENS) + open_number).expect("opened");
        });
    }
    let with_opens = common::resident();
    let (of_client, of_open) = (
        (with_clients - before) / CLIENTS as usize,
        (with_opens - with_clients) / (CLIENTS * OPENS) as usize,
    );
    assert!(of_client <= CLIENT_MOST, "{of_client} bytes a client");
    assert!(of_open <= OPEN_MOST, "{of_open} bytes an open");
    let leaker = connect(&states, CLIENTS);
    let mut opens = 0_u64;
    let refused = loop {
        match open(&states, leaker, (1 << 40) + opens) {
            Ok(()) => opens += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, StateError::NoSpace, "after {opens} opens");
    for client in &clients {
        open(&states, *client, 1 << 50).expect("others go on");
    }
    states.tick();
    assert!(states.clients().iter().any(|view| view.client == leaker && view.opens as u64 == opens));
}

/// Most bytes that the clients of one address hold, of those that the server counts, and what the allocator adds.
const OF_ADDRESS_MOST: usize = MEMORY_OF_NETWORK_MAX / 4 * 5;

#[test]
fn four_clients_of_one_address_with_long_owners_hold_bounded_memory_and_give_it_back() {
    let _alone = ALONE.lock();
    let states = States::new(StateOptions::forgetful());
    let before = common::resident();
    let address = IpAddr::from([192, 0, 2, 1]);
    let greedy: Vec<ClientId> = (0..4).map(|name| connect_from(&states, name, address)).collect();
    let long = |number: u64| format!("{number:01010}");
    let mut opens = 0_u64;
    while open_as(&states, greedy[opens as usize % 4], opens, long(opens).as_bytes()).is_ok() {
        opens += 1;
    }
    let held = common::resident() - before;
    assert!(held < OF_ADDRESS_MOST, "{opens} opens hold {held} bytes");
    // A client of another address has all that it wants.
    let other = connect(&states, 7);
    (0..1_000).for_each(|number| open(&states, other, (1 << 50) + number).expect("opened"));
    states.tick();
    for client in greedy {
        let released = states.ask(|state, now| Ok(state.release_client(now, client)));
        assert_eq!(released, Ok(true));
    }
    states.tick();
    let left = common::resident().saturating_sub(before);
    assert!(left < held / 4, "{left} bytes of {held} are still held");
}
