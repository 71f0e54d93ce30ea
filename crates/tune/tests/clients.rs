//! The connections of a client count as one for whatever is shared; and their sums outlive them.

use std::net::IpAddr;
use std::time::Duration;

use howdah_tune::budget::{Budget, HostMemory, MemoryUse, Pressure};
use howdah_tune::host::Host;
use howdah_tune::{
    Algorithm, Own, PathState, Receiving, Sample, Sending, Setting, Settings, SizeChange, Tuner, Verdict,
};

const MIB: u64 = 1 << 20;

fn tuner() -> Tuner<u32> {
    let host = Host {
        may_force: true,
        send_autotuned_most: 4 * MIB,
        receive_autotuned_most: 32 * MIB,
        send_unforced_most: 8 * MIB,
        has_bbr: true,
    };
    let memory = HostMemory { total: 64 << 30, tcp: [4 << 30, 6 << 30, 8 << 30], group: None };
    Tuner::new(Settings { budget: Budget::fixed(512 * MIB), ..Settings::automatic(host, memory) })
}

fn client(number: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, number])
}

fn second(number: u64) -> Duration {
    Duration::from_secs(number)
}

/// A connection over 100 ms whose window is the kernel's largest; it has moved so much by that time.
fn sample(at: u64, sent: u64, received: u64) -> Sample {
    Sample {
        at: second(at),
        sending: Sending { sent, ..Sending::default() },
        receiving: Receiving {
            received,
            window: Some(22 * MIB),
            window_limit: 65_535 << 10,
            ..Receiving::default()
        },
        path: PathState {
            rtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(100),
            ..PathState::default()
        },
        ..Sample::default()
    }
}

#[test]
fn clients_share_first_and_then_the_connections_of_each() {
    let mut tuner = tuner();
    // Seven lanes of one client, one connection of another.
    for key in 0..8 {
        tuner.on_open_from(second(0), key, client(u8::from(key == 7)), false);
    }
    for at in 0..3 {
        for key in 0..8 {
            tuner.on_sample(key, sample(at, at * 100 * MIB, 0));
        }
    }
    let ceiling = |key| tuner.get(key).expect("it is open").send_ceiling();
    // Half of the budget is for sending, half of that for each client: sizes are left alone within a factor of 2.
    let (lanes, alone): (u64, u64) = ((0..7).map(ceiling).sum(), ceiling(7));
    assert!((64 * MIB..=256 * MIB).contains(&alone), "{alone}");
    assert!((64 * MIB..=256 * MIB).contains(&lanes), "{lanes}");
}

#[test]
fn a_client_with_many_lanes_leaves_others_their_part_of_what_is_promised() {
    let mut tuner = tuner();
    for key in 0..9 {
        tuner.on_open_from(second(0), key, client(u8::from(key == 0)), false);
    }
    let mut promised = |at, keys: std::ops::Range<u32>| {
        for key in keys {
            tuner.on_sample(key, sample(at, 0, at * 220 * MIB));
        }
        let of = |wanted| move |one: &&howdah_tune::Connection| one.client() == client(wanted);
        let all: Vec<_> = tuner.connections().map(|(_, one)| one).collect();
        let sum = |number| all.iter().filter(|one| of(number)(one)).map(|one| one.promised()).sum::<u64>();
        (sum(0), sum(1))
    };
    // Both are busy from the beginning: no more than half for each.
    promised(0, 0..9);
    promised(1, 0..9);
    let (lanes, alone) = promised(2, 0..9);
    assert!(lanes <= 128 * MIB && alone > 22 * MIB, "{lanes} {alone}");
}

#[test]
fn whoever_has_more_than_its_part_gives_back_when_others_come() {
    let mut tuner = tuner();
    for key in 0..8 {
        tuner.on_open_from(second(0), key, client(0), false);
    }
    let move_all = |tuner: &mut Tuner<u32>, keys: std::ops::Range<u32>, ats: std::ops::Range<u64>| {
        for at in ats {
            for key in keys.clone() {
                tuner.on_sample(key, sample(at, 0, at * 220 * MIB));
            }
        }
    };
    move_all(&mut tuner, 0..8, 0..4);
    assert!(tuner.promised() > 192 * MIB, "alone it may have nearly all: {}", tuner.promised());
    tuner.on_open_from(second(4), 8, client(1), false);
    move_all(&mut tuner, 0..9, 4..6);
    let orders = tuner.on_memory(second(6), &MemoryUse::default());
    assert_eq!(tuner.pressure(), Pressure::None);
    let back: Vec<u32> = orders
        .iter()
        .filter(|(_, change)| matches!(change, SizeChange::Clamp(_)))
        .map(|(key, _)| *key)
        .collect();
    assert!(!back.is_empty() && !back.contains(&8), "{orders:?}");
}

#[test]
fn the_sums_of_a_client_outlive_its_connections_and_its_idle_time_counts() {
    let mut tuner = tuner();
    tuner.on_open_from(second(0), 1, client(0), false);
    tuner.on_open_from(second(0), 2, client(0), false);
    for at in 0..5 {
        for key in [1, 2] {
            let mut sample = sample(at, at * 1000, 0);
            (sample.sending.retransmitted, sample.sending.spurious) = (at * 10, at);
            tuner.on_sample(key, sample);
        }
    }
    tuner.on_close(second(5), 1).expect("it was open");
    // Nothing moves any more, so the other is not looked at any more.
    for at in 5..60 {
        tuner.on_memory(second(at), &MemoryUse::default());
    }
    let idle = tuner.get(2).expect("it is open").account().sending[&Verdict::Idle];
    assert!(idle >= second(50), "{idle:?}");
    let ledger = tuner.ledger(second(59));
    let meter = &ledger[&client(0)];
    let moved = meter.total().moved;
    assert_eq!((moved.sent, moved.retransmitted, moved.spurious), (2 * 4000, 2 * 40, 2 * 4));
    let last: Duration = meter.last(second(59)).sending.values().sum();
    assert_eq!(last, second(10), "one connection, one period");
    tuner.on_close(second(60), 2).expect("it was open");
    let (known, gone) = tuner.clients().next().expect("it is remembered");
    assert_eq!((*known, gone.opened(), gone.totals().connections), (client(0), 2, 0));
    assert_eq!(gone.closed().total().moved.sent, 8000);
}

#[test]
fn what_a_connection_moved_after_the_last_look_at_it_counts() {
    let mut tuner = tuner();
    tuner.on_open_from(second(0), 1, client(0), false);
    tuner.on_sample(1, sample(1, 1000, 0));
    let mut last = sample(2, 5000, 70);
    last.sending.retransmitted = 300;
    tuner.on_end(1, &last);
    tuner.on_close(second(2), 1);
    // One that nobody ever looked at.
    tuner.on_open_from(second(3), 2, client(0), false);
    tuner.on_end(2, &sample(3, 40, 7));
    tuner.on_close(second(3), 2);
    let moved = tuner.ledger(second(4))[&client(0)].total().moved;
    assert_eq!((moved.sent, moved.received, moved.sent_once()), (5040, 77, 4740));
}

#[test]
fn a_client_is_known_by_its_address_while_it_uses_one() {
    let mut tuner = tuner();
    let address = |tuner: &Tuner<u32>| tuner.clients().next().expect("it is known").1.address();
    tuner.on_open_from(second(0), 1, client(0), false);
    assert_eq!(address(&tuner), None);
    for _ in 0..2 {
        tuner.on_address(client(0), client(7));
        assert_eq!(address(&tuner), Some(client(7)));
    }
    tuner.on_address(client(0), client(8));
    assert_eq!(address(&tuner), None);
}

#[test]
fn a_connection_that_began_before_a_congestion_control_was_given_up_gives_it_up_too() {
    let mut tuner = tuner();
    let orders = |tuner: &mut Tuner<u32>, key| -> Vec<SizeChange> {
        let changes = tuner.on_open_from(second(0), key, client(0), false);
        changes.into_iter().filter(|change| matches!(change, SizeChange::Congestion(_))).collect()
    };
    assert_eq!(orders(&mut tuner, 1), []);
    let reno = Setting::Fixed(Algorithm::parse("reno").expect("a name"));
    for setting in [reno, Setting::Auto] {
        tuner.set_congestion(setting);
        // Whatever it was accepted with: by the time that the tuner hears of it, this holds.
        assert_eq!(orders(&mut tuner, 2), [SizeChange::Congestion(setting)]);
    }
}

#[test]
fn what_holds_for_one_connection_outlasts_what_is_set_for_all() {
    let mut tuner = tuner();
    let algorithm = |name| Setting::Fixed(Algorithm::parse(name).expect("a name"));
    let own = Own {
        send_buffer: Some(Setting::Fixed(16 * MIB)),
        congestion: Some(algorithm("reno")),
        ..Own::default()
    };
    let orders = tuner.on_open_with(second(0), 1, client(1), false, own);
    assert!(orders.contains(&SizeChange::SendBuffer(16 * MIB)), "{orders:?}");
    assert!(orders.contains(&SizeChange::Congestion(algorithm("reno"))), "{orders:?}");
    tuner.on_open_from(second(0), 2, client(2), false);
    // Another send buffer and congestion control for all: the second connection has them, the first one keeps its own.
    let orders = tuner.set_send_buffer(Setting::Fixed(8 * MIB));
    assert_eq!(orders, [(2, SizeChange::SendBuffer(8 * MIB))]);
    let orders = tuner.set_congestion(algorithm("cubic"));
    assert_eq!(orders, [(2, SizeChange::Congestion(algorithm("cubic")))]);
    // What it has none of its own of is as for all.
    let orders = tuner.set_receive_buffer(Setting::Fixed(32 * MIB));
    assert!(orders.iter().any(|(key, _)| *key == 1) && orders.iter().any(|(key, _)| *key == 2), "{orders:?}");
}
