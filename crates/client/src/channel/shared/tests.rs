//! Calls that change lanes while something else happens to them, one step after the other.

use std::net::{SocketAddr, TcpListener};

use howdah_rpc::client::lanes::Lanes;

use super::super::link::Link;
use super::*;
use crate::channel::ChannelOptions;

/// A channel of two lanes that nobody tends. The second is connected.
fn two_lanes() -> (Shared, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let hub = Arc::new(Hub::new(ChannelOptions::default()));
    let addresses: Arc<[SocketAddr]> = vec![address].into();
    let lane = |index| Arc::new(Lane::new(index, Arc::clone(&addresses), Arc::clone(&hub)));
    let lanes = vec![lane(0), lane(1)];
    let connection =
        howdah_net::Connection::open(address, &hub.connect_settings()).expect("the listener takes it");
    lanes[1].set_link(Some(Arc::new(Link::new(connection, hub.next_link(), hub.time()))));
    let growth = Growth::new(Lanes::Fixed(2), true);
    (Shared::new(hub, lanes, None, Sizes::new(true), (growth, None)), listener)
}

/// A call that the first lane was just given.
fn given_to_the_first(shared: &Shared, now: Instant) -> Arc<Call> {
    let lane = &shared.lanes[0];
    let request = Request::null(100_003, 3);
    let call = Arc::new(shared.hub.prepare(request, 0, Place::None, now, Some(Arc::clone(lane))));
    lane.enter(&call);
    call
}

/// Other code locks the table first, then the meter. With both orders two threads can block each other for ever.
#[test]
fn no_meter_is_held_while_a_table_is_asked_for() {
    let (shared, _listener) = two_lanes();
    let asked = std::cell::Cell::new(0);
    shared.first_to_deliver(0, |lane| {
        asked.set(asked.get() + 1);
        assert!(!lane.meter.is_locked(), "lane {}", lane.index);
        true
    });
    assert_eq!(asked.get(), 2);
}

#[test]
fn a_call_that_changes_lanes_before_it_may_go_out_is_sent() {
    let ((shared, _listener), now) = (two_lanes(), Instant::now());
    let call = given_to_the_first(&shared, now);
    shared.rehome(&shared.lanes[0]);
    assert!(shared.lanes[1].carries(&call));
    assert_eq!(call.sends(), 0, "it may not go out yet");
    shared.launch(&shared.lanes[0], &call, now);
    assert_eq!(call.sends(), 1);
}

#[test]
fn a_call_that_is_over_stays_on_no_lane() {
    let ((shared, _listener), now) = (two_lanes(), Instant::now());
    let call = given_to_the_first(&shared, now);
    shared.hub.finish(&call, Err(CallError::TimedOut), now);
    shared.rehome(&shared.lanes[0]);
    assert_eq!([shared.lanes[0].load(), shared.lanes[1].load()], [0, 0]);
}
