//! What becomes of connections whose peers do not take what was sent to them, while memory is short.

use std::time::Duration;

use howdah_tune::budget::{Budget, HostMemory, MemoryUse, Pressure};
use howdah_tune::host::Host;
use howdah_tune::{PathState, Sample, Sending, Settings, Tuner};

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
    Tuner::new(Settings { budget: Budget::fixed(16 * MIB), ..Settings::automatic(host, memory) })
}

/// A peer: what waits for it, and how much it takes in a second.
#[derive(Clone, Copy)]
struct Peer {
    queued: u64,
    takes: u64,
}

/// Each second every connection is looked at, and the memory.
fn pass(tuner: &mut Tuner<u32>, peers: &[Peer], seconds: std::ops::Range<u64>) {
    for second in seconds {
        for (key, peer) in (0..).zip(peers) {
            let at = Duration::from_secs(second);
            let sending = Sending {
                sent: second * peer.takes,
                queued: peer.queued,
                buffer: 4 * MIB,
                ..Sending::default()
            };
            let path = PathState { rtt: Duration::from_millis(1), ..PathState::default() };
            tuner.on_sample(key, Sample { at, sending, path, ..Sample::default() });
        }
        let sending = peers.iter().map(|peer| peer.queued).sum();
        tuner.on_memory(Duration::from_secs(second), &MemoryUse { sending, ..MemoryUse::default() });
    }
}

fn opened(peers: &[Peer]) -> Tuner<u32> {
    let mut tuner = tuner();
    (0..).zip(peers).for_each(|(key, _)| {
        tuner.on_open(key, true);
    });
    tuner
}

#[test]
fn who_takes_its_replies_is_read_however_much_others_leave() {
    let peers = [
        Peer { queued: 3 * MIB, takes: 1000 * MIB },
        Peer { queued: 9 * MIB, takes: 0 },
        Peer { queued: 9 * MIB, takes: MIB },
    ];
    let mut tuner = opened(&peers);
    pass(&mut tuner, &peers, 0..3);
    assert!(tuner.pressure() >= Pressure::TakeBack);
    assert_eq!([0, 1, 2].map(|key| tuner.should_hold(key, false)), [false, true, true]);
}

#[test]
fn who_takes_next_to_nothing_is_cut_while_memory_is_short_and_the_slow_are_not() {
    let stuck = |mib| Peer { queued: mib * MIB, takes: 0 };
    // The last but one takes little of much; the last is slow, and nothing waits long for it.
    let peers = [
        stuck(4),
        stuck(5),
        stuck(3),
        stuck(2),
        Peer { queued: 4 * MIB, takes: 10_000 },
        Peer { queued: 128 << 10, takes: 20_000 },
    ];
    let mut tuner = opened(&peers);
    pass(&mut tuner, &peers, 0..5);
    assert_eq!(tuner.stuck(), [0; 0], "they have time");
    pass(&mut tuner, &peers, 5..8);
    let cut = tuner.stuck();
    assert_eq!(cut, [1, 4, 0], "the largest, until the rest fits");
    // While memory is not short, nobody is, however long.
    let few = &peers[2..];
    let mut tuner = opened(few);
    pass(&mut tuner, few, 0..60);
    assert_eq!(tuner.stuck(), [0; 0]);
}

#[test]
fn who_begins_anew_after_a_rest_has_time_though_the_rest_was_long() {
    let full = Peer { queued: 40 * MIB, takes: 0 };
    let mut tuner = opened(&[Peer { queued: 0, takes: 0 }]);
    pass(&mut tuner, &[Peer { queued: 0, takes: 0 }], 0..2);
    pass(&mut tuner, &[full], 60..64);
    assert!(tuner.pressure() >= Pressure::TakeBack);
    assert_eq!(tuner.stuck(), [0; 0], "nobody has waited for it but for three seconds");
    pass(&mut tuner, &[full], 64..68);
    assert_eq!(tuner.stuck(), [0]);
}
